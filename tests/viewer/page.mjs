// The page of `limber view` in a real browser: it loads, plays, and each control does what it says.
//   node page.mjs SERVED_URL FILE.html BARE.html FOLDER CHARACTER.glb
// FOLDER: the project's output, with run baked as PC2 at 60 Hz by the native runtime.
import { readFileSync } from "node:fs";
import { Tensors } from "../../viewer/src/safetensors.js";
import { bytes, check, failed, launch, near, open } from "./browser.mjs";

const [served, file, bare, folder, character] = process.argv.slice( 2 );
const metrics = JSON.parse( readFileSync( `${folder}/metrics.json` ) );
const browser = await launch(), began = Date.now();
const lap = ( what ) => console.log( `${( ( Date.now() - began ) / 1e3 ).toFixed( 1 )} s ${what}` );

const state = ( page, expression ) => page.evaluate( `(() => { const { player, stage } = limber; return ${expression}; })()` );
const settle = ( page ) => page.evaluate( () => new Promise( ( done ) => requestAnimationFrame( () => requestAnimationFrame( done ) ) ) );
/* The panel's control may lie below its edge; what a hand would scroll to. */
const choose = ( page, id, value ) => page.selectOption( `#${id}`, value );
const slide = ( page, id, value ) => page.locator( `#${id}` ).fill( String( value ) );
const press = async ( page, key ) => { await page.keyboard.press( key ); await settle( page ); };
const pause = async ( page ) => { if ( await state( page, "player.playing" ) ) await page.click( "#play" ); await settle( page ); };
const motionIndex = ( page, name ) => state( page, `String( player.motions.findIndex( ( m ) => m.name === ${JSON.stringify( name )} ) )` );

async function plays( page )
{
	check( ( await page.textContent( "#facts" ) ).match( /5,824 vertices · 14 bones · step \d\.\d\d ms/ ), `the facts: ${await page.textContent( "#facts" )}` );
	const shape = await state( page, "player.shapes.dynamics.positions[301]" );
	await page.waitForFunction( ( x ) => limber.player.shapes.dynamics.positions[301] !== x, shape );
	await page.click( "#play" );
	const held = await state( page, "player.time" );
	await page.waitForTimeout( 150 );
	check( await state( page, "player.time" ) === held, "the button pauses" );
	check( await page.getAttribute( "#play", "aria-label" ) === "Play", "the button says what it does next" );
	await page.locator( "#figure" ).focus();
	await press( page, " " );
	check( await state( page, "player.playing" ), "space plays" );
	await press( page, " " );
	await press( page, "Home" );
	await press( page, "ArrowRight" );
	near( await state( page, "player.time" ), 1 / 60, 1e-12, "a frame on" );
	await press( page, "ArrowLeft" );
	near( await state( page, "player.time" ), 0, 1e-12, "a frame back" );
	await slide( page, "scrub", 0.5 );
	near( await state( page, "player.time / player.motion.duration" ), 0.5, 1e-6, "scrubbing" );
	await page.click( "#loop" );
	await state( page, "player.seek( player.motion.duration - 0.05 )" );
	await page.click( "#play" );
	await page.waitForFunction( () => !limber.player.playing );
	near( await state( page, "player.time - player.motion.duration" ), 0, 1e-9, "without the loop it ends at the end" );
	await page.click( "#loop" );
	await page.click( "#play" );
	await page.waitForFunction( () => limber.player.time > 0.02 && limber.player.time < 0.3 );
	check( true, "with it, it begins anew" );
	await choose( page, "speed", "0.25" );
	near( await state( page, "player.dt" ), 1 / 240, 1e-12, "slow motion steps by less" );
	await page.locator( "#figure" ).focus();
	await press( page, "]" );
	near( await state( page, "player.speed" ), 0.5, 0, "] is faster" );
	await press( page, "[" );
	near( await state( page, "player.speed" ), 0.25, 0, "[ is slower" );
	await choose( page, "speed", "1" );
	await pause( page );
}

/* Every frame of a motion against the cache that the native runtime baked, every bit. */
async function sameBits( page, what )
{
	const cache = readFileSync( `${folder}/pc2/run.pc2` );
	const points = cache.readInt32LE( 16 ), frames = cache.readInt32LE( 28 );
	await choose( page, "motion", await motionIndex( page, "run" ) );
	await pause( page );
	await page.click( "#restart" );
	check( points === await state( page, "player.vertexCount" ) && frames > 10, `${frames} frames of ${points} points` );
	for ( let f = 0; f < frames; ++f )
	{
		if ( f > 0 )
			await state( page, "player.frame( 1 )" );
		const own = await bytes( page, "limber.player.shapes.dynamics.positions" );
		check( own.equals( cache.subarray( 32 + 12 * points * f, 32 + 12 * points * ( f + 1 ) ) ), `${what}: frame ${f}, bit for bit` );
	}
	// The comparison can fail.
	const skin = await bytes( page, "limber.player.rest.positions" );
	check( !skin.equals( cache.subarray( -12 * points ) ), "without springs it is another shape" );
}

/* Distances over a motion at the simulation's own rate against metrics.json, which the tools computed. */
async function sameErrors( page )
{
	const [motion] = Object.entries( metrics.motions ).filter( ( [, m] ) => !m.trained ), rms = motion[1].rms_mm;
	check( motion[1].frames_skipped === 0, "all frames of the fixture converged" );
	await choose( page, "motion", await motionIndex( page, motion[0] ) );
	for ( const column of ["skinning", "network", "dynamics", "truth"] )
		await page.setChecked( `[data-column=${column}]`, true );
	for ( const layer of ["vertex", "modal_unfitted", "modal", "hybrid"] )
	{
		await choose( page, "layer", String( { vertex: 1, modal_unfitted: 2, modal: 3, hybrid: 4 }[layer] ) );
		const found = await page.evaluate( ( frames ) =>
		{
			const { player } = limber, sums = { skinning: 0, network: 0, dynamics: 0 };
			player.playing = false;
			player.setPace( { rate: player.motion.truth.rate } );
			player.restart();
			for ( let f = 0; f < frames; ++f )
			{
				if ( f > 0 )
					player.frame( 1 );
				for ( const column of Object.keys( sums ) )
					sums[column] += player.error( column ) ** 2 / frames;
			}
			player.setPace( { rate: 60 } );
			return sums;
		}, motion[1].frames );
		// Frames of the simulation are stored less an origin, in single precision.
		for ( const [column, name] of [["skinning", "skinning"], ["network", "network"], ["dynamics", layer]] )
			near( Math.sqrt( found[column] ) / rms[name], 1, 1e-4, `RMS of ${name} as in metrics.json (${rms[name]} mm)` );
	}
}

async function layers( page )
{
	await page.setChecked( "[data-column=perFrame]", true );
	await settle( page );
	const names = ["skinning", "network", "dynamics", "perFrame", "truth"];
	const places = await state( page, `${JSON.stringify( names )}.map( ( n ) => stage.columns[n].group.position.x )` );
	check( places.every( ( x, i ) => i === 0 || x > places[i - 1] + 0.1 ), `side by side: ${places}` );
	check( await page.locator( "#labels span:visible" ).count() === 5, "each figure has its label" );
	check( ( await page.locator( "#labels" ).textContent() ).match( /Network\d+\.\d mm RMS/ ), "with its error in mm" );
	await page.click( "text=Overlaid" );
	await settle( page );
	const over = await state( page, `${JSON.stringify( names )}.map( ( n ) => stage.columns[n].group.position.x )` );
	check( over.every( ( x ) => Math.abs( x - over[0] ) < 1e-6 ), "overlaid" );
	await page.locator( "#figure" ).focus();
	await press( page, "o" );
	for ( const [i, name] of names.entries() )
	{
		await press( page, String( i + 1 ) );
		check( !await state( page, `stage.columns.${name}.group.visible` ), `key ${i + 1} hides ${name}` );
		await press( page, String( i + 1 ) );
		check( await state( page, `stage.columns.${name}.group.visible` ), `and shows it` );
	}
	await page.setChecked( "#bones", true );
	await page.setChecked( "#lattice", true );
	await settle( page );
	check( await state( page, "stage.bones.visible && stage.boneGeometry.index.count === 2 * 13" ), "13 bones have a parent" );
	check( await state( page, "stage.lattice.visible && stage.lattice.geometry.attributes.position.count === player.tissue.nodeCount" ), "the lattice" );
	await page.setChecked( "#bones", false );
	await page.setChecked( "#lattice", false );
	await settle( page );
	check( !await state( page, "stage.bones.visible || stage.lattice.visible" ), "and both go" );
}

async function colours( page )
{
	const tensors = new Tensors( new Uint8Array( readFileSync( `${folder}/model.safetensors` ) ) );
	const springs = tensors.get( "springs.vertex" ), softness = tensors.get( "softness" );
	const soft = softness.indexOf( Math.max( ...softness ) ), hard = softness.indexOf( 0 );
	const colour = ( v ) => state( page, `[...stage.columns.dynamics.colours.subarray( 3 * ${v}, 3 * ${v} + 3 )]` );
	await choose( page, "colour", "plain" );
	await settle( page );
	const clay = await colour( soft );
	check( await page.locator( "#legend" ).isHidden(), "no legend without colours" );
	for ( const [kind, title] of [["error", /Distance to the simulation, mm/], ["swing", /Swing, mm/], ["stiffness", /Stiffness k, 1\/s²/],
		["damping", /Damping c, 1\/s/], ["discriminant", /c² − 4k/]] )
	{
		await choose( page, "colour", kind );
		await settle( page );
		check( title.test( await page.textContent( "#legend-title" ) ), `legend: ${await page.textContent( "#legend-title" )}` );
		check( await page.locator( "#legend-ticks span" ).count() === 3, "the legend has numbers" );
		if ( kind !== "error" && hard >= 0 )
			check( String( await colour( hard ) ) === String( clay ) || kind === "swing", `${kind}: what no tissue moves is plain` );
		check( await state( page, "new Set( stage.columns.dynamics.colours ).size > 30" ), `${kind}: there are colours` );
	}
	// The ends of the legend are those of the model's own numbers.
	const k = [...softness.keys()].filter( ( v ) => softness[v] >= 0.5 ).map( ( v ) => springs[2 * v] ).sort( ( a, b ) => a - b );
	const share = ( s ) => k[Math.round( s * ( k.length - 1 ) )];
	await choose( page, "colour", "stiffness" );
	await settle( page );
	const ticks = await page.locator( "#legend-ticks span" ).allTextContents();
	near( Number( ticks[0] ) / share( 0.02 ), 1, 0.06, "soft k on the legend" );
	near( Number( ticks[2] ) / share( 0.98 ), 1, 0.06, "stiff k on the legend" );
	await page.locator( "#figure" ).focus();
	await press( page, "c" );
	check( await page.inputValue( "#colour" ) === "damping", "C takes the next colour" );
	await choose( page, "colour", "error" );
}

async function springs( page )
{
	// In one go: springs swing on for a while after a slider was moved.
	const away = "player.seek( 0.2 ), Math.max( ...player.shapes.dynamics.positions.map( ( x, i ) => Math.abs( x - player.rest.positions[i] ) ) )";
	const usual = await state( page, away );
	await slide( page, "gain", 0 );
	near( await state( page, away ), 0, 1e-7, "gain 0 is the network alone" );
	await slide( page, "gain", 2 );
	near( await state( page, away ) / usual, 2, 1e-3, "gain 2 swings twice as far" );
	await page.click( "#springs-reset" );
	check( await state( page, "player.direction.gain === 1 && player.direction.stiffness === 1" ), "as fitted" );
	for ( const id of ["stiffness", "damping"] )
	{
		await slide( page, id, 2 );
		near( await state( page, `player.direction.${id}` ), 4, 1e-12, `the slider of ${id} is in powers of two` );
		check( ( await page.locator( `#${id} + output` ).textContent() ) === "× 4", "and says so" );
		check( await state( page, away ) < 0.95 * usual, `more ${id} swings less` );
		await page.click( "#springs-reset" );
	}
	near( await state( page, away ), usual, 1e-12, "as before" );
}

async function rates( page )
{
	for ( const column of ["skinning", "network", "truth"] )
		await page.setChecked( `[data-column=${column}]`, false );
	for ( const rate of [15, 30, 120, 60] )
	{
		await page.locator( `#rates label:has([value="${rate}"])` ).click();
		near( await state( page, "player.dt" ), 1 / rate, 1e-12, `${rate} Hz` );
	}
	await page.locator( '#rates label:has([value="15"])' ).click();
	await page.click( "#play" );
	// Ten frames at 15 Hz take 600 ms and more; a slow machine may take longer.
	const seconds = await page.evaluate( () => new Promise( ( done ) =>
	{
		const tick = limber.player.tick, times = [];
		limber.player.tick = () =>
		{
			times.push( performance.now() );
			if ( times.length === 10 )
			{
				delete limber.player.tick;
				done( ( times.at( -1 ) - times[0] ) / 1e3 );
			}
			return tick.call( limber.player );
		};
	} ) );
	check( seconds > 0.5, `ten frames at 15 Hz took ${seconds} s` );
	lap( "  live at 15 Hz" );
	await slide( page, "stiffness", 3 );
	await page.waitForFunction( () => limber.player.perFrame.unstable > 0 );
	await page.waitForFunction( () => document.getElementById( "labels" ).textContent.includes( "unstable at 15 Hz" ) );
	await pause( page );
	lap( "  unstable" );
	await page.click( "#springs-reset" );
	await page.locator( '#rates label:has([value="60"])' ).click();
	await page.click( "#compare" );
	await page.waitForFunction( () => !document.getElementById( "comparison" ).hidden );
	lap( "  compared" );
	const [limber, frame] = await page.evaluate( async () =>
	{
		const { player, stage } = globalThis.limber;
		const curves = await player.compareRates( stage.picked, { rates: [15, 120], seconds: 1, axis: 1 }, async () => {} );
		const apart = ( kind ) => Math.max( ...curves[0][kind].map( ( x, i ) => Math.abs( x - curves[1][kind][8 * i] ) ) );
		return [apart( "dynamics" ), apart( "perFrame" )];
	} );
	check( limber < 0.5 * frame, `15 and 120 Hz are ${limber} mm apart, per frame ${frame} mm` );
	await page.locator( "#figure" ).focus();
	await press( page, "r" );
	check( await state( page, "player.rate" ) === 120, "R takes the next rate" );
	await page.locator( '#rates label:has([value="60"])' ).click();
}

/* Where the belly of a figure is on the screen. */
async function belly( page )
{
	return page.evaluate( () =>
	{
		const { stage } = limber, box = stage.canvas.getBoundingClientRect(), mesh = stage.columns.dynamics.mesh;
		for ( const y of [0.45, 0.5, 0.4, 0.55, 0.35, 0.6] )
			for ( let x = 0.02; x < 1; x += 0.01 )
			{
				const event = { clientX: box.left + x * box.width, clientY: box.top + y * box.height };
				if ( stage.hit( event )?.object === mesh )
					return [event.clientX + 8, event.clientY];
			}
		return null;
	} );
}

async function hands( page )
{
	for ( const column of ["network", "perFrame"] )
		await page.setChecked( `[data-column=${column}]`, false );
	await settle( page );
	const place = await belly( page );
	check( place !== null, "the figure is in the picture" );
	await page.mouse.click( ...place );
	const vertex = await state( page, "stage.picked" );
	check( ( await page.textContent( "#trace-hint" ) ).startsWith( `Vertex ${vertex}:` ), "a click picks a vertex" );
	await page.locator( "#figure" ).focus();
	await press( page, "ArrowRight" );
	const line = await state( page, `[player.displacement( ${vertex} ).dynamics[1],
		1e3 * ( player.shapes.dynamics.positions[3 * ${vertex} + 1] - player.rest.positions[3 * ${vertex} + 1] )]` );
	near( line[0], line[1], 1e-9, "the trace is its displacement" );
	check( await page.evaluate( () => { const c = document.getElementById( "trace" ); return new Set( c.getContext( "2d" ).getImageData( 0, 0, c.width, c.height ).data ).size > 10; } ), "and is drawn" );
	await page.mouse.move( ...place );
	await page.mouse.down();
	for ( let i = 1; i <= 6; ++i )
		await page.mouse.move( place[0] + 12 * i, place[1] - 8 * i );
	await page.waitForFunction( () => limber.player.hand.held && limber.player.displaced );
	await page.mouse.up();
	await page.waitForFunction( () => !limber.player.displaced );
	check( !await state( page, "player.hand.held" ), "let go, it comes home" );
	const view = await state( page, "stage.camera.position.toArray()" );
	const box = await page.locator( "#figure" ).boundingBox();
	await page.mouse.move( box.x + box.width - 30, box.y + 60 );
	await page.mouse.down();
	await page.mouse.move( box.x + box.width - 130, box.y + 80, { steps: 4 } );
	await page.mouse.up();
	check( Math.hypot( ...( await state( page, "stage.camera.position.toArray()" ) ).map( ( x, i ) => x - view[i] ) ) > 0.1, "beside it, the view turns" );
	await page.locator( "#figure" ).focus();
	await press( page, "v" );
	for ( const [key, button] of [["s", "#shake"], ["p", "#push"]] )
		for ( const act of [() => page.keyboard.press( key ), () => page.click( button )] )
		{
			await state( page, "player.seek( 0 )" );
			await act();
			await page.waitForFunction( () => limber.player.shapes.dynamics.positions.some( ( x, i ) =>
				Math.abs( x - limber.player.rest.positions[i] ) > 1e-3 ) );
		}
	await page.locator( "#figure" ).focus();
	const motion = await page.inputValue( "#motion" );
	await press( page, "m" );
	check( await page.inputValue( "#motion" ) !== motion, "M takes the next motion" );
	for ( const [key, id] of [["b", "bones"], ["g", "lattice"], ["f", "follow"], ["l", null]] )
	{
		const before = id === null ? await state( page, "player.loop" ) : await page.isChecked( `#${id}` );
		await press( page, key );
		check( before !== ( id === null ? await state( page, "player.loop" ) : await page.isChecked( `#${id}` ) ), `${key} switches` );
		await press( page, key );
	}
}

async function looks( page )
{
	await page.emulateMedia( { colorScheme: "dark" } );
	const dark = await page.evaluate( () => getComputedStyle( document.body ).backgroundColor );
	check( dark === "rgb(25, 27, 31)", `dark when the system is: ${dark}` );
	await page.locator( "label:has([name=theme][value=light])" ).click();
	check( await page.evaluate( () => getComputedStyle( document.body ).backgroundColor ) === "rgb(250, 248, 244)", "light when asked for" );
	const scrolled = await page.evaluate( () => [...document.querySelectorAll( "input, select, button, summary" )].map( ( e ) =>
	{
		e.focus();
		return document.documentElement.scrollTop + document.body.scrollTop;
	} ) );
	check( scrolled.every( ( x ) => x === 0 ), "going through the controls moves the panel, not the page" );
	await page.setViewportSize( { width: 360, height: 700 } );
	await settle( page );
	check( await page.evaluate( () => document.documentElement.scrollWidth <= 360 ), "nothing sticks out of a narrow screen" );
	check( await page.locator( "#panel" ).isHidden(), "there the settings are out of the way" );
	await page.click( "#more" );
	check( await page.locator( "#panel" ).isVisible(), "until they are asked for" );
	check( await page.evaluate( () => [...document.querySelectorAll( "#transport button, #transport input" )].filter( ( e ) => e.offsetParent !== null )
		.every( ( e ) => e.getBoundingClientRect().right <= 360 ) ), "all buttons are on the screen" );
}

/* Files dropped on a page that has nothing yet. */
async function drops( page )
{
	check( await page.locator( "#welcome" ).isVisible(), "a bare page says what to drop" );
	const drop = async ( files ) =>
	{
		const handle = await page.evaluateHandle( ( list ) =>
		{
			const transfer = new DataTransfer();
			for ( const { name, data } of list )
				transfer.items.add( new File( [Uint8Array.from( atob( data ), ( c ) => c.charCodeAt( 0 ) )], name ) );
			return transfer;
		}, files.map( ( [name, data] ) => ( { name, data: data.toString( "base64" ) } ) ) );
		await page.dispatchEvent( "body", "drop", { dataTransfer: handle } );
	};
	const model = readFileSync( `${folder}/model.safetensors` ), glb = readFileSync( character );
	const said = () => page.textContent( "#message" );
	await drop( [["notes.txt", Buffer.from( "no" )]] );
	await page.waitForFunction( () => document.getElementById( "message" ).textContent.includes( "notes.txt" ) );
	await drop( [["model.safetensors", model.subarray( 0, model.length - 9 )]] );
	await page.waitForFunction( () => document.getElementById( "message" ).textContent.includes( "not a model" ) );
	check( await page.evaluate( () => limber.player === null ), `what is no model is refused: ${await said()}` );
	await drop( [["model.safetensors", model], ["puppet.glb", glb]] );
	await page.waitForFunction( () => limber.player?.motions.length === 5 );
	await pause( page );
	await choose( page, "motion", await motionIndex( page, "run" ) );
	await page.click( "#restart" );
	const cache = readFileSync( `${folder}/pc2/run.pc2` );
	const own = new Float32Array( ( await bytes( page, "limber.player.shapes.dynamics.positions" ) ).buffer.slice( 0 ) );
	let most = 0;
	for ( let i = 0; i < cache.readInt32LE( 16 ) * 3; ++i )
		most = Math.max( most, Math.abs( own[i] - cache.readFloatLE( 32 + 4 * i ) ) );
	// Skinning matrices come from three.js here, in single precision and in another order.
	near( most, 0, 1e-5, "the first pose is that of the tools" );
}

const page = await open( browser, served );
lap( "served page loaded" );
await plays( page );
lap( "playing" );
await sameBits( page, "served" );
lap( "bits" );
await sameErrors( page );
lap( "errors" );
await layers( page );
await colours( page );
lap( "layers, colours" );
await springs( page );
await rates( page );
lap( "springs, rates" );
await hands( page );
lap( "hands" );
const step = await state( page, "player.stepTime" );
check( step > 0 && step < 2, `a step takes ${step} ms` );
console.log( `a step takes ${step.toFixed( 2 )} ms` );
await looks( page );
lap( "looks" );
await page.context().close();

const alone = await open( browser, `file://${file}`, { offline: true } );
await sameBits( alone, "one file" );
await alone.context().close();
lap( "one file" );
const empty = await open( browser, `file://${bare}`, { offline: true, ready: false } );
await drops( empty );
lap( "dropped files" );
await browser.close();
console.log( `${failed()} failures` );
process.exit( failed() === 0 ? 0 : 1 );
