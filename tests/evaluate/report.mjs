// The pages of a character (tiny.html) and of a limb (arm.html) in headless Chromium: report.mjs FOLDER. Their files
// metrics.json and evaluation.json are in out/NAME.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const folder = process.argv[2];
let failures = 0;

function check( truth, what )
{
	if ( truth )
		return;
	console.error( `failed: ${what}` );
	failures += 1;
}

function near( value, expected, relative, what )
{
	check( Math.abs( value - expected ) <= relative * Math.abs( expected ), `${what}: ${value}, expected ${expected} within ${relative}` );
}

const read = ( name, file ) => readFileSync( `${folder}/out/${name}/${file}`, "utf8" );

// --- the files: evaluation.json is the same evaluation as metrics.json, seen in its parts ---

const square = ( sum, value ) => sum + value * value;
const rms = ( values ) => Math.sqrt( values.reduce( square, 0 ) / values.length );

function checkCharacter( metrics, details )
{
	for ( const [name, motion] of Object.entries( metrics.motions ) )
	{
		const part = details.motions[name], judged = details.body.judged;
		check( part.judged.filter( ( flag ) => flag === 1 ).length === motion.frames, `${name}: frames` );
		// Five digits are written: 5e-5, and as much for rounding in sums.
		near( rms( part.dynamics_mm.filter( ( value ) => value !== null ) ), motion.dynamics_rms_mm, 1e-4, `${name}: dynamics of frames` );
		near( rms( part.vertex_dynamics_mm.filter( ( _, v ) => judged[v] ) ), motion.dynamics_rms_mm, 1e-4, `${name}: dynamics of vertices` );
		check( Object.keys( motion.rms_mm ).length >= 6, `${name}: columns` );
		for ( const [column, value] of Object.entries( motion.rms_mm ) )
		{
			near( rms( part.rms_mm[column].filter( ( number ) => number !== null ) ), value, 1e-4, `${name}: frames of ${column}` );
			near( rms( part.vertex_rms_mm[column].filter( ( _, v ) => judged[v] ) ), value, 1e-4, `${name}: vertices of ${column}` );
		}
		check( part.tracks.length === 4, `${name}: four vertices` );
		const most = Math.max( ...part.vertex_dynamics_mm.filter( ( _, v ) => judged[v] ) );
		check( part.vertex_dynamics_mm[part.tracks[0].vertex] === most, `${name}: the first vertex moves most` );
		for ( const track of part.tracks )
		{
			near( Math.hypot( ...track.direction ), 1, 1e-4, `${name}: a direction's length` );
			check( track.path_mm.skinning.every( ( value ) => value === 0 ), `${name}: paths are from skinning` );
		}
	}
	check( details.springs.mode_stiffness.length === metrics.modes.count, "modes" );
	check( details.springs.vertex_stiffness.length === metrics.soft_skin.vertices, "a spring for each vertex" );
}

function checkLimb( metrics, details )
{
	for ( const [model, { tests }] of Object.entries( metrics.models ) )
		for ( const [test, score] of Object.entries( tests ) )
		{
			const part = details.models[model][test], at = details.tests[test].times_s.indexOf( 1 );
			near( part.rmse_deg.mean[at], score.rmse_deg_1s.mean, 1e-4, `${model} on ${test}: mean at 1 s` );
			near( part.rmse_deg.median[at], score.rmse_deg_1s.median, 1e-4, `${model} on ${test}: median at 1 s` );
			part.examples.forEach( ( example, i ) => example.positions.forEach( ( values, joint ) =>
				check( values[0] === details.tests[test].examples[i].positions[joint][0], `${model} on ${test}: starts with the truth` ) ) );
		}
	check( details.tests.pulse.examples.every( ( { pulse } ) => pulse !== null ), "examples of pulses have pulses" );
	check( details.tests.held_out.examples.every( ( { pulse } ) => pulse === null ), "others have none" );
	const { pulse, interaction_nm: torque } = details.tests.pulse.examples[0];
	check( torque[pulse.joint] === null && torque[1 - pulse.joint].length > 1, "the other joint's torque" );
	// The true equations cause the true torque but for the integrator's error.
	details.models.truth.pulse.examples[0].interaction_nm[1 - pulse.joint].forEach( ( value, k ) =>
		check( Math.abs( value - torque[1 - pulse.joint][k] ) < 0.02 * Math.max( ...torque[1 - pulse.joint].map( Math.abs ) ), `truth's torque in step ${k}` ) );
	check( details.models.ape_lagrangian.held_out.trust_and_error.length > 10, "trust and error" );
}

// --- the pages ---

const browser = await chromium.launch( { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] } );

async function open( name, context )
{
	const page = await ( await browser.newContext( { viewport: { width: 1100, height: 800 }, ...context } ) ).newPage();
	const url = `file://${folder}/${name}.html`;
	// Chromium has advice about the test's own reading of canvases.
	page.on( "console", ( message ) => check( message.text().includes( "willReadFrequently" ), `${name}: nothing on the console, but: ${message.text()}` ) );
	page.on( "pageerror", ( error ) => check( false, `${name}: no error, but: ${error.stack}` ) );
	page.on( "request", ( request ) => check( request.url() === url, `${name}: nothing is fetched, but: ${request.url().slice( 0, 200 )}` ) );
	await page.goto( url );
	await page.waitForFunction( () => document.documentElement.dataset.ready === "yes" );
	return page;
}

function leaves( value, path, out )
{
	if ( value !== null && typeof value === "object" )
		for ( const key of Object.keys( value ) )
			leaves( value[key], [...path, Array.isArray( value ) ? Number( key ) : key], out );
	else
		out.set( JSON.stringify( path ), value );
	return out;
}

// Every number of metrics.json stands on the page, the same, and no other number claims to be from there.
async function checkNumbers( page, name, metrics )
{
	const expected = leaves( metrics, [], new Map() );
	const shown = await page.$$eval( "[data-path]", ( elements ) => elements.map( ( { dataset, textContent } ) =>
		[dataset.path, JSON.parse( dataset.value ), textContent] ) );
	const found = new Map( shown.map( ( [path, value] ) => [path, value] ) );
	for ( const [path, value] of expected )
		check( found.has( path ) && Object.is( found.get( path ), value ), `${name}: ${path} is ${found.get( path )}, expected ${value}` );
	check( found.size === expected.size && shown.length === found.size, `${name}: ${shown.length} numbers, expected ${expected.size}` );
	// What a reader sees is that number, to the digits shown.
	for ( const [path, value, text] of shown )
		if ( typeof value === "number" )
			check( Math.abs( Number( text ) - value ) <= 0.005 * Math.abs( value ) + 5e-4, `${name}: ${path} reads ${text}, expected ${value}` );
}

const lines = ( page, section ) => page.$$eval( `#${section} .chart svg path`, ( paths ) =>
	paths.map( ( path ) => path.getAttribute( "d" ) ).filter( ( d ) => d !== null && d.length > 60 ) );

async function checkCharts( page, name, sections )
{
	for ( const section of sections )
		check( ( await lines( page, section ) ).length > 0, `${name}: lines in ${section}` );
	const wrong = await page.$$eval( ".chart svg path", ( paths ) => paths.filter( ( path ) => /NaN|undefined|Infinity/.test( path.getAttribute( "d" ) ) ).length );
	check( wrong === 0, `${name}: ${wrong} paths are not numbers` );
}

// How many different colours a canvas has.
const colours = ( page, at ) => page.$$eval( ".bodies canvas", ( canvases, index ) =>
{
	const { data } = canvases[index].getContext( "2d" ).getImageData( 0, 0, canvases[index].width, canvases[index].height );
	const seen = new Set();
	for ( let i = 0; i < data.length; i += 4 )
		if ( data[i + 3] === 255 )
			seen.add( data[i] << 16 | data[i + 1] << 8 | data[i + 2] );
	return { count: seen.size, sum: [...seen].reduce( ( a, b ) => a + b, 0 ) };
}, at );

async function tryCharacter( page )
{
	await checkCharts( page, "tiny", ["time", "spread", "paths"] );
	check( ( await page.$$( "#captured .chart svg path" ) ).length > 4 && ( await page.$$( "#modes .chart svg path" ) ).length > 12, "tiny: bars and modes" );
	const before = await lines( page, "time" );
	check( await page.inputValue( "#motion" ) === "run", "tiny: the held-out motion comes first" );
	await page.selectOption( "#motion", "jumping_jacks" );
	check( JSON.stringify( await lines( page, "time" ) ) !== JSON.stringify( before ), "tiny: another motion has other lines" );
	await page.selectOption( "#motion", "run" );
	check( JSON.stringify( await lines( page, "time" ) ) === JSON.stringify( before ), "tiny: and back" );
	await page.click( "#time .chart svg text:text-is(\"skinning\")" );
	check( ( await lines( page, "time" ) ).length === before.length - 1, "tiny: a click on its name hides a line" );
	const front = await colours( page, 0 );
	check( front.count > 100 && ( await colours( page, 1 ) ).count > 100, "tiny: the body is painted" );
	await page.selectOption( "#quantity", "vertex stiffness" );
	check( ( await colours( page, 0 ) ).sum !== front.sum, "tiny: another quantity has other colours" );
	const legend = await page.textContent( ".legend" );
	check( legend.includes( "1/s²" ) && legend.includes( "logarithmic" ), `tiny: the legend: ${legend}` );
	const still = await colours( page, 0 );
	await page.focus( ".bodies canvas" );
	for ( let i = 0; i < 5; ++i )
		await page.keyboard.press( "ArrowRight" );
	check( ( await colours( page, 0 ) ).sum !== still.sum, "tiny: arrow keys turn the body" );
}

async function tryLimb( page )
{
	await checkCharts( page, "arm", ["horizon", "examples", "interaction"] );
	check( ( await page.$$( "#trust .chart svg path" ) ).length > 20, "arm: points of trust" );
	const before = await lines( page, "horizon" );
	await page.selectOption( "#average", "mean" );
	check( JSON.stringify( await lines( page, "horizon" ) ) !== JSON.stringify( before ), "arm: means are not medians" );
	await page.selectOption( "#test", "pulse" );
	const rollout = await lines( page, "examples" );
	await page.selectOption( "#example", "1" );
	check( JSON.stringify( await lines( page, "examples" ) ) !== JSON.stringify( rollout ), "arm: another roll-out has other lines" );
	const text = await page.textContent( "#held-out summary" );
	check( /^\d+ motions were held out: none of them trained/.test( text ), `arm: what was held out: ${text}` );
}

for ( const [name, checkFiles, attempt] of [["tiny", checkCharacter, tryCharacter], ["arm", checkLimb, tryLimb]] )
{
	const metrics = JSON.parse( read( name, "metrics.json" ) ), details = JSON.parse( read( name, "evaluation.json" ) );
	checkFiles( metrics, details );
	const html = readFileSync( `${folder}/${name}.html`, "utf8" );
	for ( const [id, file] of [["limber-metrics", "metrics.json"], ["limber-evaluation", "evaluation.json"]] )
	{
		const start = html.indexOf( `id="${id}">` ) + `id="${id}">`.length;
		const data = html.slice( start, html.indexOf( "</script>", start ) );
		check( data.replaceAll( "\\u003c", "<" ) === read( name, file ), `${name}: ${file} is in the page as it is` );
	}
	const page = await open( name, {} );
	await checkNumbers( page, name, metrics );
	await page.screenshot( { path: `${folder}/${name}.shot.png`, fullPage: true } );
	await attempt( page );

	const dark = await open( name, { colorScheme: "dark", viewport: { width: 320, height: 640 } } );
	const look = ( target ) => target.evaluate( () => ( { ground: getComputedStyle( document.documentElement ).backgroundColor,
		text: document.querySelector( ".chart svg text" ).getAttribute( "fill" ), wide: document.documentElement.scrollWidth - innerWidth } ) );
	const night = await look( dark );
	check( night.ground === "rgb(20, 23, 27)" && night.wide <= 0, `${name}: dark and narrow: ${JSON.stringify( night )}` );
	await dark.screenshot( { path: `${folder}/${name}-dark.shot.png`, fullPage: true } );
	// Paper is white, whatever the screen is; plots are drawn anew for it.
	await dark.emulateMedia( { media: "print", colorScheme: "dark" } );
	await dark.evaluate( () => dispatchEvent( new Event( "beforeprint" ) ) );
	const paper = await look( dark );
	check( paper.ground === "rgb(255, 255, 255)" && paper.text !== night.text, `${name}: print: ${JSON.stringify( paper )}` );
}
await browser.close();
process.exit( failures > 0 ? 1 : 0 );
