/* The page: controls, keys, labels, charts. What moves is the player's; how it looks, the stage's. */
import { Layer } from "./limber.js";
import { Player, columnNames } from "./player.js";
import { Stage } from "./stage.js";
import { drawChart } from "./chart.js";
import { gradients, paint, plain, ramps, roundUp } from "./colours.js";
import { embedded, fromFiles } from "./content.js";
import { addDrop, at, chartColours, css, key, say, showPlay } from "./page.js";

const titles = { skinning: "Skinning", network: "Network", dynamics: "Dynamics", perFrame: "Per-frame spring", truth: "Simulation" };
const layerTitles = { [Layer.none]: "None (still shape)", [Layer.vertex]: "Per vertex", [Layer.modalUnfitted]: "Modes, as the tissue says",
	[Layer.modal]: "Modes, fitted", [Layer.hybrid]: "Modes and vertices" };
const speeds = [0.125, 0.25, 0.5, 1], rates = [15, 30, 60, 120];
/* s of the trace that are shown. */
const traceSpan = 4;
/* s of the motion over which rates are compared. */
const compareSpan = 4;
/* m/s that a push gives the flesh. */
const pushSpeed = [0, -0.8, 0.5];

const stage = new Stage( at( "figure" ), { onPick: pick } );
let content = null, player = null, colour = "plain", scale = 0, traces = [], comparison = null, comparing = false;

/* --- colours --- */

const logOf = ( x ) => Math.log10( Math.max( x, 1e-6 ) );

/* A number of each vertex, the same in every frame: k, c, c^2 - 4k of the springs per vertex. */
function staticField( kind )
{
	const { rates: springs, softness } = player, values = new Float32Array( softness.length );
	const { stiffness, damping } = player.direction;
	const judged = [];
	for ( let v = 0; v < values.length; ++v )
	{
		const k = springs[2 * v] * stiffness, c = springs[2 * v + 1] * damping;
		values[v] = softness[v] === 0 ? NaN : kind === "stiffness" ? logOf( k ) : kind === "damping" ? logOf( c ) : c * c - 4 * k;
		if ( softness[v] >= 0.5 )
			judged.push( values[v] );
	}
	// A few vertices in folds fit to anything; the colours are for all others.
	judged.sort( ( x, y ) => x - y );
	const [low = 0, high = 0] = [0.02, 0.98].map( ( share ) => judged[Math.round( share * ( judged.length - 1 ) )] );
	if ( kind === "discriminant" )
	{
		// Linear around 0, logarithmic far out: springs differ by orders of magnitude.
		const most = Math.max( Math.abs( low ), Math.abs( high ), 1 ), squeeze = ( x ) => Math.asinh( x / 1e2 ) / Math.asinh( most / 1e2 );
		return { values: values.map( squeeze ), low: -1, high: 1, ramp: ramps.sides, gradient: gradients.sides,
			title: "c² − 4k, 1/s²: below 0 springs ring", ticks: [compact( -most ), "0", compact( most )] };
	}
	const range = high - low < 1e-6 ? [low - 0.5, high + 0.5] : [low, high];
	return { values, low: range[0], high: range[1], ramp: ramps.heat, gradient: gradients.heat,
		title: kind === "stiffness" ? "Stiffness k, 1/s²" : "Damping c, 1/s",
		ticks: [0, 0.5, 1].map( ( t ) => compact( Math.pow( 10, range[0] + t * ( range[1] - range[0] ) ) ) ) };
}

function compact( x )
{
	return Math.abs( x ) >= 1e4 ? x.toExponential( 1 ).replace( "e+", "e" ).replace( "-", "−" ) : String( +x.toPrecision( 2 ) ).replace( "-", "−" );
}

let field = null;

function paintPlain( colours )
{
	for ( let i = 0; i < colours.length; ++i )
		colours[i] = plain[i % 3];
}

/* mm at each vertex between two shapes; the largest that all but 2 % stay below raises the scale. */
function paintDistance( name, other, colours )
{
	const a = player.shapes[name].positions, b = player.shapes[other].positions, { softness } = player;
	for ( let v = 0; v < softness.length; ++v )
	{
		const d = 1e3 * Math.hypot( a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2] );
		paint( ramps.heat, d / scale, colours, v );
	}
}

function percentile( name, other )
{
	const a = player.shapes[name].positions, b = player.shapes[other].positions, found = [];
	for ( let v = 0; v < player.softness.length; v += 7 )
		if ( player.softness[v] > 0.5 )
			found.push( 1e3 * Math.hypot( a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2] ) );
	found.sort( ( x, y ) => x - y );
	return found[Math.floor( 0.98 * ( found.length - 1 ) )] ?? 0;
}

/* What the colours of this moment are measured against; null: plain. */
function reference()
{
	if ( colour === "swing" )
		return player.model.info.hasNetwork ? "network" : "skinning";
	return colour === "error" && player.shown.truth && !player.displaced ? "truth" : null;
}

function paintColumn( name, colours )
{
	const against = reference();
	if ( field !== null )
		for ( let v = 0; v < field.values.length; ++v )
			Number.isNaN( field.values[v] ) ? colours.set( plain, 3 * v )
				: paint( field.ramp, ( field.values[v] - field.low ) / ( field.high - field.low ), colours, v );
	else if ( against === null || name === against || ( colour === "swing" && name === "skinning" ) )
		paintPlain( colours );
	else
		paintDistance( name, against, colours );
}

function fitScale()
{
	const against = reference();
	if ( field !== null || against === null )
		return;
	// What flies apart has no say: everything else would be pale beside it.
	for ( const name of stage.visible )
		if ( name !== against && ( name !== "skinning" || colour === "error" ) && ( name !== "perFrame" || player.perFrame.unstable === 0 ) )
			scale = Math.max( scale, roundUp( Math.max( percentile( name, against ), 0.5 ) ) );
	scale = Math.max( scale, 1 );
}

function setColour( kind )
{
	colour = kind;
	at( "colour" ).value = kind;
	scale = 0;
	field = ["stiffness", "damping", "discriminant"].includes( kind ) ? staticField( kind ) : null;
	if ( kind === "error" && !player.shown.truth && player.available( "truth" ) )
		show( "truth", true );
	stage.dirty = true;
}

function updateLegend()
{
	const moving = colour === "error" || colour === "swing";
	at( "legend" ).hidden = colour === "plain";
	if ( colour === "plain" )
		return;
	let title = field?.title ?? ( colour === "error" ? "Distance to the simulation, mm" : "Swing, mm" );
	if ( colour === "error" && player.motion.truth === null )
		title = "No simulation of this motion";
	else if ( colour === "error" && player.displaced )
		title = "The simulation was not shaken";
	const known = !moving || reference() !== null;
	at( "legend-title" ).textContent = title;
	at( "legend-bar" ).hidden = at( "legend-ticks" ).hidden = !known;
	at( "legend-bar" ).style.background = field?.gradient ?? gradients.heat;
	const ticks = field?.ticks ?? [0, scale / 2, scale].map( compact ), text = ticks.join( "|" );
	if ( at( "legend-ticks" ).dataset.text === text )
		return;
	at( "legend-ticks" ).dataset.text = text;
	at( "legend-ticks" ).replaceChildren( ...ticks.map( ( tick ) => Object.assign( document.createElement( "span" ), { textContent: tick } ) ) );
}

/* --- labels and numbers --- */

function updateLabels()
{
	const names = stage.arrangement === "side" || stage.visible.length < 2 ? stage.visible : [];
	const box = at( "labels" );
	while ( box.children.length < names.length )
		box.append( document.createElement( "span" ) );
	[...box.children].forEach( ( label, i ) =>
	{
		label.hidden = i >= names.length;
		if ( label.hidden )
			return;
		const name = names[i], [x, y] = stage.labelPlace( name ), error = player.error( name );
		const wild = name === "perFrame" && player.perFrame.unstable > 0;
		const small = wild ? `<small class="warn">unstable at ${player.rate} Hz</small>`
			: Number.isNaN( error ) ? "" : `<small>${error.toFixed( 1 )} mm RMS</small>`;
		label.style.left = `${x.toFixed( 1 )}px`;
		label.style.top = `${Math.min( y, stage.canvas.clientHeight - 44 ).toFixed( 1 )}px`;
		const html = titles[name] + small;
		if ( label.dataset.html !== html )
			label.innerHTML = label.dataset.html = html;
	} );
}

let factsAt = 0;
function updateFacts( now )
{
	const { duration } = player.motion, { time } = player;
	at( "clock" ).textContent = `${time.toFixed( 2 )} / ${duration.toFixed( 2 )} s`;
	if ( document.activeElement !== at( "scrub" ) || player.playing )
		at( "scrub" ).value = duration > 0 ? time / duration : 0;
	if ( now - factsAt < 250 )
		return;
	factsAt = now;
	const { info } = player.model;
	at( "facts" ).textContent = `${info.vertexCount.toLocaleString( "en" )} vertices · ${info.boneCount} bones · ` +
		`step ${player.stepTime.toFixed( 2 )} ms${player.runtime.kernels === "wasm" ? "" : ` (${player.runtime.kernels})`}`;
}

const updatePlay = () => showPlay( player?.playing ?? false, player?.loop ?? true );

/* --- trace --- */

function pick( vertex )
{
	stage.picked = vertex;
	traces = [];
	comparison = null;
	at( "comparison" ).hidden = true;
	at( "trace-hint" ).textContent = `Vertex ${vertex}: displacement from the still shape, mm`;
	at( "compare" ).disabled = false;
	stage.dirty = true;
	drawTrace();
}

function record()
{
	if ( stage.picked === undefined )
		return;
	const moved = player.displacement( stage.picked );
	traces.push( { time: player.time, moved } );
	if ( traces.length > traceSpan * 240 )
		traces.shift();
}

const along = ( vector ) => Number( at( "axis" ).value ) === 3 ? Math.hypot( ...vector ) : vector[Number( at( "axis" ).value )];

function drawTrace()
{
	const end = player.time, from = Math.max( 0, end - traceSpan ), lines = [];
	const recent = traces.filter( ( entry ) => entry.time >= from && entry.time <= end + 1e-9 );
	const drawn = columnNames.filter( ( name ) => recent.some( ( entry ) => entry.moved[name] !== undefined ) );
	for ( const name of ["truth", "perFrame", "dynamics"].filter( ( n ) => drawn.includes( n ) ) )
	{
		const own = recent.filter( ( entry ) => entry.moved[name] !== undefined );
		lines.push( { times: own.map( ( e ) => e.time ), values: own.map( ( e ) => along( e.moved[name] ) ), colour: css( `--${name}` ),
			dash: name === "truth" ? [5, 3] : [] } );
	}
	drawChart( at( "trace" ), { lines, range: [from, from + traceSpan], colours: chartColours() } );
	key( at( "trace-key" ), drawn.map( ( name ) => [titles[name], css( `--${name}` ), name === "truth"] ) );
}

const rateColours = () => ["--perFrame", "--network", "--dynamics", "--truth"].map( css );

async function compare()
{
	if ( comparing || stage.picked === undefined )
		return;
	comparing = true;
	at( "compare" ).disabled = true;
	const breathe = ( share ) =>
	{
		at( "compare" ).textContent = `${Math.round( 100 * share )} %`;
		return new Promise( ( done ) => setTimeout( done, 0 ) );
	};
	try
	{
		comparison = await player.compareRates( stage.picked,
			{ rates, seconds: compareSpan, axis: Number( at( "axis" ).value ) }, breathe );
		at( "comparison" ).hidden = false;
		drawComparison();
	}
	finally
	{
		comparing = false;
		at( "compare" ).disabled = false;
		at( "compare" ).textContent = "Compare frame rates";
	}
}

function drawComparison()
{
	if ( comparison === null )
		return;
	const colours = rateColours(), end = Math.max( ...comparison.flatMap( ( c ) => c.times ) );
	// One axis for both; a spring that flies apart leaves the picture instead of flattening the rest.
	const limit = 2.5 * Math.max( ...comparison.flatMap( ( c ) => c.dynamics.map( Math.abs ) ), 0.5 );
	const lines = ( kind ) => comparison.map( ( c, i ) => ( { times: c.times, values: c[kind], colour: colours[i], width: 1.3 } ) );
	const wild = comparison.filter( ( c ) => c.unstable ).map( ( c ) => c.rate );
	const shared = { range: [0, end], limit, colours: chartColours() };
	drawChart( at( "compare-dynamics" ), { ...shared, lines: lines( "dynamics" ), title: "Limber" } );
	drawChart( at( "compare-frame" ), { ...shared, lines: lines( "perFrame" ), title: "Per-frame spring",
		note: wild.length === rates.length ? "parts unstable at all" : wild.length > 0 ? `unstable at ${wild.join( ", " )} Hz` : "" } );
	key( at( "compare-key" ), comparison.map( ( c, i ) => [`${c.rate} Hz`, colours[i]] ) );
}

/* --- settings --- */

function show( name, on )
{
	if ( on && !player.available( name ) )
		return;
	player.shown[name] = on;
	if ( on )
		player.seek( player.time );
	syncColumns();
	if ( stage.arrangement === "side" )
		stage.frameAll();
	stage.dirty = true;
}

function syncColumns()
{
	for ( const box of document.querySelectorAll( "[data-column]" ) )
	{
		const name = box.dataset.column;
		box.checked = player.shown[name];
		box.disabled = !player.available( name );
		box.parentElement.title = box.disabled ? name === "truth" ? "There is no simulation of this motion" : "The model has none" : "";
	}
}

function chooseMotion( index )
{
	player.choose( index );
	at( "motion" ).value = String( index );
	traces = [];
	comparison = null;
	at( "comparison" ).hidden = true;
	scale = 0;
	syncColumns();
	stage.newMotion();
}

function setRate( rate )
{
	player.setPace( { rate } );
	document.querySelector( `input[name="rate"][value="${rate}"]` ).checked = true;
	at( "rate-hint" ).textContent = rate === 60 ? "" : `Every step is now ${( 1e3 * player.dt ).toFixed( 1 )} ms. Limber's motion stays; show the per-frame spring beside it.`;
	stage.dirty = true;
}

function setSpeed( speed )
{
	player.setPace( { speed } );
	at( "speed" ).value = String( speed );
}

function arrange( kind )
{
	stage.arrangement = kind;
	document.querySelector( `input[name="arrangement"][value="${kind}"]` ).checked = true;
	stage.frameAll();
}

/* Sliders of stiffness and damping are powers of two. */
function readSliders()
{
	const direction = { gain: Number( at( "gain" ).value ), stiffness: Math.pow( 2, Number( at( "stiffness" ).value ) ),
		damping: Math.pow( 2, Number( at( "damping" ).value ) ) };
	for ( const name of ["gain", "stiffness", "damping"] )
		at( name ).nextElementSibling.textContent = `× ${+direction[name].toPrecision( 2 )}`;
	player.direct( direction );
	if ( field !== null )
		field = staticField( colour );
}

function resetSliders()
{
	Object.entries( { gain: 1, stiffness: 0, damping: 0 } ).forEach( ( [name, value] ) => { at( name ).value = value; } );
	readSliders();
}

function toggle( id )
{
	at( id ).checked = !at( id ).checked;
	at( id ).dispatchEvent( new Event( "change" ) );
}

function connect()
{
	const on = ( id, event, action ) => at( id ).addEventListener( event, () => { if ( player !== null ) { action(); stage.dirty = true; } } );
	on( "play", "click", playPause );
	on( "restart", "click", restart );
	on( "loop", "click", () => { player.loop = !player.loop; updatePlay(); } );
	on( "scrub", "input", () => seek( Number( at( "scrub" ).value ) * player.motion.duration ) );
	on( "speed", "change", () => setSpeed( Number( at( "speed" ).value ) ) );
	on( "motion", "change", () => chooseMotion( Number( at( "motion" ).value ) ) );
	on( "colour", "change", () => setColour( at( "colour" ).value ) );
	on( "layer", "change", () => { player.setLayer( Number( at( "layer" ).value ) ); traces = []; } );
	for ( const id of ["gain", "stiffness", "damping"] )
		on( id, "input", readSliders );
	on( "springs-reset", "click", resetSliders );
	on( "shake", "click", () => player.shake() );
	on( "push", "click", () => player.push( pushSpeed ) );
	on( "axis", "change", () => { drawTrace(); comparison = null; at( "comparison" ).hidden = true; } );
	on( "compare", "click", compare );
	on( "bones", "change", () => { stage.bonesShown = at( "bones" ).checked; } );
	on( "lattice", "change", () => { stage.latticeShown = at( "lattice" ).checked; } );
	on( "follow", "change", () => { stage.follow = at( "follow" ).checked; } );
	for ( const box of document.querySelectorAll( "[data-column]" ) )
	{
		box.parentElement.querySelector( "i" ).style.setProperty( "--dot", `var(--${box.dataset.column})` );
		box.addEventListener( "change", () => show( box.dataset.column, box.checked ) );
	}
	for ( const radio of document.querySelectorAll( "input[name='rate']" ) )
		radio.addEventListener( "change", () => setRate( Number( radio.value ) ) );
	for ( const radio of document.querySelectorAll( "input[name='arrangement']" ) )
		radio.addEventListener( "change", () => arrange( radio.value ) );
	for ( const radio of document.querySelectorAll( "input[name='theme']" ) )
		radio.addEventListener( "change", () =>
		{
			document.documentElement.dataset.theme = radio.value;
			stage.dirty = true;
			if ( player !== null )
				drawTrace();
			drawComparison();
		} );
	at( "more" ).addEventListener( "click", () =>
	{
		const open = document.body.classList.toggle( "more" );
		at( "more" ).setAttribute( "aria-expanded", String( open ) );
	} );
	matchMedia( "(prefers-color-scheme: dark)" ).addEventListener( "change", () => { stage.dirty = true; } );
	new ResizeObserver( () => { stage.resize(); stage.dirty = true; } ).observe( at( "stage" ) );
	at( "files" ).addEventListener( "change", () => take( [...at( "files" ).files] ) );
	addDrop( take );
	addKeys();
}

function playPause()
{
	if ( !player.playing && player.time >= player.motion.duration )
		restart();
	player.playing = !player.playing;
	updatePlay();
}

/* Pauses at a time, with the trace that leads there. */
function seek( time )
{
	player.playing = false;
	traces = [];
	player.seek( time, record );
	updatePlay();
	stage.dirty = true;
}

function restart()
{
	player.restart();
	traces = [];
}

function stepSpeed( by )
{
	const index = speeds.indexOf( player.speed ) + by;
	if ( index >= 0 && index < speeds.length )
		setSpeed( speeds[index] );
}

function addKeys()
{
	const next = ( select ) =>
	{
		do
			select.selectedIndex = ( select.selectedIndex + 1 ) % select.options.length;
		while ( select.options[select.selectedIndex].disabled );
		select.dispatchEvent( new Event( "change" ) );
	};
	const actions = {
		" ": playPause, Home: restart, l: () => at( "loop" ).click(),
		ArrowLeft: () => { player.frame( -1 ); updatePlay(); }, ArrowRight: () => { player.frame( 1 ); record(); updatePlay(); },
		"[": () => stepSpeed( -1 ), "]": () => stepSpeed( 1 ), m: () => next( at( "motion" ) ), c: () => next( at( "colour" ) ),
		r: () => setRate( rates[( rates.indexOf( player.rate ) + 1 ) % rates.length] ),
		o: () => arrange( stage.arrangement === "side" ? "over" : "side" ), b: () => toggle( "bones" ), g: () => toggle( "lattice" ),
		f: () => toggle( "follow" ), v: () => stage.frameAll(), s: () => player.shake(), p: () => player.push( pushSpeed ),
	};
	columnNames.forEach( ( name, i ) => { actions[String( i + 1 )] = () => show( name, !player.shown[name] ); } );
	addEventListener( "keydown", ( event ) =>
	{
		const tag = event.target.tagName, type = event.target.type;
		const own = tag === "SELECT" || type === "range" || type === "radio" ? event.key.startsWith( "Arrow" ) || event.key === "Home" || tag === "SELECT"
			: ( tag === "BUTTON" || tag === "SUMMARY" || type === "checkbox" ) && event.key === " ";
		const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
		if ( player === null || own || action === undefined || event.ctrlKey || event.metaKey || event.altKey )
			return;
		event.preventDefault();
		action();
		stage.dirty = true;
	} );
}

async function take( files )
{
	try
	{
		open( await fromFiles( files, content ) );
		say( player.motions.length === 1 ? "Now drop the character (.glb) for its motions." : "" );
	}
	catch ( error )
	{
		say( error.message, true );
	}
}

/* --- life --- */

function open( next )
{
	content = next;
	player = new Player( content );
	document.title = `${content.name} – Limber`;
	at( "name" ).textContent = content.name;
	at( "welcome" ).hidden = true;
	at( "motion" ).replaceChildren( ...player.motions.map( ( motion, i ) =>
		new Option( motion.name + ( motion.truth !== null ? motion.trained ? " (trained)" : " (held out)" : "" ), i ) ) );
	at( "layer" ).replaceChildren( ...player.layers.map( ( layer ) => new Option( layerTitles[layer], layer ) ) );
	at( "layer" ).value = String( player.layer );
	const heldOut = player.motions.findIndex( ( motion ) => motion.truth !== null && !motion.trained );
	if ( heldOut > 0 )
		player.choose( heldOut );
	at( "motion" ).value = String( Math.max( heldOut, 0 ) );
	const wide = at( "stage" ).clientWidth > 600;
	Object.assign( player.shown, { skinning: wide, truth: wide && player.motion.truth !== null } );
	player.restart();
	stage.picked = undefined;
	stage.show( player );
	for ( const [id, there] of [["bones", player.joints !== null], ["lattice", player.tissue !== null]] )
		at( id ).disabled = !there;
	for ( const option of at( "colour" ).options )
		option.disabled = option.value === "error" && !player.motions.some( ( motion ) => motion.truth !== null );
	at( "compare" ).disabled = true;
	setColour( player.shown.truth ? "error" : "swing" );
	resetSliders();
	setRate( 60 );
	setSpeed( 1 );
	pick( player.liveliest() );
	syncColumns();
	updatePlay();
	stage.resize();
}

let last = performance.now(), due = 0;
function live( now )
{
	requestAnimationFrame( live );
	if ( player === null )
		return;
	due += Math.min( ( now - last ) / 1e3, 0.25 );
	last = now;
	if ( !player.alive )
		due = 0;
	// A screen's frames are not evenly spaced; one that comes 2 ms early is taken as in time.
	let ticked = false;
	for ( let n = 0; due >= 1 / player.rate - 0.002 && n < 8; ++n )
	{
		due -= 1 / player.rate;
		if ( player.tick() )
			traces = [];
		record();
		ticked = true;
	}
	due = Math.min( Math.max( due, 0 ), 0.1 );
	if ( ticked || stage.dirty )
		draw( now );
}

function draw( now = performance.now() )
{
	fitScale();
	stage.draw( paintColumn, css( "--paper" ) );
	updateLabels();
	updateLegend();
	updateFacts( now );
	updatePlay();
	if ( at( "trace" ).clientWidth > 0 )
		drawTrace();
}

connect();
updatePlay();
try
{
	say( "Loading …" );
	const first = await embedded( ( what ) => say( `Loading ${what} …` ) );
	say( "" );
	if ( first !== null )
		open( first );
	else
		at( "welcome" ).hidden = false;
}
catch ( error )
{
	say( error.message, true );
}
requestAnimationFrame( live );

/* For tests, and for those who open the console. */
globalThis.limber = { get player() { return player; }, stage, draw, seek };
