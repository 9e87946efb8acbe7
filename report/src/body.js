/* The body in colours: triangles from far to near on a canvas, turned by dragging or by the arrow keys. */
import { make } from "./dom.js";
import { style } from "./chart.js";

/* Viridis (van der Walt and Smith), which stays in order in grey. */
const stops = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137],
	[53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];

function colour( share )
{
	const at = Math.min( Math.max( share, 0 ), 1 ) * ( stops.length - 1 );
	const low = Math.min( Math.floor( at ), stops.length - 2 ), part = at - low;
	return stops[low].map( ( value, i ) => value + part * ( stops[low + 1][i] - value ) );
}

export const gradient = `linear-gradient(to right, ${stops.map( ( s ) => `rgb(${s})` ).join( ", " )})`;

function parse( hex )
{
	return [1, 3, 5].map( ( i ) => parseInt( hex.slice( i, i + 2 ), 16 ) );
}

/* values: per vertex; null is not painted. */
export class Body
{
	constructor( parent, label, { positions_m: positions, triangles }, yaw )
	{
		this.positions = positions;
		this.triangles = triangles;
		this.yaw = yaw;
		this.pitch = 0;
		this.shares = null;
		this.canvas = make( "canvas", { role: "img", tabIndex: 0, "aria-label": label } );
		parent.append( this.canvas );
		const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
		positions.forEach( ( value, i ) =>
		{
			low[i % 3] = Math.min( low[i % 3], value );
			high[i % 3] = Math.max( high[i % 3], value );
		} );
		this.centre = low.map( ( value, i ) => 0.5 * ( value + high[i] ) );
		this.extent = low.map( ( value, i ) => high[i] - value );
		this.canvas.addEventListener( "pointermove", ( event ) =>
		{
			if ( event.buttons !== 1 )
				return;
			this.turn( 0.01 * event.movementX, 0.01 * event.movementY );
		} );
		this.canvas.addEventListener( "pointerdown", ( event ) => this.canvas.setPointerCapture( event.pointerId ) );
		this.canvas.addEventListener( "keydown", ( event ) =>
		{
			const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
			if ( step === undefined )
				return;
			event.preventDefault();
			this.turn( ...step );
		} );
		new ResizeObserver( () => this.draw() ).observe( this.canvas );
	}

	turn( yaw, pitch )
	{
		this.yaw += yaw;
		this.pitch = Math.min( Math.max( this.pitch + pitch, -1.5 ), 1.5 );
		this.draw();
	}

	/* shares: of the scale, 0 to 1; null is not painted. */
	paint( shares )
	{
		this.shares = shares;
		this.draw();
	}

	/* Every vertex on the canvas: x, y, and depth towards the eye. */
	project( width, height )
	{
		const { positions, centre, extent } = this;
		const sy = Math.sin( this.yaw ), cy = Math.cos( this.yaw ), sp = Math.sin( this.pitch ), cp = Math.cos( this.pitch );
		const across = Math.abs( cy ) * extent[0] + Math.abs( sy ) * extent[2];
		const scale = 0.92 * Math.min( width / Math.max( across, 1e-9 ), height / Math.max( extent[1], 1e-9 ) );
		const out = new Float64Array( positions.length );
		for ( let i = 0; i < positions.length; i += 3 )
		{
			const x = positions[i] - centre[0], y = positions[i + 1] - centre[1], z = positions[i + 2] - centre[2];
			const forward = cy * z - sy * x;
			out[i] = 0.5 * width + scale * ( cy * x + sy * z );
			out[i + 1] = 0.5 * height - scale * ( cp * y - sp * forward );
			out[i + 2] = scale * ( sp * y + cp * forward );
		}
		return out;
	}

	draw()
	{
		const { canvas, triangles, shares } = this;
		const ratio = Math.max( window.devicePixelRatio || 1, 2 );
		const width = Math.round( canvas.clientWidth * ratio ), height = Math.round( canvas.clientHeight * ratio );
		if ( width === 0 || height === 0 || shares === null )
			return;
		if ( canvas.width !== width || canvas.height !== height )
			Object.assign( canvas, { width, height } );
		const context = canvas.getContext( "2d" ), p = this.project( width, height ), plain = parse( style( "--skin" ) );
		context.clearRect( 0, 0, width, height );
		context.lineJoin = "round";
		const count = triangles.length / 3, depth = new Float64Array( count ), order = new Uint32Array( count );
		let facing = 0;
		for ( let t = 0; t < count; ++t )
		{
			const a = 3 * triangles[3 * t], b = 3 * triangles[3 * t + 1], c = 3 * triangles[3 * t + 2];
			const turn = ( p[b] - p[a] ) * ( p[c + 1] - p[a + 1] ) - ( p[c] - p[a] ) * ( p[b + 1] - p[a + 1] );
			if ( turn >= 0 )
				continue;
			depth[t] = p[a + 2] + p[b + 2] + p[c + 2];
			order[facing++] = t;
		}
		for ( const t of order.subarray( 0, facing ).sort( ( s, u ) => depth[s] - depth[u] ) )
		{
			const corners = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
			const [a, b, c] = corners.map( ( corner ) => 3 * corner );
			const e = [0, 1, 2].map( ( i ) => p[b + i] - p[a + i] ), f = [0, 1, 2].map( ( i ) => p[c + i] - p[a + i] );
			const n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
			const light = 0.62 + 0.38 * Math.abs( n[2] ) / Math.max( Math.hypot( ...n ), 1e-12 );
			const values = corners.map( ( corner ) => shares[corner] ).filter( ( value ) => value !== null );
			const rgb = values.length < 3 ? plain : colour( values.reduce( ( sum, value ) => sum + value, 0 ) / 3 );
			context.fillStyle = context.strokeStyle = `rgb(${rgb.map( ( value ) => Math.round( light * value ) )})`;
			context.beginPath();
			context.moveTo( p[a], p[a + 1] );
			context.lineTo( p[b], p[b + 1] );
			context.lineTo( p[c], p[c + 1] );
			context.closePath();
			context.fill();
			context.stroke(); /* hides the seams between neighbours */
		}
	}
}
