/* The page of a limb: controls, keys, charts. What moves is the player's (limb_player.js). */
import { Tensors } from "./safetensors.js";
import { LimbPlayer } from "./limb_player.js";
import { LimbStage } from "./limb_stage.js";
import { drawChart } from "./chart.js";
import { blob, newRuntime } from "./content.js";
import { addDrop, at, chartColours, css, key, say, showPlay } from "./page.js";

const speeds = [0.125, 0.25, 0.5, 1];
/* s that the charts show. */
const span = 5;

const stage = new LimbStage( at( "figure" ), { onPlace: placed } );
let player = null, dirty = true, resume = false, charts = [];

/* --- content --- */

const usual = { tests: [], lengths: null, absolute: false, unit: "", integrator: null, step: null };

async function assemble( bytes, facts )
{
	const runtime = await newRuntime(), model = runtime.limb( bytes ), slides = new Tensors( bytes ).get( "dofs.slides" );
	return { ...usual, ...facts, runtime, model, slides: model.dofs.map( ( _, j ) => slides[j] !== 0 ) };
}

async function embedded()
{
	const element = document.getElementById( "limber-manifest" );
	if ( element === null )
		return null;
	const manifest = JSON.parse( element.textContent ), content = await assemble( await blob( "model" ), manifest );
	const { dofCount: n, inputCount: m } = content.model.info;
	content.tests = [];
	for ( const { name, motions } of manifest.tests )
	{
		say( `Loading ${name} …` );
		const numbers = new Float64Array( ( await blob( name ) ).slice().buffer );
		let next = 0;
		const take = ( count ) => numbers.slice( next, next += count );
		content.tests.push( { name, motions: motions.map( ( entry ) =>
		{
			const velocities = take( n ), truth = take( entry.samples * n ), inputs = take( entry.samples * m );
			return { ...entry, velocities, truth, positions: truth.slice( 0, n ), inputs };
		} ) } );
		if ( next !== numbers.length )
			throw new Error( `the motions of ${name} are not whole` );
	}
	return content;
}

async function take( files )
{
	try
	{
		const file = files.find( ( f ) => f.name.toLowerCase().endsWith( ".safetensors" ) );
		if ( file === undefined )
			throw new Error( `${files[0]?.name ?? "nothing"}: drop a limb's model (.safetensors)` );
		const bytes = new Uint8Array( await file.arrayBuffer() );
		if ( new Tensors( bytes ).metadata.format !== "limber.limb" )
			throw new Error( `${file.name}: is not a limb's model` );
		open( await assemble( bytes, { name: file.name.replace( /\.safetensors$/i, "" ) } ) );
		say( "" );
	}
	catch ( error )
	{
		say( error.message, true );
	}
}

/* --- the picture and the numbers --- */

function draw()
{
	dirty = false;
	stage.draw( { model: css( "--dynamics" ), truth: css( "--truth" ), paper: css( "--paper" ), rule: css( "--rule" ) } );
	const { time, duration, motion, trust, now, touched } = player;
	at( "clock" ).textContent = `${time.toFixed( 2 )} / ${duration.toFixed( 2 )} s`;
	if ( document.activeElement !== at( "scrub" ) || player.playing )
		at( "scrub" ).value = time / duration;
	at( "facts" ).textContent = `${player.model.dofs.join( ", " )} · step of ${+( 1e3 * motion.step ).toPrecision( 3 )} ms in ${( 1e3 * player.stepTime ).toFixed( 0 )} µs`;
	const error = player.error();
	at( "error" ).textContent = player.divergedAt <= now ? `The model diverged at ${( player.divergedAt * motion.step ).toFixed( 2 )} s.`
		: motion.truth === null ? "" : touched ? "The truth did not feel your hand: not comparable."
			: `${error < 1 ? +error.toPrecision( 2 ) : error.toFixed( 1 )}° RMS from the truth so far`;
	const score = trust?.[now];
	at( "trust" ).textContent = trust === null ? "The model has no trust score." : Number.isFinite( score )
		? `Trust score ${score.toFixed( 2 )}: ${score <= 1 ? "inside what it was trained on" : "beyond what it was trained on"}` : "";
	at( "trust" ).classList.toggle( "bad", score > 1 );
	key( at( "legend" ), [["Model", css( "--dynamics" )], ...( motion.truth !== null ? [["Truth", css( "--truth" )]] : [] )] );
	showPlay( player.playing, player.loop );
	drawCharts();
}

/* One chart for each joint, one of the inputs, one of the trust score. */
function makeCharts()
{
	const { model, slides, unit } = player, { dofCount: n, inputCount: m } = model.info;
	const scale = ( j ) => slides[j] ? 1 : 180 / Math.PI;
	const curve = ( values, from, to, stride, offset, factor, colour, dash, added ) =>
	{
		const line = { times: [], values: [], colour: css( colour ), dash };
		for ( let k = from; k <= to; ++k )
		{
			line.times.push( k * player.motion.step );
			line.values.push( factor * values[k * stride + offset] + ( added?.[k * stride + offset] ?? 0 ) );
		}
		return line;
	};
	charts = model.dofs.map( ( name, j ) => ( { title: `${name}, ${slides[j] ? "m" : "°"}`, lines: ( from, to ) => [
		...( player.motion.truth !== null ? [curve( player.motion.truth, from, to, n, j, scale( j ), "--truth", [5, 3] )] : [] ),
		curve( player.positions, from, to, n, j, scale( j ), "--dynamics" )] } ) );
	if ( player.trust !== null )
		charts.push( { title: "Trust score: 1 is the edge of the training data", lines: ( from, to ) => [
			{ times: [from, to].map( ( k ) => k * player.motion.step ), values: [1, 1], colour: css( "--warn" ), dash: [2, 3] },
			curve( player.trust, from, to, 1, 0, 1, "--network" )] } );
	model.inputs.forEach( ( name, i ) => charts.push( { title: `${name}${unit !== "" ? `, ${unit}` : ""}, with your hand's`, lines: ( from, to ) => [
		curve( player.motion.inputs, from, to, m, i, 1, "--skinning", [5, 3] ),
		curve( player.motion.inputs, from, to, m, i, 1, "--perFrame", [], player.hand )] } ) );
	at( "charts" ).replaceChildren( ...charts.map( ( chart ) =>
	{
		chart.canvas = Object.assign( document.createElement( "canvas" ), { className: "chart" } );
		chart.canvas.setAttribute( "role", "img" );
		chart.canvas.setAttribute( "aria-label", chart.title );
		return chart.canvas;
	} ) );
}

function drawCharts()
{
	const { step } = player.motion, end = player.time, from = Math.max( 0, end - span );
	for ( const { canvas, title, lines } of charts )
	{
		if ( canvas.clientWidth === 0 )
			continue;
		const drawn = lines( Math.ceil( from / step - 1e-9 ), player.now );
		const numbers = drawn.flatMap( ( { values } ) => values ).filter( Number.isFinite );
		drawChart( canvas, { lines: drawn, range: [from, from + Math.min( span, player.duration )], title, colours: chartColours(),
			limit: numbers.reduce( ( most, x ) => Math.max( most, Math.abs( x ) ), 1e-6 ) } );
	}
}

/* --- settings --- */

function chooseTest( index )
{
	at( "test" ).value = String( index );
	at( "motion" ).replaceChildren( ...player.tests[index].motions.map( ( motion, i ) => new Option( motion.name, i ) ) );
	chooseMotion( 0 );
}

function chooseMotion( index )
{
	at( "motion" ).value = String( index );
	player.choose( Number( at( "test" ).value ), index );
	const free = player.motion.truth === null;
	at( "hint" ).textContent = free ? "Drag the limb to where it shall begin. Without gravity it rests until you give it a torque or a pulse." : "";
	at( "figure" ).style.cursor = free ? "grab" : "";
}

/* A hand puts the free limb somewhere (true), or lets it go. */
function placed( held )
{
	if ( held && player.playing )
		[resume, player.playing] = [true, false];
	if ( !held )
		[resume, player.playing] = [false, player.playing || resume];
	dirty = true;
}

function makeHands()
{
	at( "hands" ).replaceChildren( ...player.model.inputs.map( ( name, i ) =>
	{
		const row = document.createElement( "div" ), range = player.ranges[i];
		row.className = "slider";
		row.innerHTML = `<label for="input-${i}"></label><input id="input-${i}" type="range" min="${-range}" max="${range}" step="${range / 50}" value="0"><output>0</output>
			<button id="pulse-${i}">Pulse</button>`;
		row.querySelector( "label" ).textContent = player.unit !== "" ? `${name}, ${player.unit}` : name;
		row.querySelector( "button" ).title = `${+player.pulseOf( i ).toPrecision( 3 )} ${player.unit} for 0.1 s${i === 0 ? " (P)" : ""}`;
		row.querySelector( "input" ).addEventListener( "input", ( event ) => { player.setSteady( i, Number( event.target.value ) ); showHands(); } );
		row.querySelector( "button" ).addEventListener( "click", () => pulse( i ) );
		return row;
	} ) );
}

function showHands()
{
	player.steady.forEach( ( value, i ) =>
	{
		at( `input-${i}` ).value = String( value );
		at( `input-${i}` ).nextElementSibling.textContent = String( +value.toPrecision( 3 ) ).replace( "-", "−" );
	} );
	dirty = true;
}

function pulse( i )
{
	player.pulse( i );
	dirty = true;
}

function setIntegrator()
{
	player.setIntegrator( Number( at( "integrator" ).value ), Number( at( "step" ).value ) );
}

function setSpeed( speed )
{
	player.speed = speed;
	at( "speed" ).value = String( speed );
}

function seek( time )
{
	player.playing = false;
	player.seek( time );
	dirty = true;
}

function playPause()
{
	if ( !player.playing && player.time >= player.duration )
		player.restart();
	player.playing = !player.playing;
}

function connect()
{
	const on = ( id, event, action ) => at( id ).addEventListener( event, () => { if ( player !== null ) { action(); dirty = true; } } );
	on( "play", "click", playPause );
	on( "restart", "click", () => player.restart() );
	on( "loop", "click", () => { player.loop = !player.loop; } );
	on( "scrub", "input", () => seek( Number( at( "scrub" ).value ) * player.duration ) );
	on( "speed", "change", () => setSpeed( Number( at( "speed" ).value ) ) );
	on( "test", "change", () => chooseTest( Number( at( "test" ).value ) ) );
	on( "motion", "change", () => chooseMotion( Number( at( "motion" ).value ) ) );
	on( "integrator", "change", setIntegrator );
	on( "step", "change", setIntegrator );
	on( "let-go", "click", () => { player.letGo(); showHands(); } );
	for ( const radio of document.querySelectorAll( "input[name='theme']" ) )
		radio.addEventListener( "change", () => { document.documentElement.dataset.theme = radio.value; dirty = true; } );
	at( "more" ).addEventListener( "click", () =>
	{
		at( "more" ).setAttribute( "aria-expanded", String( document.body.classList.toggle( "more" ) ) );
		dirty = true;
	} );
	matchMedia( "(prefers-color-scheme: dark)" ).addEventListener( "change", () => { dirty = true; } );
	new ResizeObserver( () => { dirty = true; } ).observe( at( "stage" ) );
	at( "files" ).addEventListener( "change", () => take( [...at( "files" ).files] ) );
	addDrop( take );
	addKeys();
}

function addKeys()
{
	const nextMotion = () => chooseMotion( ( at( "motion" ).selectedIndex + 1 ) % at( "motion" ).options.length );
	const stepSpeed = ( by ) => setSpeed( speeds[Math.min( Math.max( speeds.indexOf( player.speed ) + by, 0 ), speeds.length - 1 )] );
	const actions = { " ": playPause, Home: () => player.restart(), l: () => at( "loop" ).click(), ArrowLeft: () => player.frame( -1 ),
		ArrowRight: () => player.frame( 1 ), "[": () => stepSpeed( -1 ), "]": () => stepSpeed( 1 ), m: nextMotion,
		p: () => { if ( player.ranges.length > 0 ) pulse( 0 ); } };
	addEventListener( "keydown", ( event ) =>
	{
		const tag = event.target.tagName, { type } = event.target, name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		const own = tag === "SELECT" || ( ["range", "radio"].includes( type ) && ( name.startsWith( "Arrow" ) || name === "Home" ) ) ||
			( ["BUTTON", "SUMMARY"].includes( tag ) && name === " " );
		if ( player === null || own || actions[name] === undefined || event.ctrlKey || event.metaKey || event.altKey )
			return;
		event.preventDefault();
		actions[name]();
		dirty = true;
	} );
}

/* --- life --- */

function open( content )
{
	player = new LimbPlayer( content );
	document.title = `${player.name} – Limber`;
	at( "name" ).textContent = player.name;
	at( "welcome" ).hidden = true;
	at( "shape" ).textContent = player.lengths !== null ? "" : "Drawn in one plane, with segments of equal length.";
	at( "test" ).replaceChildren( ...player.tests.map( ( test, i ) => new Option( test.name.replaceAll( "_", " " ), i ) ) );
	at( "integration" ).hidden = player.recurrent;
	const steps = [...new Set( [0.001, 0.002, 0.005, 0.01, 0.02, player.maxStep] )].sort( ( a, b ) => a - b );
	at( "step" ).replaceChildren( ...steps.map( ( step ) => new Option( `${+( 1e3 * step ).toPrecision( 4 )} ms`, step ) ) );
	at( "integrator" ).value = String( player.integrator );
	at( "step" ).value = String( player.maxStep );
	at( "by-hand" ).hidden = player.model.inputs.length === 0;
	stage.show( player );
	makeHands();
	makeCharts();
	setSpeed( 1 );
	chooseTest( 0 );
	dirty = true;
}

let last = performance.now();
function live( now )
{
	requestAnimationFrame( live );
	if ( player === null )
		return;
	player.advance( Math.min( ( now - last ) / 1e3, 0.25 ) );
	last = now;
	if ( player.playing || dirty )
		draw();
	dirty ||= player.playing;
}

connect();
showPlay( false, true );
try
{
	say( "Loading …" );
	const first = await embedded();
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
