/* Small helpers for making the page. Text from the data only ever becomes text, never markup. */

export function make( tag, attributes = {}, ...children )
{
	const element = document.createElement( tag );
	for ( const [key, value] of Object.entries( attributes ) )
		if ( key in element && key !== "list" && typeof value !== "string" )
			element[key] = value;
		else if ( value !== undefined )
			element.setAttribute( key, value );
	element.append( ...children.filter( ( child ) => child !== null && child !== undefined ) );
	return element;
}

/* A section with a heading and a sentence or two. */
export function section( parent, id, title, ...sentences )
{
	const element = make( "section", { id }, make( "h2", {}, title ) );
	for ( const sentence of sentences )
		element.append( make( "p", { class: "note" }, sentence ) );
	parent.append( element );
	return element;
}

/* options: [value, text]. */
export function choose( id, label, options, change )
{
	const select = make( "select", { id } );
	for ( const [value, text] of options )
		select.append( make( "option", { value }, text ) );
	select.addEventListener( "change", () => change( select.value ) );
	return make( "label", {}, label, select );
}

/* About three significant digits below a thousand, whole numbers as they are. */
export function format( value )
{
	if ( typeof value !== "number" )
		return String( value );
	const size = Math.abs( value );
	if ( Number.isInteger( value ) )
		return size < 1e7 ? String( value ) : value.toExponential( 2 );
	if ( size !== 0 && ( size < 1e-4 || size >= 1e6 ) )
		return value.toExponential( 2 );
	return value.toFixed( size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.01 ? 3 : 5 );
}

/* For axes that span decades. */
export function decades( value )
{
	return value !== 0 && ( Math.abs( value ) < 1e-3 || Math.abs( value ) >= 1e5 ) ? value.toExponential( 0 )
		: String( Number( value.toPrecision( 3 ) ) );
}

/* Marks an element as a number of metrics.json: path is its place there, the value is kept whole. */
export function mark( element, path, value )
{
	element.dataset.path = JSON.stringify( path );
	element.dataset.value = JSON.stringify( value );
	element.title = String( value );
	return element;
}

/* A table's cell for a number of metrics.json, or a dash where there is none. */
export function cell( metrics, path )
{
	let value = metrics;
	for ( const key of path )
		value = value?.[key];
	if ( value === undefined )
		return make( "td", { class: "none" }, "–" );
	return mark( make( "td", {}, format( value ) ), path, value );
}
