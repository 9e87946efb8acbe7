// The page of `limber view` for a limb: its motion is that of `limber predict`, and each control does what it says.
//   node limb.mjs SERVED_URL BARE.html FOLDER LIMBER
// FOLDER: the project's output, with held-out motions of a two-joint arm.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Tensors } from "../../viewer/src/safetensors.js";
import { check, failed, launch, near, open } from "./browser.mjs";

const [served, bare, folder, limber] = process.argv.slice( 2 );
const model = `${folder}/model.safetensors`;
const state = ( page, expression ) => page.evaluate( `(() => { const { player, stage } = limber; return ${expression}; })()` );
const settle = ( page ) => page.evaluate( () => new Promise( ( done ) => requestAnimationFrame( () => requestAnimationFrame( done ) ) ) );
const slide = ( page, id, value ) => page.locator( `#${id}` ).fill( String( value ) );
const pause = async ( page ) => { if ( await state( page, "player.playing" ) ) await page.click( "#play" ); await settle( page ); };
const press = async ( page, key ) => { await page.locator( "#figure" ).focus(); await page.keyboard.press( key ); await settle( page ); };

/* A motion of the truth as the project's own file has it; hand( k, i ): what is added to input i of sample k. */
function truthOf( index )
{
	const set = new Tensors( new Uint8Array( readFileSync( `${folder}/trajectories-held_out.safetensors` ) ) );
	const samples = set.get( "trajectories.samples" ), before = samples.slice( 0, index ).reduce( ( sum, x ) => sum + x, 0 );
	const part = ( name ) => set.get( name ).slice( 2 * before, 2 * ( before + samples[index] ) );
	return { samples: samples[index], step: set.get( "trajectories.steps" )[index], positions: part( "positions" ), velocities: part( "velocities" ), inputs: part( "inputs" ) };
}

/* What `limber predict` makes of it: { position: [..] of each joint, velocity, trust }. */
function predict( truth, names, inputs, integrator, step, hand )
{
	const rows = [["time", ...inputs].join()];
	for ( let k = 0; k < truth.samples; ++k )
		rows.push( [k * truth.step, ...inputs.map( ( _, i ) => truth.inputs[2 * k + i] + hand( k, i ) )].join() );
	writeFileSync( "torques.csv", rows.join( "\n" ) + "\n" );
	const start = names.flatMap( ( name, j ) => [`${name}=${truth.positions[j]}`, `${name}_velocity=${truth.velocities[j]}`] ).join();
	execFileSync( limber, ["predict", model, "--torques", "torques.csv", "--start", start, "--integrator", integrator, "--step", String( step ),
		"--out", "predicted.csv", "--quiet"] );
	const [header, ...lines] = readFileSync( "predicted.csv", "utf8" ).trim().split( "\n" ).map( ( line ) => line.split( "," ) );
	const column = ( name ) => lines.map( ( line ) => Number( line[header.indexOf( name )] ) );
	return { positions: names.map( column ), velocities: names.map( ( name ) => column( `${name}_velocity` ) ), trust: column( "trust" ) };
}

async function same( page, truth, integrator, step, hand, what )
{
	const [names, inputs] = await state( page, "[player.model.dofs, player.model.inputs]" );
	const expected = predict( truth, names, inputs, integrator, step, hand );
	const found = await state( page, "({ positions: [...player.positions], velocities: [...player.velocities], trust: [...player.trust] })" );
	let wrong = 0;
	for ( let k = 0; k < truth.samples; ++k )
		for ( let j = 0; j < 2; ++j )
			wrong += found.positions[2 * k + j] !== expected.positions[j][k] || found.velocities[2 * k + j] !== expected.velocities[j][k] ||
				found.trust[k] !== expected.trust[k];
	check( wrong === 0 && truth.samples > 50, `${what}: angles, speeds and trust of ${truth.samples} samples as limber predict's, bit for bit; ${wrong} are not` );
	return found;
}

async function sameBits( page )
{
	const none = () => 0, ids = { euler: 0, rk4: 1, midpoint: 2, "dormand-prince": 3 }, seen = [];
	for ( const [index, integrator, step] of [[0, "rk4", 0.005], [1, "rk4", 0.01], [1, "euler", 0.002], [1, "midpoint", 0.005], [0, "dormand-prince", 0.005]] )
	{
		await page.selectOption( "#motion", String( index ) );
		await page.selectOption( "#integrator", String( ids[integrator] ) );
		await page.selectOption( "#step", String( step ) );
		seen.push( await same( page, truthOf( index ), integrator, step, none, `${integrator}, ${step} s` ) );
	}
	// The comparison can fail.
	check( seen[1].positions.at( -1 ) !== seen[2].positions.at( -1 ), "another integrator ends elsewhere" );
	await page.selectOption( "#integrator", "1" );
	await page.selectOption( "#step", "0.005" );
	// The numbers under the test are the page's own.
	const truth = truthOf( 0 );
	await state( page, "limber.seek( player.duration )" );
	const ends = await state( page, "[...player.positions]" );
	const sum = ends.reduce( ( s, x, at ) => s + ( x - truth.positions[at] ) ** 2, 0 );
	near( await state( page, "player.error()" ) / ( 180 / Math.PI * Math.sqrt( sum / ends.length ) ), 1, 1e-12, "RMS of the angles" );
	await press( page, "Home" );
}

async function plays( page )
{
	const was = await state( page, "player.time" );
	await page.waitForFunction( ( t ) => limber.player.time !== t, was );
	await pause( page );
	const held = await state( page, "player.time" );
	await page.waitForTimeout( 120 );
	check( await state( page, "player.time" ) === held, "the button pauses" );
	await press( page, " " );
	check( await state( page, "player.playing" ), "space plays" );
	await press( page, " " );
	await press( page, "Home" );
	await press( page, "ArrowRight" );
	near( await state( page, "player.time" ), 0.01, 1e-12, "a sample on" );
	await press( page, "ArrowLeft" );
	near( await state( page, "player.time" ), 0, 1e-12, "a sample back" );
	await slide( page, "scrub", 0.5 );
	near( await state( page, "player.time" ), 0.4, 1e-5, "scrubbing" );
	await page.click( "#loop" );
	await page.click( "#play" );
	await page.waitForFunction( () => !limber.player.playing );
	near( await state( page, "player.time - player.duration" ), 0, 1e-12, "without the loop it ends at the end" );
	await page.click( "#loop" );
	await page.click( "#play" );
	await page.waitForFunction( () => limber.player.time > 0.05 && limber.player.time < 0.5 );
	await press( page, "[" );
	near( await state( page, "player.speed" ), 0.5, 0, "[ is slower" );
	await page.selectOption( "#speed", "1" );
	near( await state( page, "player.speed" ), 1, 0, "the menu too" );
	await pause( page );
	const motion = await page.inputValue( "#motion" );
	await press( page, "m" );
	check( await page.inputValue( "#motion" ) !== motion, "M takes the next motion" );
	await page.selectOption( "#test", "1" );
	check( ( await page.locator( "#motion option" ).allTextContents() ).some( ( name ) => name.includes( "pulse" ) ), "another test, other motions" );
	await page.selectOption( "#test", "0" );
}

async function hands( page )
{
	await press( page, "Home" );
	await state( page, "limber.seek( 0.3 )" );
	await settle( page );
	check( /° RMS from the truth/.test( await page.textContent( "#error" ) ), "comparable at first" );
	const range = Number( await page.getAttribute( "#input-1", "max" ) );
	await slide( page, "input-1", range / 2 );
	await page.click( "#pulse-0" );
	await settle( page );
	// From 0.3 s on: half the range on the second input, and a pulse of 0.1 s on the first.
	const hand = ( k, i ) => k < 30 ? 0 : i === 1 ? range / 2 : k < 40 ? range0 / 2 : 0, range0 = Number( await page.getAttribute( "#input-0", "max" ) );
	await same( page, truthOf( 0 ), "rk4", 0.005, hand, "by hand" );
	check( /not comparable/.test( await page.textContent( "#error" ) ), "the page says that the truth did not feel it" );
	check( Number( ( await page.textContent( "#input-1 + output" ) ) ) === range / 2, "the slider says its value" );
	await press( page, "Home" );
	await same( page, truthOf( 0 ), "rk4", 0.005, ( k, i ) => i === 1 ? range / 2 : 0, "from the start: the slider's alone" );
	await page.click( "#let-go" );
	await same( page, truthOf( 0 ), "rk4", 0.005, () => 0, "as recorded" );
	check( /° RMS from the truth/.test( await page.textContent( "#error" ) ) && await page.inputValue( "#input-1" ) === "0", "comparable again" );
	await press( page, "p" );
	check( await state( page, "player.hand[0] === player.pulseOf( 0 )" ), "P pulses the first input" );
	await page.click( "#let-go" );
	// Far beyond the data the score grows over 1.
	await slide( page, "input-0", range0 );
	await slide( page, "input-1", range );
	await state( page, "limber.seek( player.duration )" );
	const score = await state( page, "player.trust[player.now]" );
	await settle( page );
	check( ( await page.textContent( "#trust" ) ).includes( `${score.toFixed( 2 )}: ${score <= 1 ? "inside" : "beyond"}` ), `the score is the model's: ${score}` );
	check( await page.locator( "#charts canvas" ).count() === 5, "charts of two angles, the score and two inputs" );
	check( await page.evaluate( () => [...document.querySelectorAll( "#charts canvas" )].every( ( c ) =>
		new Set( c.getContext( "2d" ).getImageData( 0, 0, c.width, c.height ).data ).size > 10 ) ), "and they are drawn" );
	await page.click( "#let-go" );
}

/* A limb without a recording: dragged to its start, swinging under torques alone. */
async function swings( page )
{
	await pause( page );
	await press( page, "Home" );
	const tip = await state( page, "stage.pixel( stage.tips.at( -1 ).place )" ), elbow = await state( page, "stage.pixel( stage.tips[1].place )" );
	const box = await page.locator( "#figure" ).boundingBox();
	await page.mouse.move( box.x + tip[0], box.y + tip[1] );
	await page.mouse.down();
	await page.mouse.move( box.x + elbow[0], box.y + elbow[1] - 90, { steps: 3 } );
	await page.mouse.up();
	await pause( page );
	const [shoulder, bend] = await state( page, "[...player.free.positions]" );
	// The forearm points up now: shoulder and elbow turn it by a quarter together.
	near( Math.cos( shoulder + bend - Math.PI / 2 ), 1, 1e-3, "the forearm follows the pointer" );
	await press( page, "Home" );
	near( await state( page, "player.positions[1]" ), bend, 0, "and begins there" );
	check( await page.textContent( "#error" ) === "", "nothing to compare with" );
	const rest = await state( page, "player.positions.at( -1 )" );
	await page.click( "#pulse-1" );
	check( Math.abs( await state( page, "player.positions.at( -1 )" ) - rest ) > 0.01, "a pulse moves it" );
	await page.click( "#let-go" );
}

const browser = await launch(), page = await open( browser, served );
await plays( page );
await sameBits( page );
await hands( page );
await page.selectOption( "#test", "2" );
await swings( page );
await page.emulateMedia( { colorScheme: "dark" } );
check( await page.evaluate( () => getComputedStyle( document.body ).backgroundColor ) === "rgb(25, 27, 31)", "dark when the system is" );
await page.setViewportSize( { width: 360, height: 700 } );
await settle( page );
check( await page.evaluate( () => document.documentElement.scrollWidth <= 360 ), "nothing sticks out of a narrow screen" );
await page.context().close();

const empty = await open( browser, `file://${bare}`, { offline: true, ready: false } );
check( await empty.locator( "#welcome" ).isVisible(), "a page without data asks for a model" );
const drop = async ( name, data ) => empty.dispatchEvent( "body", "drop", { dataTransfer: await empty.evaluateHandle( ( [n, text] ) =>
{
	const transfer = new DataTransfer();
	transfer.items.add( new File( [Uint8Array.from( atob( text ), ( c ) => c.charCodeAt( 0 ) )], n ) );
	return transfer;
}, [name, data.toString( "base64" )] ) } );
await drop( "model.safetensors", readFileSync( model ).subarray( 0, -9 ) );
await empty.waitForFunction( () => /not a/.test( document.getElementById( "message" ).textContent ) );
await drop( "model.safetensors", readFileSync( model ) );
await empty.waitForFunction( () => limber.player !== null );
await swings( empty );
// Models of every kind play, those without inputs and with slides too.
for ( const kind of ["", "-affine", "-plain", "-gru", "-lstm"] )
{
	await drop( `limb-1${kind}.safetensors`, readFileSync( new URL( `../golden/limb-1${kind}.safetensors`, import.meta.url ) ) );
	await empty.waitForFunction( ( name ) => document.getElementById( "name" ).textContent === name, `limb-1${kind}` );
	await settle( empty );
	const golden = new Tensors( new Uint8Array( readFileSync( new URL( `../golden/limb-1${kind}.safetensors`, import.meta.url ) ) ) );
	check( String( await state( empty, "player.slides.map( Number )" ) ) === String( [...golden.get( "dofs.slides" )] ), `limb-1${kind}: its slides` );
	check( await state( empty, "player.positions.length === player.motion.samples * 2" ), `limb-1${kind} is rolled out` );
	check( await empty.locator( "#integration" ).isHidden() === ["-gru", "-lstm"].includes( kind ), `limb-1${kind}: an integrator where there is one` );
}
await browser.close();
console.log( `limb: ${failed()} failures` );
process.exit( failed() > 0 ? 1 : 0 );
