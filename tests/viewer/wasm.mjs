// The runtime in WebAssembly against the native one, every bit, for each layer of the archived models.
//   node wasm.mjs LIMBER.wasm NATIVE_RUN FOLDER MODEL...
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Layer, loadRuntime } from "../../viewer/src/limber.js";

const [wasm, native, folder, ...models] = process.argv.slice( 2 );
const frameCount = 60, dt = 1 / 60;
let failures = 0, runs = 0;

function expect( truth, what )
{
	if ( truth )
		return;
	console.error( `failed: ${what}` );
	failures += 1;
}

// Every bone bends, and the root walks and turns.
function makePoses( boneCount )
{
	const frameBytes = 48 * boneCount + 40, bytes = new Uint8Array( frameCount * frameBytes );
	const view = new DataView( bytes.buffer );
	for ( let f = 0; f < frameCount; ++f )
	{
		const time = f * dt, at = f * frameBytes;
		for ( let j = 0; j < boneCount; ++j )
			for ( let i = 0; i < 12; ++i )
			{
				const bend = j === 0 ? 0 : 0.15 * Math.sin( 6 * time + 0.9 * i + 2.1 * j );
				view.setFloat32( at + 48 * j + 4 * i, ( i % 5 === 0 ? 1 : 0 ) + bend, true );
			}
		[1.4 * time, 0.05 * Math.sin( 12 * time ), 0.3 * Math.sin( 2 * time )]
			.forEach( ( x, i ) => view.setFloat64( at + 48 * boneCount + 8 * i, x, true ) );
		[0, 0.3 * time, 0.1, 1]
			.forEach( ( x, i ) => view.setFloat32( at + 48 * boneCount + 24 + 4 * i, x, true ) );
	}
	return { bytes, view, frameBytes };
}

function same( a, b )
{
	return Buffer.compare( Buffer.from( a.buffer, a.byteOffset, a.byteLength ), b ) === 0;
}

function compare( runtime, path, layer, network, direction )
{
	const mark = runtime.mark();
	const model = runtime.flesh( readFileSync( path ) );
	const poses = makePoses( model.info.boneCount );
	const name = `${path} layer ${layer} network ${network}`;
	writeFileSync( `${folder}/poses`, poses.bytes );
	execFileSync( native, [path, `${folder}/poses`, layer, network ? 1 : 0, dt, `${folder}/golden`,
		direction.gain, direction.stiffness, direction.damping].map( String ) );
	const golden = readFileSync( `${folder}/golden` ), shapeBytes = 12 * model.info.vertexCount;
	expect( golden.length === frameCount * 2 * shapeBytes, `${name}: the golden's size` );
	const body = model.body( { layer, network } );
	body.direct( direction );
	for ( let f = 0; f < frameCount; ++f )
	{
		const at = f * poses.frameBytes, end = at + 48 * model.info.boneCount;
		const bones = new Float32Array( poses.bytes.slice( at, end ).buffer );
		const position = [0, 1, 2].map( ( i ) => poses.view.getFloat64( end + 8 * i, true ) );
		const rotation = [0, 1, 2, 3].map( ( i ) => poses.view.getFloat32( end + 24 + 4 * i, true ) );
		const { positions, normals } = body.step( bones, dt, position, rotation );
		const part = ( i ) => golden.subarray( ( 2 * f + i ) * shapeBytes, ( 2 * f + i + 1 ) * shapeBytes );
		expect( same( positions, part( 0 ) ), `${name}: positions of frame ${f}` );
		expect( same( normals, part( 1 ) ), `${name}: normals of frame ${f}` );
	}
	// The comparison can fail: without the springs the last frame is another one.
	if ( layer !== Layer.none )
	{
		const other = model.body( { layer: Layer.none, network } );
		const { positions } = other.step( new Float32Array( poses.bytes.slice( 0, 48 * model.info.boneCount ).buffer ), dt );
		expect( !same( positions, golden.subarray( -2 * shapeBytes, -shapeBytes ) ), `${name}: springs show` );
	}
	runtime.release( mark );
	runs += 1;
}

function refuses( runtime, bytes, what )
{
	const mark = runtime.mark();
	let message = "";
	try
	{
		runtime.flesh( bytes );
	}
	catch ( error )
	{
		message = error.message;
	}
	expect( message.includes( "not a model" ), `${what} is refused with a message, got "${message}"` );
	expect( runtime.mark() === mark, `${what}: the memory is given back` );
}

const runtime = await loadRuntime( readFileSync( wasm ) );
expect( runtime.kernels === "wasm", `the kernels are those of WebAssembly, got ${runtime.kernels}` );
for ( const path of models )
{
	const { info } = runtime.flesh( readFileSync( path ) );
	const layers = [Layer.none, info.hasVertexSprings && Layer.vertex, info.hasModes && Layer.modalUnfitted,
		info.hasFittedModes && Layer.modal, info.hasHybrid && Layer.hybrid].filter( Number.isInteger );
	for ( const layer of layers )
		for ( const network of info.hasNetwork ? [false, true] : [false] )
			compare( runtime, path, layer, network, { gain: 1, stiffness: 1, damping: 1 } );
	compare( runtime, path, layers.at( -1 ), info.hasNetwork, { gain: 1.5, stiffness: 0.5, damping: 0.25 } );
	const whole = readFileSync( path );
	refuses( runtime, whole.subarray( 0, whole.length - 1 ), `${path} without its last byte` );
}
refuses( runtime, new Uint8Array( 0 ), "an empty file" );
expect( runs > 10, `several layers were compared, got ${runs}` );
console.log( `${runs} runs of ${frameCount} frames, bit for bit; ${failures} failures` );
process.exit( failures === 0 ? 0 : 1 );
