/* What engines do: springs that are pushed forward once per frame (semi-implicit Euler), here with the
 * stiffness and damping of the model's own springs. Each frame, however long,
 *     v += dt (k (y - x) + c (y' - v)),   x += dt v.
 * That is exact for no frame rate, differs from one to the next, and flies apart once the frame is too long
 * for the stiffness. It is shown to be compared with; Limber's springs do not work so. */

/* A spring that has flown further than this from its target (m) is held there and counted. */
const leash = 0.5;

export class PerFrameSprings
{
	/* rates: (vertexCount x 2) k in 1/s^2 and c in 1/s; softness (vertexCount). */
	constructor( rates, softness )
	{
		this.rates = rates;
		this.softness = softness;
		this.x = new Float64Array( 3 * softness.length );
		this.v = new Float64Array( 3 * softness.length );
		this.target = new Float64Array( 3 * softness.length );
		this.out = new Float32Array( 3 * softness.length );
		this.reset();
	}

	reset()
	{
		this.asleep = true;
		this.unstable = 0; /* vertices on the leash in the last step */
	}

	/* rest: (vertexCount x 3) m, model space; root: where model space is in the world. Returns out, model space. */
	step( rest, dt, root, { gain, stiffness, damping } )
	{
		const { x, v, target, out, softness, rates } = this;
		this.unstable = 0;
		for ( let n = 0; n < softness.length; ++n )
		{
			if ( softness[n] === 0 )
			{
				for ( let i = 3 * n; i < 3 * n + 3; ++i )
					out[i] = rest[i];
				continue;
			}
			const k = rates[2 * n] * stiffness, c = rates[2 * n + 1] * damping;
			let far = false;
			for ( let axis = 0; axis < 3; ++axis )
			{
				const i = 3 * n + axis, y = rest[i] + root[axis];
				if ( this.asleep )
				{
					x[i] = target[i] = y;
					v[i] = 0;
				}
				else if ( dt > 0 )
				{
					v[i] += dt * ( k * ( y - x[i] ) + c * ( ( y - target[i] ) / dt - v[i] ) );
					x[i] += dt * v[i];
					target[i] = y;
					if ( !( Math.abs( x[i] - y ) <= leash ) )
					{
						far = true;
						x[i] = y + ( x[i] < y ? -leash : leash );
						v[i] = 0;
					}
				}
				out[i] = rest[i] + gain * softness[n] * ( x[i] - y );
			}
			if ( far )
				this.unstable += 1;
		}
		this.asleep = false;
		return out;
	}
}

/* Rates for every vertex: the model's springs per vertex, or where it has none its slowest mode's. */
export function springRates( tensors, vertexCount )
{
	const own = tensors.get( "springs.vertex" );
	if ( own !== null )
		return own;
	const modes = tensors.get( "modes.fitted" ) ?? tensors.get( "modes.unfitted" ) ?? [400, 4];
	return Float64Array.from( { length: 2 * vertexCount }, ( _, i ) => modes[i % 2] );
}
