// Skinned vertex positions of a glTF file as three.js computes them, for test_conformance.c and test_bake.c.
//
//     node three_positions.mjs CHARACTER OUT [CLIP TIME,TIME,...]
//
// writes OUT.json (which vertices at which times) and OUT.bin (float64 positions, scene space). Bone
// matrices, interpolation, node trees and accessors are three's; the blend is written out here because
// three keeps four influences a vertex and rounds to float32. Where a file has no more than four, the
// result is compared with SkinnedMesh.applyBoneTransform.
import { readFileSync, writeFileSync } from 'node:fs';

// What three's loaders expect of a browser.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class ProgressEvent {};

const THREE = await import( 'three' );
const { GLTFLoader } = await import( 'three/addons/loaders/GLTFLoader.js' );

const [ , , input, output, onlyClip, onlyTimes ] = process.argv;
const loader = new GLTFLoader();
loader.register( () => ( {
	name: 'no pictures',
	loadTexture: () => Promise.resolve( new THREE.Texture() )
} ) );
// Building a SkinnedMesh normalises its first four weights in place: keep what the file says before that.
const fileWeights = new Map();
loader.register( ( parser ) => ( {
	name: 'weights as they are',
	beforeRoot: async () => {

		for ( const mesh of parser.json.meshes ?? [] )
			for ( const { attributes } of mesh.primitives )
				for ( const [ name, index ] of Object.entries( attributes ) )
					if ( name.startsWith( 'WEIGHTS_' ) && ! fileWeights.has( index ) )
						fileWeights.set( index, ( await parser.getDependency( 'accessor', index ) ).clone() );

	}
} ) );
const file = readFileSync( input );
const gltf = await loader.parseAsync( file.buffer.slice( file.byteOffset, file.byteOffset + file.length ), '' );
const { parser, scene, animations } = gltf;

const FRACTIONS = [ 0, 0.0137, 0.191, 0.5, 0.773, 0.9991, 1 ];

function nodeIndex( mesh ) {

	for ( let object = mesh; object; object = object.parent ) {

		const association = parser.associations.get( object );
		if ( association?.nodes !== undefined ) return association.nodes;

	}

	throw new Error( `no node for ${ mesh.name }` );

}

async function readMesh( mesh ) {

	const { meshes, primitives } = parser.associations.get( mesh );
	const definition = parser.json.meshes[ meshes ].primitives[ primitives ];
	const positions = await parser.getDependency( 'accessor', definition.attributes.POSITION );
	const sets = [];
	for ( let n = 0; `JOINTS_${ n }` in definition.attributes; ++ n ) {

		sets.push( {
			joints: await parser.getDependency( 'accessor', definition.attributes[ `JOINTS_${ n }` ] ),
			weights: fileWeights.get( definition.attributes[ `WEIGHTS_${ n }` ] )
		} );

	}

	const targets = mesh.geometry.morphAttributes.position ?? [];
	return { mesh, targets, node: nodeIndex( mesh ), meshIndex: meshes, primitive: primitives, positions, sets };

}

function skin( { mesh, targets, positions, sets }, out ) {

	const skeleton = mesh.skeleton;
	const matrices = skeleton.bones.map( ( bone, i ) =>
		new THREE.Matrix4().multiplyMatrices( bone.matrixWorld, skeleton.boneInverses[ i ] ).elements );
	const check = new THREE.Vector3();
	let largest = 0;
	for ( let i = 0; i < positions.count; ++ i ) {

		let x = positions.getX( i ), y = positions.getY( i ), z = positions.getZ( i );
		targets.forEach( ( target, t ) => {

			const influence = mesh.morphTargetInfluences[ t ];
			x += influence * target.getX( i );
			y += influence * target.getY( i );
			z += influence * target.getZ( i );

		} );
		const sum = [ 0, 0, 0 ];
		let total = 0;
		for ( const { joints, weights } of sets ) {

			for ( let k = 0; k < 4; ++ k ) {

				const w = weights.getComponent( i, k );
				if ( w === 0 ) continue;
				const m = matrices[ joints.getComponent( i, k ) ];
				total += w;
				for ( let c = 0; c < 3; ++ c )
					sum[ c ] += w * ( m[ c ] * x + m[ 4 + c ] * y + m[ 8 + c ] * z + m[ 12 + c ] );

			}

		}

		for ( let c = 0; c < 3; ++ c ) out.push( sum[ c ] / total );
		if ( sets.length === 1 ) {

			mesh.applyBoneTransform( i, check.set( x, y, z ) ).applyMatrix4( mesh.matrixWorld );
			const [ a, b, c ] = out.slice( - 3 );
			largest = Math.max( largest, Math.hypot( check.x - a, check.y - b, check.z - c ) );

		}

	}

	return largest;

}

const found = [];
scene.traverse( ( object ) => object.isSkinnedMesh && found.push( object ) );
const meshes = await Promise.all( found.map( readMesh ) );
const rest = [];
scene.traverse( ( object ) => rest.push( [ object, object.position.clone(),
	object.quaternion.clone(), object.scale.clone(), object.morphTargetInfluences?.slice() ] ) );

const data = [], entries = [];
let blendDifference = 0;
for ( let clip = - 1; clip < animations.length; ++ clip ) {

	if ( onlyClip !== undefined && animations[ clip ]?.name !== onlyClip ) continue;
	const times = onlyTimes?.split( ',' ).map( Number ) ??
		( clip < 0 ? [ 0 ] : FRACTIONS.map( ( fraction ) => fraction * animations[ clip ].duration ) );
	for ( const time of times ) {

		for ( const [ object, position, quaternion, scale, influences ] of rest ) {

			object.position.copy( position );
			object.quaternion.copy( quaternion );
			object.scale.copy( scale );
			if ( influences ) object.morphTargetInfluences.splice( 0, influences.length, ...influences );

		}

		if ( clip >= 0 ) {

			const mixer = new THREE.AnimationMixer( scene );
			const action = mixer.clipAction( animations[ clip ] );
			action.setLoop( THREE.LoopOnce );
			action.clampWhenFinished = true;
			action.play();
			mixer.setTime( time );

		}

		// A glTF rotation is a unit quaternion; integer keys miss that by their rounding, and three leaves it.
		scene.traverse( ( object ) => object.quaternion.normalize() );
		scene.updateMatrixWorld( true );
		for ( const mesh of meshes ) {

			entries.push( { clip, time, node: mesh.node, mesh: mesh.meshIndex, primitive: mesh.primitive,
				count: mesh.positions.count, offset: data.length } );
			blendDifference = Math.max( blendDifference, skin( mesh, data ) );

		}

	}

}

writeFileSync( output + '.bin', new Uint8Array( Float64Array.from( data ).buffer ) );
writeFileSync( output + '.json', JSON.stringify( { blendDifference, clips: animations.length, entries } ) );
