/* A limb over time: a motion of the truth, and the model's own under the same inputs and those of a hand.
 * Knows nothing of the page.
 *
 * The roll-out is always of the whole motion, from its first state, sample by sample as `limber predict` goes
 * through a table: what changes (a torque, the integrator) is worked out again at once. */
import { Integrator } from "./limber.js";

/* s of a pulse. */
const pulseTime = 0.1;
/* s, Hz of a motion without a recording. */
const freeTime = 10, freeRate = 100;

/* No inputs, from rest at positions. */
function freeMotion( { dofCount, inputCount }, positions )
{
	const samples = freeTime * freeRate + 1;
	return { name: "from where you put it", step: 1 / freeRate, samples, truth: null, positions,
		velocities: new Float64Array( dofCount ), inputs: new Float64Array( samples * inputCount ) };
}

export class LimbPlayer
{
	/* content: { runtime, model, name, tests: [{ name, motions }], slides, lengths (Nullable), absolute, unit, integrator,
	 * step }; a motion: { name, step, samples, positions and velocities (of the start), inputs, truth (positions) } */
	constructor( content )
	{
		const { model, runtime, tests } = content, { info } = model;
		Object.assign( this, content );
		const first = tests[0]?.motions[0]?.positions ?? new Float64Array( info.dofCount ).map( ( _, j ) => j === 0 ? -0.6 : 0.9 );
		this.free = freeMotion( info, first.slice() );
		this.tests = [...tests, { name: "free swing", motions: [this.free] }];
		this.recurrent = info.kind >= 3;
		this.speed = 1;
		this.loop = true;
		this.playing = true;
		this.time = 0;
		this.steady = new Float64Array( info.inputCount ); /* what the sliders add */
		this.memory = runtime.mark();
		this.ranges = this.inputRanges();
		this.motion = this.tests[0].motions[0];
		this.setIntegrator( content.integrator ?? Integrator.rk4, content.step ?? model.defaultDef().maxStep );
	}

	/* What each input goes up to in the motions, as a round number; 10 where nothing is known. */
	inputRanges()
	{
		const { inputCount } = this.model.info;
		return Array.from( { length: inputCount }, ( _, i ) =>
		{
			let most = 0;
			for ( const { motions } of this.tests )
				for ( const { inputs, samples } of motions )
					for ( let k = 0; k < samples; ++k )
						most = Math.max( most, Math.abs( inputs[k * inputCount + i] ) );
			if ( !( most > 0 ) )
				return 10;
			const power = Math.pow( 10, Math.floor( Math.log10( most ) ) );
			return [1, 2, 5, 10].find( ( m ) => m * power >= most * ( 1 - 1e-9 ) ) * power;
		} );
	}

	/* --- settings --- */

	choose( test, motion )
	{
		this.motion = this.tests[test].motions[motion];
		this.restart();
	}

	setIntegrator( integrator, maxStep )
	{
		this.runtime.release( this.memory );
		this.body = this.model.body( this.recurrent ? {} : { integrator, maxStep } );
		this.integrator = integrator;
		this.maxStep = maxStep;
		this.hand === undefined ? this.restart() : this.roll();
	}

	/* The free swing begins with joint j at angle. */
	place( j, angle )
	{
		this.free.positions[j] = angle;
		this.restart();
	}

	/* --- the hand --- */

	/* The sample from which what is done now acts. */
	get now() { return Math.min( Math.floor( this.time / this.motion.step + 1e-9 ), this.motion.samples - 1 ); }

	/* Adds to input i from sample from to sample to. */
	add( i, amount, from, to )
	{
		const m = this.model.info.inputCount;
		for ( let k = from; k < Math.min( to, this.motion.samples ); ++k )
			this.hand[k * m + i] += amount;
		this.firstTouch = Math.min( this.firstTouch, from );
		this.roll();
	}

	/* A steady input on top of the recorded one, from now on. */
	setSteady( i, value )
	{
		const change = value - this.steady[i];
		this.steady[i] = value;
		if ( change !== 0 )
			this.add( i, change, this.now, Infinity );
	}

	pulseOf( i ) { return this.ranges[i] / 2; }
	pulse( i ) { this.add( i, this.pulseOf( i ), this.now, this.now + Math.max( 1, Math.round( pulseTime / this.motion.step ) ) ); }

	/* As recorded again. */
	letGo()
	{
		this.steady.fill( 0 );
		this.clearHand();
		this.roll();
	}

	clearHand()
	{
		const m = this.steady.length;
		this.hand = new Float64Array( this.motion.samples * m ).map( ( _, at ) => this.steady[at % m] );
		this.firstTouch = this.steady.some( ( x ) => x !== 0 ) ? 0 : Infinity;
	}

	/* The truth went its way without the hand. */
	get touched() { return this.firstTouch <= this.now; }

	/* --- time --- */

	/* From the start; pulses are over, sliders act from the beginning. */
	restart()
	{
		this.time = 0;
		this.clearHand();
		this.roll();
	}

	get duration() { return ( this.motion.samples - 1 ) * this.motion.step; }

	seek( time ) { this.time = Math.min( Math.max( time, 0 ), this.duration ); }

	/* Real seconds went by; true when the motion began anew. */
	advance( seconds )
	{
		if ( !this.playing )
			return false;
		if ( this.time >= this.duration && this.loop )
		{
			this.restart();
			return true;
		}
		this.seek( this.time + this.speed * seconds );
		if ( this.time >= this.duration && !this.loop )
			this.playing = false;
		return false;
	}

	frame( sign )
	{
		this.playing = false;
		this.seek( ( Math.round( this.time / this.motion.step ) + sign ) * this.motion.step );
	}

	/* --- the roll-out --- */

	/* Inputs at sample k, the hand's included. */
	input( k, out )
	{
		const m = out.length;
		for ( let i = 0; i < m; ++i )
			out[i] = this.motion.inputs[k * m + i] + this.hand[k * m + i];
		return out;
	}

	roll()
	{
		const { body, motion } = this, { dofCount, inputCount, linearInput, hasTrust } = this.model.info, { samples, step } = motion;
		const u = new Float64Array( inputCount ), end = new Float64Array( inputCount );
		this.positions = new Float64Array( samples * dofCount ).fill( NaN );
		this.velocities = new Float64Array( samples * dofCount ).fill( NaN );
		this.trust = hasTrust ? new Float64Array( samples ).fill( NaN ) : null;
		this.divergedAt = Infinity;
		const keep = ( k ) =>
		{
			const state = body.state();
			this.positions.set( state.positions, k * dofCount );
			this.velocities.set( state.velocities, k * dofCount );
		};
		const began = performance.now();
		body.start( motion.positions.subarray( 0, dofCount ), motion.velocities );
		keep( 0 );
		for ( let k = 0; k + 1 < samples; ++k )
		{
			this.input( k, u );
			// Differences of the times, as a table has them: their last bits are not those of the step.
			const well = body.step( u, linearInput ? this.input( k + 1, end ) : null, ( k + 1 ) * step - k * step );
			if ( hasTrust )
				this.trust[k] = this.trust[k + 1] = body.trust();
			if ( !well )
			{
				this.divergedAt = k + 1;
				break;
			}
			keep( k + 1 );
		}
		this.stepTime = ( performance.now() - began ) / Math.max( samples - 1, 1 );
	}

	/* Between the samples, for the picture alone: a straight line. */
	between( values )
	{
		const n = this.model.info.dofCount, at = this.time / this.motion.step, k = Math.min( Math.floor( at ), this.motion.samples - 1 );
		const next = Math.min( k + 1, this.motion.samples - 1 ), share = at - k;
		return Array.from( { length: n }, ( _, j ) => values[k * n + j] + share * ( values[next * n + j] - values[k * n + j] ) );
	}

	/* Root mean square difference to the truth up to now, of hinges in degrees; NaN where nothing is comparable. */
	error()
	{
		const { truth } = this.motion, n = this.model.info.dofCount;
		if ( truth === null || this.touched )
			return NaN;
		let sum = 0, count = 0;
		for ( let k = 0; k <= this.now; ++k )
			for ( let j = 0; j < n; ++j )
				if ( !this.slides[j] )
				{
					sum += ( this.positions[k * n + j] - truth[k * n + j] ) ** 2;
					count += 1;
				}
		return 180 / Math.PI * Math.sqrt( sum / count );
	}
}
