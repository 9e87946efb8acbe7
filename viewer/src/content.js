/* Where the page's data come from: out of the page itself, from `limber view`, or dropped on it. */
import { readCharacter } from "./glb.js";
import { loadRuntime } from "./limber.js";
import { Motion } from "./motion.js";
import { Tensors } from "./safetensors.js";
import { Tissue, Truth } from "./truth.js";
import wasm from "limber-runtime";

function decode( base64 )
{
	const text = atob( base64 ), bytes = new Uint8Array( text.length );
	for ( let i = 0; i < text.length; ++i )
		bytes[i] = text.charCodeAt( i );
	return bytes;
}

let compiled;
export async function newRuntime()
{
	compiled ??= await WebAssembly.compile( decode( wasm ) );
	return loadRuntime( compiled );
}

export async function blob( name )
{
	const inside = document.getElementById( `limber-blob-${name}` );
	if ( inside !== null )
		return decode( inside.textContent );
	const answer = await fetch( `data/${name}` );
	if ( !answer.ok )
		throw new Error( `the server of this page has no ${name}; is limber view still running?` );
	return new Uint8Array( await answer.arrayBuffer() );
}

const floats = ( bytes ) => new Float32Array( bytes.slice().buffer );

async function assemble( name, modelBytes, rest = {} )
{
	const runtime = await newRuntime(), model = runtime.flesh( modelBytes ), tensors = new Tensors( modelBytes );
	const makeTwin = async () =>
	{
		const other = await newRuntime();
		return { runtime: other, model: other.flesh( modelBytes ) };
	};
	return { name, runtime, model, tensors, makeTwin, motions: [], tissue: null, joints: null,
		interpolation: model.defaultDef().interpolation, ...rest };
}

/* What `limber view` put into the page, or null: a bare page that waits for files. */
export async function embedded( progress )
{
	const element = document.getElementById( "limber-manifest" );
	if ( element === null )
		return null;
	const manifest = JSON.parse( element.textContent ), boneCount = manifest.bones.length;
	progress( "model" );
	const modelBytes = await blob( "model" );
	const tissue = manifest.tissue ? new Tissue( new Tensors( await blob( "tissue" ) ) ) : null, motions = [];
	for ( const entry of manifest.motions )
	{
		progress( entry.name );
		const truth = entry.truth !== undefined && tissue !== null
			? new Truth( { ...entry.truth, frames: floats( await blob( entry.truth.blob ) ), nodeCount: tissue.nodeCount } ) : null;
		motions.push( new Motion( { ...entry, poses: floats( await blob( entry.blob ) ), boneCount, truth } ) );
	}
	return assemble( manifest.name, modelBytes, { motions, tissue, joints: manifest.bones.map( ( b ) => b.position ),
		interpolation: manifest.interpolation } );
}

/* Files dropped or chosen: a model, its character, or both; current is what is shown now (Nullable). */
export async function fromFiles( files, current )
{
	let content = current;
	const end = ( file, ending ) => file.name.toLowerCase().endsWith( ending );
	const models = files.filter( ( f ) => end( f, ".safetensors" ) ), characters = files.filter( ( f ) => end( f, ".glb" ) );
	if ( models.length + characters.length === 0 )
		throw new Error( `${files[0]?.name ?? "nothing"}: drop a model (.safetensors) and its character (.glb)` );
	if ( models.length > 0 )
		content = await assemble( models[0].name.replace( /\.safetensors$/i, "" ), new Uint8Array( await models[0].arrayBuffer() ) );
	if ( characters.length > 0 )
	{
		if ( content === null )
			throw new Error( "drop the model (.safetensors) first, or both together" );
		const character = await readCharacter( await characters[0].arrayBuffer(), content.model );
		content = { ...content, ...character, name: characters[0].name.replace( /\.glb$/i, "" ), tissue: null };
	}
	return content;
}
