/* What the pages of characters and of limbs share around what moves. */

export const at = ( id ) => document.getElementById( id );

export function css( name )
{
	return getComputedStyle( document.documentElement ).getPropertyValue( name ).trim();
}

export function say( text, bad = false )
{
	at( "message" ).textContent = text;
	at( "message" ).classList.toggle( "bad", bad );
	at( "message" ).hidden = text === "";
}

/* The buttons of playback. */
export function showPlay( playing, loop )
{
	at( "play-icon" ).setAttribute( "d", playing ? "M7 5h3.600v14H7zM13.400 5H17v14h-3.600z" : "M8 4.800v14.400L19.500 12z" );
	at( "play" ).setAttribute( "aria-label", playing ? "Pause" : "Play" );
	at( "loop" ).setAttribute( "aria-pressed", String( loop ) );
}

export const chartColours = () => ( { faint: css( "--faint" ), ink: css( "--ink" ), warn: css( "--warn" ) } );

/* What the lines of a chart are: [[title, colour, dashed], ..]. */
export function key( element, entries )
{
	const text = JSON.stringify( entries );
	if ( element.dataset.text === text )
		return;
	element.dataset.text = text;
	element.replaceChildren( ...entries.map( ( [title, line, dashed] ) =>
	{
		const span = Object.assign( document.createElement( "span" ), { textContent: title } );
		span.style.setProperty( "--line", line );
		span.classList.toggle( "dashed", dashed === true );
		return span;
	} ) );
}

/* Files dropped anywhere on the page. */
export function addDrop( take )
{
	addEventListener( "dragover", ( event ) =>
	{
		event.preventDefault();
		document.body.classList.add( "dropping" );
	} );
	addEventListener( "dragleave", ( event ) =>
	{
		if ( event.relatedTarget === null )
			document.body.classList.remove( "dropping" );
	} );
	addEventListener( "drop", ( event ) =>
	{
		event.preventDefault();
		document.body.classList.remove( "dropping" );
		take( [...event.dataTransfer.files] );
	} );
}
