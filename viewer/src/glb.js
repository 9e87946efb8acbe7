/* A character that was dropped on the page: its animations as poses of the model's bones. */
import { AnimationMixer, Box3, Matrix4, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { Motion } from "./motion.js";

/* Samples a second are the clip's own keys a second, within these: between samples Motion is smooth, as the
 * tools are, where straight lines between keys would make flesh ring. */
const fewest = 10, most = 120;

/* Original names of the nodes; the loader changes some characters. */
function originalName( gltf, object )
{
	const node = gltf.parser.associations.get( object )?.nodes;
	return node !== undefined ? gltf.parser.json.nodes[node].name ?? object.name : object.name;
}

/* Bones of the file by name, the second of a name as "NAME #2", as the tools call them. */
function skeletonOf( gltf )
{
	const found = new Map(), seen = new Set(), extent = new Box3();
	gltf.scene.traverse( ( mesh ) =>
	{
		if ( !mesh.isSkinnedMesh )
			return;
		mesh.geometry.computeBoundingBox();
		extent.union( mesh.geometry.boundingBox );
		mesh.skeleton.bones.forEach( ( bone, i ) =>
		{
			if ( seen.has( bone ) )
				return;
			seen.add( bone );
			const plain = originalName( gltf, bone );
			let name = plain;
			for ( let n = 2; found.has( name ); ++n )
				name = `${plain} #${n}`;
			found.set( name, { bone, inverse: mesh.skeleton.boneInverses[i] } );
		} );
	} );
	return { found, extent };
}

/* Metres per unit of the file, from the size of its skin and the model's. */
function unitOf( extent, model )
{
	const bind = new Box3().setFromArray( model.bind ), size = bind.getSize( new Vector3() ).toArray();
	const own = extent.getSize( new Vector3() ).toArray(), longest = size.indexOf( Math.max( ...size ) );
	const unit = size[longest] / own[longest];
	if ( !size.every( ( x, i ) => Math.abs( x - unit * own[i] ) < 0.02 * size[longest] ) )
		throw new Error( "this character has another shape than the model's: drop the one that the model was made from" );
	return unit;
}

function sampleClip( gltf, clip, parts, unit )
{
	const keys = Math.max( ...clip.tracks.map( ( track ) => track.times.length ), 2 );
	const rate = Math.min( Math.max( ( keys - 1 ) / Math.max( clip.duration, 1e-3 ), fewest ), most );
	const frames = Math.max( Math.floor( clip.duration * rate + 1e-6 ) + 1, 2 ), mixer = new AnimationMixer( gltf.scene );
	const poses = new Float32Array( frames * 12 * parts.length ), matrix = new Matrix4();
	mixer.clipAction( clip ).play();
	for ( let f = 0; f < frames; ++f )
	{
		mixer.setTime( Math.min( f / rate, clip.duration - 1e-6 ) );
		gltf.scene.updateMatrixWorld( true );
		parts.forEach( ( { bone, inverse }, j ) =>
		{
			const e = matrix.multiplyMatrices( bone.matrixWorld, inverse ).elements;
			for ( let row = 0; row < 3; ++row )
				for ( let column = 0; column < 4; ++column )
					poses[12 * ( f * parts.length + j ) + 4 * row + column] = e[4 * column + row] * ( column === 3 ? unit : 1 );
		} );
	}
	mixer.stopAllAction();
	mixer.uncacheRoot( gltf.scene );
	return new Motion( { name: clip.name || "animation", trained: false, rate, poses, boneCount: parts.length } );
}

/* { motions, joints } of a .glb for a model; an Error says what does not fit. */
export async function readCharacter( bytes, model )
{
	const gltf = await new GLTFLoader().parseAsync( bytes, "" ), { found, extent } = skeletonOf( gltf );
	const missing = model.bones.find( ( { name } ) => !found.has( name ) );
	if ( missing !== undefined )
		throw new Error( `this character has no bone "${missing.name}": drop the one that the model was made from` );
	const parts = model.bones.map( ( { name } ) => found.get( name ) ), unit = unitOf( extent, model );
	const joints = parts.map( ( { inverse } ) =>
		new Vector3().setFromMatrixPosition( inverse.clone().invert() ).multiplyScalar( unit ).toArray() );
	return { motions: gltf.animations.map( ( clip ) => sampleClip( gltf, clip, parts, unit ) ), joints };
}
