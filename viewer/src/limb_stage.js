/* The picture of a limb: segments in one plane, x to the right, y up. A hinge turns what follows against the
 * segment before it (or, absolute, against the world); a slide moves what follows along that segment. */

/* s of the trail that the hand leaves. */
const trailTime = 0.6;

export class LimbStage
{
	constructor( canvas, { onPlace } )
	{
		this.canvas = canvas;
		this.onPlace = onPlace;
		this.held = null;
		canvas.addEventListener( "pointerdown", ( event ) => this.grab( event ) );
		canvas.addEventListener( "pointermove", ( event ) => this.drag( event ) );
		for ( const kind of ["pointerup", "pointercancel"] )
			canvas.addEventListener( kind, () => this.letGo() );
	}

	show( player )
	{
		this.player = player;
		const { dofCount } = player.model.info;
		this.lengths = player.lengths ?? Array.from( { length: dofCount }, ( _, j ) => player.slides[j] ? 0 : 1 / dofCount );
		let slide = 0;
		for ( const { motions } of player.tests )
			for ( const { truth } of motions )
				if ( truth !== null )
					truth.forEach( ( x, at ) => { slide = Math.max( slide, player.slides[at % dofCount] ? Math.abs( x ) : 0 ); } );
		this.reach = 1.08 * ( this.lengths.reduce( ( sum, x ) => sum + x, 0 ) + slide ) || 1;
	}

	/* Places of the joints and of the end, m: (dofCount + 1) of [x, y], with the direction in which each goes on. */
	joints( q )
	{
		const { slides, absolute } = this.player, out = [{ place: [0, 0], angle: 0 }];
		q.forEach( ( x, j ) =>
		{
			const { place, angle } = out.at( -1 ), turned = slides[j] ? angle : absolute ? x : angle + x;
			const length = slides[j] ? x : this.lengths[j];
			out.push( { place: [place[0] + length * Math.cos( turned ), place[1] + length * Math.sin( turned )], angle: turned } );
		} );
		return out;
	}

	get scale() { return Math.min( this.canvas.clientWidth, this.canvas.clientHeight - 90 ) / ( 2 * this.reach ); }
	pixel( [x, y] )
	{
		return [this.canvas.clientWidth / 2 + this.scale * x, ( this.canvas.clientHeight + 40 ) / 2 - this.scale * y];
	}

	draw( colours )
	{
		const { canvas, player } = this, ratio = window.devicePixelRatio || 1, context = canvas.getContext( "2d" );
		canvas.width = Math.round( canvas.clientWidth * ratio );
		canvas.height = Math.round( canvas.clientHeight * ratio );
		context.scale( ratio, ratio );
		context.lineCap = context.lineJoin = "round";
		this.ground( context, colours );
		const { truth } = player.motion;
		if ( truth !== null )
		{
			context.globalAlpha = player.touched ? 0.16 : 0.4;
			this.trail( context, truth, colours.truth );
			this.arm( context, player.between( truth ), colours.truth, 1.5, colours.paper );
			context.globalAlpha = 1;
		}
		this.trail( context, player.positions, colours.model );
		this.tips = this.joints( player.between( player.positions ) );
		this.arm( context, player.between( player.positions ), colours.model, 1, colours.paper );
	}

	ground( context, colours )
	{
		const [x, y] = this.pixel( [0, 0] );
		context.strokeStyle = colours.rule;
		context.lineWidth = 1;
		context.beginPath();
		context.arc( x, y, this.reach / 1.08 * this.scale, 0, 2 * Math.PI );
		context.moveTo( x - 14, y );
		context.lineTo( x + 14, y );
		context.moveTo( x, y - 14 );
		context.lineTo( x, y + 14 );
		context.stroke();
	}

	/* Where the end was in the last moments. */
	trail( context, positions, colour )
	{
		const { motion, now, model } = this.player, n = model.info.dofCount, from = Math.max( 0, now - Math.round( trailTime / motion.step ) );
		context.strokeStyle = colour;
		context.lineWidth = 1.5;
		context.beginPath();
		for ( let k = from; k <= now; ++k )
			context.lineTo( ...this.pixel( this.joints( [...positions.subarray( k * n, ( k + 1 ) * n )] ).at( -1 ).place ) );
		context.stroke();
	}

	arm( context, q, colour, thick, paper )
	{
		const joints = this.joints( q ), points = joints.map( ( { place } ) => this.pixel( place ) );
		const width = Math.max( 5, 0.075 * this.reach * this.scale ) * thick;
		context.strokeStyle = context.fillStyle = colour;
		points.slice( 1 ).forEach( ( point, j ) =>
		{
			context.lineWidth = width * ( 1 - 0.5 * j / points.length );
			context.beginPath();
			context.moveTo( ...points[j] );
			context.lineTo( ...point );
			context.stroke();
		} );
		context.fillStyle = paper;
		points.slice( 0, -1 ).forEach( ( point ) =>
		{
			context.beginPath();
			context.arc( ...point, width * 0.22, 0, 2 * Math.PI );
			context.fill();
		} );
	}

	/* --- the hand that places a free limb --- */

	/* The pointer in m. */
	pointer( event )
	{
		const box = this.canvas.getBoundingClientRect(), [x, y] = this.pixel( [0, 0] );
		return [( event.clientX - box.left - x ) / this.scale, -( event.clientY - box.top - y ) / this.scale];
	}

	grab( event )
	{
		const { player } = this;
		if ( player === undefined || player.motion.truth !== null )
			return;
		const place = this.pointer( event ), tips = this.joints( player.between( player.positions ) );
		let best = 30 / this.scale;
		for ( let j = 1; j < tips.length; ++j )
		{
			const away = Math.hypot( tips[j].place[0] - place[0], tips[j].place[1] - place[1] );
			if ( away < best )
				[best, this.held] = [away, j - 1];
		}
		if ( this.held === null )
			return;
		this.canvas.setPointerCapture( event.pointerId );
		const now = player.between( player.positions );
		now.forEach( ( x, j ) => { player.free.positions[j] = x; } );
		this.onPlace( true );
		player.restart();
		this.drag( event );
	}

	drag( event )
	{
		if ( this.held === null )
			return;
		const { player, held: j } = this, { slides, absolute } = player, place = this.pointer( event );
		const { place: from, angle } = this.joints( [...player.free.positions] )[j];
		const away = [place[0] - from[0], place[1] - from[1]];
		const turned = Math.atan2( away[1], away[0] ) - ( absolute ? 0 : angle );
		player.place( j, slides[j] ? away[0] * Math.cos( angle ) + away[1] * Math.sin( angle )
			: turned - 2 * Math.PI * Math.round( turned / ( 2 * Math.PI ) ) );
		this.onPlace( true );
	}

	letGo()
	{
		if ( this.held !== null )
			this.onPlace( false );
		this.held = null;
	}
}
