/* Small plots on a canvas: lines over time, with an axis in mm. */

function steps( low, high, most )
{
	const rough = ( high - low ) / most, power = Math.pow( 10, Math.floor( Math.log10( rough ) ) );
	const step = [1, 2, 5, 10].find( ( m ) => m * power >= rough ) * power, out = [];
	for ( let x = Math.ceil( low / step ) * step; x <= high + 1e-9 * step; x += step )
		out.push( Math.abs( x ) < 1e-9 * step ? 0 : x );
	return out;
}

/* lines: [{ times, values, colour, dash, width }]; range: [from, to] s; limit: mm, or undefined: from the data. */
export function drawChart( canvas, { lines, range, limit, colours, title = "", note = "" } )
{
	const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	if ( width === 0 || height === 0 )
		return;
	canvas.width = Math.round( width * ratio );
	canvas.height = Math.round( height * ratio );
	const context = canvas.getContext( "2d" ), left = 34, right = 6, top = title === "" ? 8 : 22, bottom = 18;
	context.scale( ratio, ratio );
	context.font = "11px system-ui, sans-serif";
	const numbers = lines.flatMap( ( { values } ) => values ).filter( Number.isFinite );
	const most = limit ?? Math.max( ...numbers.map( Math.abs ), 0.5 ), signed = numbers.some( ( x ) => x < 0 );
	const low = signed ? -1.08 * most : 0, high = 1.08 * most, [from, to] = range;
	const x = ( t ) => left + ( t - from ) / Math.max( to - from, 1e-9 ) * ( width - left - right );
	const y = ( v ) => height - bottom - ( v - low ) / ( high - low ) * ( height - top - bottom );
	context.fillStyle = context.strokeStyle = colours.faint;
	context.lineWidth = 1;
	context.textAlign = "right";
	context.textBaseline = "middle";
	for ( const value of steps( low, high, 4 ) )
	{
		context.globalAlpha = value === 0 ? 0.9 : 0.28;
		context.beginPath();
		context.moveTo( left, Math.round( y( value ) ) + 0.5 );
		context.lineTo( width - right, Math.round( y( value ) ) + 0.5 );
		context.stroke();
		context.globalAlpha = 1;
		context.fillText( String( +value.toPrecision( 3 ) ), left - 5, y( value ) );
	}
	context.textBaseline = "alphabetic";
	context.textAlign = "center";
	for ( const t of steps( from, to, 4 ) )
		if ( x( t ) > left + 8 && x( t ) < width - 12 )
			context.fillText( `${+t.toFixed( 2 )} s`, x( t ), height - 5 );
	context.textAlign = "left";
	if ( title !== "" )
	{
		context.fillStyle = colours.ink;
		context.fillText( title, left, 12 );
		context.fillStyle = colours.warn;
		context.textAlign = "right";
		context.fillText( note, width - right, 12 );
	}
	context.save();
	context.beginPath();
	context.rect( left, top - 2, width - left - right, height - top - bottom + 4 );
	context.clip();
	for ( const { times, values, colour, dash = [], width: thick = 1.6 } of lines )
	{
		context.strokeStyle = colour;
		context.lineWidth = thick;
		context.lineJoin = "round";
		context.setLineDash( dash );
		context.beginPath();
		times.forEach( ( t, i ) => context[i === 0 || t < times[i - 1] ? "moveTo" : "lineTo"]( x( t ), y( values[i] ) ) );
		context.stroke();
	}
	context.restore();
}
