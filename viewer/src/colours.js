/* Colours of numbers: the same stops as the contact sheets' (src/evaluate/sheet.c), light to dark. */

const heat = [[232, 226, 214], [246, 206, 122], [236, 138, 62], [204, 62, 58], [132, 22, 78], [58, 10, 62]];
const sides = [[38, 84, 158], [122, 164, 214], [232, 226, 214], [236, 160, 96], [176, 62, 30]];
export const clay = [204, 189, 168];

const size = 256;

function linear( c )
{
	const x = c / 255;
	return x <= 0.04045 ? x / 12.92 : Math.pow( ( x + 0.055 ) / 1.055, 2.4 );
}

function table( stops )
{
	const out = new Float32Array( 3 * size );
	for ( let i = 0; i < size; ++i )
	{
		const at = i / ( size - 1 ) * ( stops.length - 1 ), k = Math.min( Math.floor( at ), stops.length - 2 );
		for ( let c = 0; c < 3; ++c )
			out[3 * i + c] = linear( stops[k][c] + ( at - k ) * ( stops[k + 1][c] - stops[k][c] ) );
	}
	return out;
}

export const ramps = { heat: table( heat ), sides: table( sides ) };
export const plain = clay.map( linear );

const css = ( stops ) => `linear-gradient(to right, ${stops.map( ( s ) => `rgb(${s})` ).join( ", " )})`;
export const gradients = { heat: css( heat ), sides: css( sides ) };

/* Writes the colour of a share in [0, 1] into out at vertex n. */
export function paint( ramp, share, out, n )
{
	const i = 3 * Math.round( Math.min( Math.max( Number.isNaN( share ) ? 1 : share, 0 ), 1 ) * ( size - 1 ) );
	out[3 * n] = ramp[i];
	out[3 * n + 1] = ramp[i + 1];
	out[3 * n + 2] = ramp[i + 2];
}

/* The number of the row 1, 2, 5, 10, ... that is not below x. */
export function roundUp( x )
{
	if ( !( x > 0 ) )
		return 1;
	const power = Math.pow( 10, Math.floor( Math.log10( x ) ) );
	return [1, 2, 5, 10].find( ( m ) => m * power >= x * 0.9999 ) * power;
}
