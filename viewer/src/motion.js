/* Poses over time. They come sampled (by the tool's own curves, 120 times a second); at a sample they are
 * taken as they are, bit for bit, and between samples, where slow motion needs them, entry by entry from the
 * cubic through the neighbours. */

/* How far, in samples, a time may be from a sample and still count as it: rounding of n / rate * 120. */
const nearSample = 1e-6;

export class Motion
{
	/* poses: Float32Array (frames x boneCount x 12). truth: Nullable, Truth. */
	constructor( { name, trained, rate, poses, boneCount, truth = null } )
	{
		this.name = name;
		this.trained = trained;
		this.rate = rate;
		this.stride = 12 * boneCount;
		this.frames = poses.length / this.stride;
		this.duration = ( this.frames - 1 ) / rate;
		this.poses = poses;
		this.truth = truth;
		this.between = new Float32Array( this.stride );
	}

	sample( frame )
	{
		const f = Math.min( Math.max( frame, 0 ), this.frames - 1 );
		return this.poses.subarray( f * this.stride, ( f + 1 ) * this.stride );
	}

	/* (boneCount x 12) at a time in s, clamped to the motion; a view that holds until the next call. */
	pose( time )
	{
		const at = Math.min( Math.max( time, 0 ), this.duration ) * this.rate, near = Math.round( at );
		if ( Math.abs( at - near ) < nearSample )
			return this.sample( near );
		const f = Math.floor( at ), t = at - f;
		const [a, b, c, d] = [f - 1, f, f + 1, f + 2].map( ( i ) => this.sample( i ) );
		for ( let i = 0; i < this.stride; ++i )
		{
			const start = 0.5 * ( c[i] - a[i] ), end = 0.5 * ( d[i] - b[i] ), rise = c[i] - b[i];
			this.between[i] = b[i] + t * ( start + t * ( 3 * rise - 2 * start - end + t * ( start + end - 2 * rise ) ) );
		}
		return this.between;
	}
}

/* A motion that stands still in the bind pose. */
export function stillMotion( boneCount )
{
	const poses = new Float32Array( 2 * 12 * boneCount );
	for ( let i = 0; i < poses.length; ++i )
		poses[i] = i % 12 % 5 === 0 ? 1 : 0;
	return new Motion( { name: "bind pose", trained: false, rate: 0.25, poses, boneCount } );
}
