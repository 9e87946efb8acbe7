/* Whatever else metrics.json holds, as it is. */
import { format, make, mark, section } from "./dom.js";

/* A row for each number below value, which is metrics.json at path. */
export function rows( body, value, path )
{
	if ( value !== null && typeof value === "object" )
	{
		for ( const key of Object.keys( value ) )
			rows( body, value[key], [...path, Array.isArray( value ) ? Number( key ) : key] );
		return;
	}
	const number = typeof value === "number";
	body.append( make( "tr", {}, make( "th", { scope: "row" }, path.join( " . " ) ),
		mark( make( "td", {}, number ? format( value ) : String( value ) ), path, value ) ) );
}

export function showRest( page, metrics, shown )
{
	const keys = Object.keys( metrics ).filter( ( key ) => !shown.includes( key ) );
	const place = section( page, "rest", "All other numbers",
		"The rest of metrics.json. Point at a number to see it whole." );
	for ( const key of keys )
	{
		const body = make( "tbody" );
		rows( body, metrics[key], [key] );
		if ( body.childElementCount > 0 )
			place.append( make( "details", {}, make( "summary", {}, key ),
				make( "div", { class: "scroll" }, make( "table", {}, body ) ) ) );
	}
}
