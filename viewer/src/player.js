/* Time, and the bodies that live in it: what each column shows at this moment. Knows nothing of the page.
 *
 * A tick is one displayed frame: the motion goes on by speed / rate seconds, and every body makes one step of
 * that length. So the display rate is the step, as in a game. */
import { Layer } from "./limber.js";
import { PerFrameSprings, springRates } from "./per_frame.js";
import { stillMotion } from "./motion.js";

export const columnNames = ["skinning", "network", "dynamics", "perFrame", "truth"];

/* How fast a grabbed body follows the hand and comes home, 1/s: critically damped, so without overshoot. */
const handRate = 18;
/* s that springs go on swinging after the last touch while the motion is paused. */
const afterglow = 4;
/* Vertices that tissue moves at least this much are judged: the default of the project's evaluate.softness. */
const judgedSoftness = 0.5;

export class Player
{
	/* content: { runtime, model, tensors, motions, tissue (Nullable), joints (Nullable), interpolation,
	 * makeTwin: another runtime with the same model, as { runtime, model } } */
	constructor( content )
	{
		const { model, tensors } = content;
		Object.assign( this, content );
		this.vertexCount = model.info.vertexCount;
		this.softness = tensors.get( "softness" );
		this.rates = springRates( tensors, this.vertexCount );
		this.motions = [...content.motions, stillMotion( model.info.boneCount )];
		this.shown = { skinning: false, network: false, dynamics: true, perFrame: false, truth: false };
		this.rate = 60;
		this.speed = 1;
		this.loop = true;
		this.playing = true;
		this.direction = { gain: 1, stiffness: 1, damping: 1 };
		this.memory = content.runtime.mark();
		this.layers = this.layersOf( model.info );
		this.layer = this.layers.at( -1 );
		this.perFrame = new PerFrameSprings( this.rates, this.softness );
		this.truthSkin = new Float32Array( 3 * this.vertexCount );
		this.nodes = content.tissue !== null ? new Float32Array( 3 * content.tissue.nodeCount ) : null;
		this.shapes = {}; /* of each column: { positions, normals (null: not known) } */
		this.hand = { place: [0, 0, 0], velocity: [0, 0, 0], goal: [0, 0, 0], held: false };
		this.shaking = 0;
		this.stepTimes = [];
		this.makeBodies();
		this.choose( 0 );
	}

	layersOf( info )
	{
		return [Layer.none, info.hasVertexSprings && Layer.vertex, info.hasModes && Layer.modalUnfitted,
			info.hasFittedModes && Layer.modal, info.hasHybrid && Layer.hybrid].filter( Number.isInteger );
	}

	makeBodies()
	{
		const { model, runtime, interpolation } = this, network = model.info.hasNetwork;
		runtime.release( this.memory );
		const still = ( on ) => model.body( { layer: Layer.none, network: on, interpolation } );
		this.bodies = { skinning: still( false ), network: network ? still( true ) : null,
			dynamics: model.body( { layer: this.layer, network, interpolation } ) };
		this.bodies.dynamics.direct( this.direction );
	}

	/* --- settings --- */

	choose( index )
	{
		this.motion = this.motions[index];
		if ( this.motion.truth === null )
			this.shown.truth = false;
		this.restart();
	}

	setLayer( layer )
	{
		this.layer = layer;
		this.makeBodies();
		this.seek( this.time );
	}

	direct( direction )
	{
		Object.assign( this.direction, direction );
		this.bodies.dynamics.direct( this.direction );
		this.touch();
	}

	available( column )
	{
		return column === "network" ? this.model.info.hasNetwork
			: column === "truth" ? this.motion.truth !== null : true;
	}

	/* --- time --- */

	get dt() { return this.speed / this.rate; }

	/* Back to the start, at rest. */
	restart()
	{
		this.start = 0;
		this.ticks = 0;
		this.still = Infinity; /* s since the last touch */
		this.reset();
		this.advance( this.dt );
	}

	reset()
	{
		this.bodies.skinning.reset();
		this.bodies.network?.reset();
		this.bodies.dynamics.reset();
		this.perFrame.reset();
		Object.assign( this.hand, { place: [0, 0, 0], velocity: [0, 0, 0], goal: [0, 0, 0] } );
		this.shaking = 0;
	}

	get time() { return Math.min( this.start + this.ticks * this.dt, this.motion.duration ); }

	setPace( { rate = this.rate, speed = this.speed } )
	{
		this.start = this.time;
		this.ticks = 0;
		this.rate = rate;
		this.speed = speed;
	}

	/* Goes to a time. Springs remember, so they are led there from up to a second before; seen() is called after
	 * each of those steps. */
	seek( time, seen = () => {} )
	{
		const lead = Math.min( 60, Math.round( Math.max( time, 0 ) * 60 ) );
		this.reset();
		for ( let i = lead; i >= 0; --i )
		{
			this.start = Math.max( time - i / 60, 0 );
			this.ticks = 0;
			this.advance( 1 / 60 );
			seen();
		}
	}

	/* One frame on; true when the motion began anew. */
	tick()
	{
		if ( this.playing && this.time >= this.motion.duration )
		{
			if ( this.loop )
			{
				this.start = this.ticks = 0;
				this.reset();
				this.advance( this.dt );
				return true;
			}
			this.playing = false;
		}
		if ( this.playing )
			this.ticks += 1;
		this.advance( this.dt );
		this.still += this.dt;
		return false;
	}

	/* One frame with the motion paused: on (1) or back (-1). */
	frame( sign )
	{
		this.playing = false;
		if ( sign < 0 )
			return this.seek( Math.max( this.time - this.dt, 0 ) );
		this.start = Math.min( this.time + this.dt, this.motion.duration );
		this.ticks = 0;
		this.advance( this.dt );
	}

	/* Whether anything moves: while paused, springs swing on after a touch. */
	get alive() { return this.playing || this.hand.held || this.shaking > 0 || this.still < afterglow; }

	touch() { this.still = 0; }

	/* --- the hand --- */

	grab( goal )
	{
		this.hand.held = true;
		this.hand.goal = goal;
		this.touch();
	}

	letGo()
	{
		this.hand.held = false;
		this.hand.goal = [0, 0, 0];
		this.touch();
	}

	/* A second of shaking, for those without a mouse. */
	shake()
	{
		this.shaking = 1;
		this.touch();
	}

	push( velocity )
	{
		this.bodies.dynamics.push( velocity );
		this.touch();
	}

	/* Exact for a goal at rest: (p + r t) e^(-w t). */
	moveHand( dt )
	{
		const { hand } = this, decay = Math.exp( -handRate * dt ), goal = [...hand.goal];
		if ( this.shaking > 0 )
		{
			const t = 1 - this.shaking, swell = Math.sin( Math.PI * t );
			goal[0] += 0.07 * swell * Math.sin( 2 * Math.PI * 4 * t );
			goal[1] += 0.10 * swell * Math.sin( 2 * Math.PI * 3 * t );
			this.shaking = Math.max( this.shaking - dt, 0 );
			this.touch();
		}
		for ( let i = 0; i < 3; ++i )
		{
			const away = hand.place[i] - goal[i], rise = hand.velocity[i] + handRate * away;
			hand.place[i] = goal[i] + ( away + rise * dt ) * decay;
			hand.velocity[i] = ( hand.velocity[i] - handRate * rise * dt ) * decay;
		}
	}

	get displaced() { return Math.hypot( ...this.hand.place ) > 1e-4; }

	/* --- a step --- */

	/* The shape that springs pull to. */
	get rest() { return this.shapes[this.model.info.hasNetwork ? "network" : "skinning"]; }

	advance( dt )
	{
		const pose = this.motion.pose( this.time ), root = this.hand.place, { bodies, shown, shapes } = this;
		this.moveHand( dt );
		this.bones = pose;
		const keep = ( column, { positions, normals } ) =>
		{
			shapes[column] ??= { positions: new Float32Array( 3 * this.vertexCount ), normals: null };
			shapes[column].positions.set( positions );
			if ( normals !== null )
				( shapes[column].normals ??= new Float32Array( 3 * this.vertexCount ) ).set( normals );
		};
		if ( shown.skinning || shown.truth || bodies.network === null )
			keep( "skinning", bodies.skinning.step( pose, dt, root ) );
		if ( bodies.network !== null )
			keep( "network", bodies.network.step( pose, dt, root ) );
		const before = performance.now(), shape = bodies.dynamics.step( pose, dt, root );
		this.stepTimes.push( performance.now() - before );
		if ( this.stepTimes.length > 120 )
			this.stepTimes.shift();
		keep( "dynamics", shape );
		if ( shown.perFrame )
			keep( "perFrame", { positions: this.perFrame.step( this.rest.positions, dt, root, this.direction ), normals: null } );
		else
			this.perFrame.reset();
		if ( shown.truth )
		{
			this.motion.truth.nodes( this.time, this.nodes );
			this.tissue.skin( this.nodes, shapes.skinning.positions, this.truthSkin );
			keep( "truth", { positions: this.truthSkin, normals: null } );
		}
	}

	/* Median of the last steps of the body with springs, ms. */
	get stepTime()
	{
		return [...this.stepTimes].sort( ( a, b ) => a - b )[this.stepTimes.length >> 1] ?? 0;
	}

	/* The soft vertex that swings most in the motion's first seconds: one that is worth looking at. */
	liveliest( seconds = 1.5 )
	{
		const most = new Float32Array( this.vertexCount );
		this.restart();
		for ( let t = 0; t < seconds; t += 1 / 30 )
		{
			this.start = t;
			this.advance( 1 / 30 );
			const a = this.shapes.dynamics.positions, b = this.rest.positions;
			for ( let v = 0; v < this.vertexCount; ++v )
				most[v] = Math.max( most[v], this.softness[v] < 0.95 ? 0 :
					Math.hypot( a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2] ) );
		}
		this.restart();
		return most.indexOf( most.reduce( ( x, y ) => Math.max( x, y ), 0 ) );
	}

	/* RMS distance of a column to the simulation over the skin that tissue moves, mm, as metrics.json has it; NaN
	 * when there is nothing to compare. */
	error( column )
	{
		if ( !this.shown.truth || this.displaced || column === "truth" )
			return NaN;
		const a = this.shapes[column].positions, b = this.shapes.truth.positions;
		let sum = 0, count = 0;
		for ( let v = 0; v < this.vertexCount; ++v )
		{
			if ( this.softness[v] < judgedSoftness )
				continue;
			const dx = a[3 * v] - b[3 * v], dy = a[3 * v + 1] - b[3 * v + 1], dz = a[3 * v + 2] - b[3 * v + 2];
			sum += dx * dx + dy * dy + dz * dz;
			count += 1;
		}
		return 1e3 * Math.sqrt( sum / Math.max( count, 1 ) );
	}

	/* Displacement of a vertex from the still shape, mm (x, y, z): of the columns that are there. */
	displacement( vertex )
	{
		const rest = this.rest.positions, out = {};
		for ( const column of ["dynamics", "perFrame", "truth"] )
			if ( column === "dynamics" || this.shown[column] )
				out[column] = [0, 1, 2].map( ( i ) =>
					1e3 * ( this.shapes[column].positions[3 * vertex + i] - rest[3 * vertex + i] ) );
		return out;
	}

	/* --- frame rates compared --- */

	/* The vertex's displacement over the motion's first seconds, stepped at each rate by Limber and per frame, in
	 * a runtime of its own, so that what plays goes on. axis 0 to 2, or 3: its length. Returns
	 * [{ rate, times, dynamics, perFrame, unstable }], in s and mm; breathe( share ) lets the page live. */
	async compareRates( vertex, { rates, seconds, axis }, breathe )
	{
		this.twin ??= await this.makeTwin();
		const { runtime } = this.twin, memory = runtime.mark(), out = [];
		for ( const rate of rates )
		{
			const curve = { rate, times: [], dynamics: [], perFrame: [], unstable: false };
			const steps = this.stepAtRate( rate, Math.min( seconds, this.motion.duration ) );
			let count = 0;
			for ( const { time, end, rest, moved, pushed, unstable } of steps )
			{
				const of = ( shape ) => axis < 3 ? 1e3 * ( shape[3 * vertex + axis] - rest[3 * vertex + axis] )
					: 1e3 * Math.hypot( ...[0, 1, 2].map( ( i ) => shape[3 * vertex + i] - rest[3 * vertex + i] ) );
				curve.times.push( time );
				curve.dynamics.push( of( moved ) );
				curve.perFrame.push( of( pushed ) );
				curve.unstable ||= unstable;
				if ( ++count % 15 === 0 )
					await breathe( ( out.length + time / end ) / rates.length );
			}
			out.push( curve );
		}
		runtime.release( memory );
		return out;
	}

	*stepAtRate( rate, end )
	{
		const { model } = this.twin, { interpolation, motion } = this, network = model.info.hasNetwork;
		const still = model.body( { layer: Layer.none, network, interpolation, normals: false } );
		const dynamics = model.body( { layer: this.layer, network, interpolation, normals: false } );
		const perFrame = new PerFrameSprings( this.rates, this.softness );
		dynamics.direct( this.direction );
		for ( let n = 0; n / rate <= end + 1e-9; ++n )
		{
			const pose = motion.pose( n / rate );
			const moved = dynamics.step( pose, 1 / rate ).positions;
			const rest = still.step( pose, 1 / rate ).positions;
			const pushed = perFrame.step( rest, 1 / rate, [0, 0, 0], this.direction );
			yield { time: n / rate, end, rest, moved, pushed, unstable: perFrame.unstable > 0 };
		}
	}
}
