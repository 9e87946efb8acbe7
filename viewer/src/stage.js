/* The figures under three.js: one for each column, side by side or overlaid, with bones, lattice, floor, and
 * what the pointer does. Reads the player, changes nothing in it but the hand. */
import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { computeNormals } from "./normals.js";
import { columnNames } from "./player.js";

/* The hue of a column where several lie over one another; linear RGB multiplies the clay. */
const overlaid = { skinning: 0x8a8f98, network: 0x3fa37c, dynamics: 0xffffff, perFrame: 0xe07b1f, truth: 0x3b78d8 };

/* How far the pointer must move to count as a grab, px. */
const grabDistance = 5;

export class Stage
{
	constructor( canvas, { onPick } )
	{
		this.canvas = canvas;
		this.onPick = onPick;
		this.renderer = new three.WebGLRenderer( { canvas, antialias: true } );
		this.scene = new three.Scene();
		this.camera = new three.PerspectiveCamera( 26, 1, 0.05, 200 );
		this.controls = new OrbitControls( this.camera, canvas );
		this.controls.enableDamping = false;
		this.controls.addEventListener( "change", () => { this.dirty = true; } );
		this.light = new three.HemisphereLight( 0xffffff, 0xb9aa96, 1.5 );
		this.key = new three.DirectionalLight( 0xfff4e6, 2.1 );
		this.rim = new three.DirectionalLight( 0xdfe9ff, 0.7 );
		this.key.position.set( 1.6, 2.4, 2.2 );
		this.rim.position.set( -2, 1.2, -2.4 );
		this.scene.add( this.light, this.key, this.rim );
		this.columns = {};
		this.arrangement = "side";
		this.bonesShown = this.latticeShown = false;
		this.follow = true;
		this.dirty = true;
		this.addPointer();
	}

	/* --- content --- */

	show( player )
	{
		this.clear();
		this.player = player;
		const { model, tensors } = player, bind = new three.Box3();
		this.groups = tensors.get( "normal_groups" ) ?? Int32Array.from( { length: player.vertexCount }, ( _, i ) => i );
		for ( let v = 0; v < model.bind.length; v += 3 )
			bind.expandByPoint( new three.Vector3( ...model.bind.subarray( v, v + 3 ) ) );
		this.height = Math.max( bind.max.y - bind.min.y, 0.1 );
		for ( const name of columnNames )
			this.columns[name] = this.makeColumn( model );
		this.makeFloor();
		this.makeBones();
		this.makeLattice();
		this.marker = new three.Mesh( new three.SphereGeometry( 0.011 * this.height, 20, 14 ),
			new three.MeshBasicMaterial( { color: 0xd1345b, depthTest: false, transparent: true } ) );
		this.marker.renderOrder = 5;
		this.marker.visible = false;
		this.scene.add( this.marker );
		this.newMotion();
	}

	clear()
	{
		const stays = new Set( [this.light, this.key, this.rim] );
		for ( const object of [...this.scene.children] )
			if ( !stays.has( object ) )
			{
				this.scene.remove( object );
				object.traverse( ( part ) =>
				{
					part.geometry?.dispose();
					part.material?.dispose();
				} );
			}
		this.columns = {};
	}

	makeColumn( model )
	{
		const geometry = new three.BufferGeometry(), count = model.bind.length;
		geometry.setIndex( new three.BufferAttribute( model.triangles, 1 ) );
		for ( const name of ["position", "normal", "color"] )
			geometry.setAttribute( name, new three.BufferAttribute( new Float32Array( count ), 3 ).setUsage( three.DynamicDrawUsage ) );
		const material = new three.MeshStandardMaterial( { vertexColors: true, roughness: 0.82, metalness: 0 } );
		const mesh = new three.Mesh( geometry, material ), group = new three.Group();
		mesh.frustumCulled = false;
		group.add( mesh );
		this.scene.add( group );
		return { group, mesh, geometry, material, colours: geometry.attributes.color.array };
	}

	/* A soft disc under each figure says where the ground is. */
	makeFloor()
	{
		const size = 128, pixels = new Uint8Array( 4 * size * size );
		for ( let y = 0; y < size; ++y )
			for ( let x = 0; x < size; ++x )
			{
				const r = Math.hypot( x - size / 2 + 0.5, y - size / 2 + 0.5 ) / ( size / 2 );
				pixels[4 * ( y * size + x ) + 3] = 255 * 0.26 * Math.pow( Math.max( 1 - r, 0 ), 1.6 );
			}
		const texture = new three.DataTexture( pixels, size, size );
		texture.magFilter = three.LinearFilter;
		texture.needsUpdate = true;
		for ( const column of Object.values( this.columns ) )
		{
			const disc = new three.Mesh( new three.PlaneGeometry( this.height, this.height ),
				new three.MeshBasicMaterial( { map: texture, transparent: true, depthWrite: false } ) );
			disc.rotation.x = -Math.PI / 2;
			column.disc = disc;
			column.group.add( disc );
		}
	}

	makeBones()
	{
		const { joints, model } = this.player;
		this.bones = null;
		if ( joints === null )
			return;
		const pairs = joints.flatMap( ( _, j ) => model.bones[j].parent >= 0 ? [model.bones[j].parent, j] : [] );
		const geometry = new three.BufferGeometry(), colour = 0x14323f;
		geometry.setAttribute( "position", new three.BufferAttribute( new Float32Array( 3 * joints.length ), 3 ) );
		geometry.setIndex( pairs );
		const lines = new three.LineSegments( geometry, new three.LineBasicMaterial( { color: colour, depthTest: false, transparent: true } ) );
		const points = new three.Points( geometry, new three.PointsMaterial( { color: colour, size: 7, sizeAttenuation: false,
			depthTest: false, transparent: true } ) );
		this.bones = new three.Group();
		for ( const part of [lines, points] )
		{
			part.frustumCulled = false;
			part.renderOrder = 4;
			this.bones.add( part );
		}
		this.boneGeometry = geometry;
		this.scene.add( this.bones );
	}

	makeLattice()
	{
		const { tissue } = this.player;
		this.lattice = null;
		if ( tissue === null )
			return;
		const geometry = new three.BufferGeometry();
		geometry.setAttribute( "position", new three.BufferAttribute( new Float32Array( 3 * tissue.nodeCount ), 3 ) );
		geometry.setIndex( new three.BufferAttribute( tissue.edges(), 1 ) );
		this.lattice = new three.LineSegments( geometry, new three.LineBasicMaterial( { color: 0x2c5f78, transparent: true, opacity: 0.42 } ) );
		this.lattice.frustumCulled = false;
		this.scene.add( this.lattice );
	}

	/* --- where things stand --- */

	/* The way of the first joint over a motion, smoothed, so that a figure that runs stays in the picture. */
	newMotion()
	{
		const { motion } = this.player, window = Math.round( 0.4 * motion.rate ), path = [];
		let low = Infinity, high = -Infinity, wide = 0, reach = 0;
		for ( let f = 0; f < motion.frames; ++f )
		{
			const places = this.jointPlaces( motion.sample( f ) ), at = [places[0], places[1], places[2]];
			path.push( at );
			for ( let j = 0; j < places.length; j += 3 )
			{
				low = Math.min( low, places[j + 1] );
				high = Math.max( high, places[j + 1] );
				wide = Math.max( wide, Math.abs( places[j] - at[0] ) );
				reach = Math.max( reach, Math.hypot( places[j] - at[0], places[j + 2] - at[2] ) );
			}
		}
		this.path = path.map( ( _, f ) =>
		{
			const around = path.slice( Math.max( f - window, 0 ), f + window + 1 );
			return [0, 2].map( ( axis ) => around.reduce( ( sum, p ) => sum + p[axis], 0 ) / around.length );
		} );
		this.ground = Math.min( ...this.lowest() );
		this.spread = 2 * Math.max( wide, 0.16 * this.height ) + 0.14 * this.height;
		this.turned = 2 * Math.max( reach, 0.16 * this.height ) + 0.14 * this.height; /* wide from any side */
		this.top = Math.max( high + 0.1 * this.height, this.ground + this.height );
		this.frameAll();
	}

	/* Joints where they are known, else some of the skin in bind, carried by its heaviest bone. */
	jointPlaces( bones )
	{
		const { joints, model } = this.player, out = [];
		const put = ( j, x, y, z ) =>
		{
			for ( let row = 0; row < 3; ++row )
				out.push( bones[12 * j + 4 * row] * x + bones[12 * j + 4 * row + 1] * y + bones[12 * j + 4 * row + 2] * z + bones[12 * j + 4 * row + 3] );
		};
		if ( joints !== null )
			joints.forEach( ( p, j ) => put( j, ...p ) );
		else
		{
			const owners = this.player.tensors.get( "vertex_bones" ), many = owners.length * 3 / model.bind.length;
			for ( let v = 0; v < this.player.vertexCount; v += 97 )
				put( owners[v * many], ...model.bind.subarray( 3 * v, 3 * v + 3 ) );
		}
		return out;
	}

	/* The lowest point of the skin at the start. */
	lowest()
	{
		const { positions } = this.player.shapes.dynamics;
		let low = Infinity;
		for ( let i = 1; i < positions.length; i += 3 )
			low = Math.min( low, positions[i] );
		return [low];
	}

	get visible() { return columnNames.filter( ( name ) => this.player.shown[name] ); }

	/* The camera so that all figures are in view. */
	frameAll()
	{
		const count = this.arrangement === "side" ? Math.max( this.visible.length, 1 ) : 1;
		const width = count > 1 ? count * this.spread : this.turned, height = 1.12 * ( this.top - this.ground ), { aspect, fov } = this.camera;
		const half = Math.tan( fov * Math.PI / 360 ), distance = Math.max( height / 2 / half, width / 2 / ( half * aspect ) ) + 0.3 * this.spread;
		const centre = new three.Vector3( 0, ( this.top + this.ground ) / 2, 0 );
		const turn = count > 1 ? 0.32 : 0.55;
		this.camera.position.set( distance * Math.sin( turn ) * 0.99, centre.y + 0.11 * distance, distance * Math.cos( turn ) );
		this.controls.target.copy( centre );
		this.controls.update();
		this.dirty = true;
	}

	resize()
	{
		const { clientWidth: width, clientHeight: height } = this.canvas;
		if ( width === 0 || height === 0 )
			return;
		this.renderer.setPixelRatio( Math.min( window.devicePixelRatio, 2 ) );
		this.renderer.setSize( width, height, false );
		this.camera.aspect = width / height;
		this.camera.updateProjectionMatrix();
		if ( this.player !== undefined )
			this.frameAll();
	}

	/* --- a picture --- */

	/* paint( column, colours ) fills the colours of a column. */
	draw( paint, background )
	{
		const { player } = this, { motion, hand } = player;
		const frame = Math.min( Math.round( player.time * motion.rate ), this.path.length - 1 );
		const [cx, cz] = this.follow ? this.path[frame] : this.path[0];
		const names = this.visible, side = this.arrangement === "side";
		names.forEach( ( name, i ) =>
		{
			const x = side ? ( i - ( names.length - 1 ) / 2 ) * this.spread : 0;
			this.columns[name].group.position.set( x - cx + hand.place[0], hand.place[1], hand.place[2] - cz );
			this.columns[name].disc.position.set( cx - hand.place[0], this.ground + 0.002 - hand.place[1], cz - hand.place[2] );
		} );
		for ( const name of columnNames )
		{
			const column = this.columns[name], on = player.shown[name];
			column.group.visible = on;
			if ( on )
				this.updateColumn( name, column, paint, !side && names.length > 1, names );
		}
		this.drawExtras( names );
		this.scene.background = new three.Color( background );
		this.renderer.render( this.scene, this.camera );
		this.dirty = false;
	}

	updateColumn( name, column, paint, over, names )
	{
		const { player } = this, shape = player.shapes[name], { geometry, material } = column;
		if ( shape === undefined )
			return;
		geometry.attributes.position.array.set( shape.positions );
		if ( shape.normals !== null )
			geometry.attributes.normal.array.set( shape.normals );
		else
			computeNormals( shape.positions, player.model.triangles, this.groups, geometry.attributes.normal.array );
		paint( name, column.colours );
		for ( const attribute of ["position", "normal", "color"] )
			geometry.attributes[attribute].needsUpdate = true;
		geometry.boundingSphere = null;
		const first = names.includes( "dynamics" ) ? "dynamics" : names[0], ghost = over && name !== first;
		material.transparent = ghost || this.latticeShown;
		material.opacity = ghost ? 0.4 : this.latticeShown ? 0.35 : 1;
		material.depthWrite = !ghost;
		material.color.set( ghost ? overlaid[name] : 0xffffff );
		column.mesh.renderOrder = ghost ? 2 : 1;
	}

	/* Bones, lattice and the picked vertex stand in one column: the simulation for the lattice, else dynamics. */
	drawExtras( names )
	{
		const { player } = this, main = names.includes( "dynamics" ) ? "dynamics" : names[0];
		if ( this.bones !== null )
		{
			this.bones.visible = this.bonesShown && main !== undefined;
			if ( this.bones.visible )
			{
				this.boneGeometry.attributes.position.array.set( this.jointPlaces( player.bones ) );
				this.boneGeometry.attributes.position.needsUpdate = true;
				this.bones.position.copy( this.columns[main].group.position );
			}
		}
		if ( this.lattice !== null )
		{
			const at = names.includes( "truth" ) ? "truth" : main;
			this.lattice.visible = this.latticeShown && at !== undefined;
			if ( this.lattice.visible )
			{
				const nodes = this.lattice.geometry.attributes.position;
				if ( at === "truth" )
					nodes.array.set( player.nodes );
				else
					player.tissue.skinNodes( player.bones, nodes.array );
				nodes.needsUpdate = true;
				this.lattice.position.copy( this.columns[at].group.position );
			}
		}
		this.marker.visible = this.picked !== undefined && main !== undefined;
		if ( this.marker.visible )
		{
			const { positions } = player.shapes[main];
			this.marker.position.set( ...positions.subarray( 3 * this.picked, 3 * this.picked + 3 ) )
				.add( this.columns[main].group.position );
		}
	}

	/* Where a column's label goes, in px of the canvas, under its feet. */
	labelPlace( name )
	{
		const side = this.arrangement === "side" ? this.visible.indexOf( name ) - ( this.visible.length - 1 ) / 2 : 0;
		const at = new three.Vector3( side * this.spread, this.ground - 0.04 * this.height, 0 );
		at.project( this.camera );
		return [( at.x + 1 ) / 2 * this.canvas.clientWidth, ( 1 - at.y ) / 2 * this.canvas.clientHeight];
	}

	/* --- the pointer --- */

	addPointer()
	{
		const { canvas } = this;
		// Before OrbitControls sees it, so that a grab is not a turn too.
		canvas.addEventListener( "pointerdown", ( event ) => this.down( event ), { capture: true } );
		canvas.addEventListener( "pointermove", ( event ) => this.move( event ) );
		for ( const end of ["pointerup", "pointercancel"] )
			canvas.addEventListener( end, ( event ) => this.up( event ) );
	}

	cast( event )
	{
		const box = this.canvas.getBoundingClientRect(), ray = new three.Raycaster();
		ray.setFromCamera( new three.Vector2( ( event.clientX - box.left ) / box.width * 2 - 1,
			1 - ( event.clientY - box.top ) / box.height * 2 ), this.camera );
		return ray;
	}

	hit( event )
	{
		if ( this.player === undefined )
			return null;
		const meshes = this.visible.map( ( name ) => this.columns[name].mesh );
		this.scene.updateMatrixWorld();
		return this.cast( event ).intersectObjects( meshes, false )[0] ?? null;
	}

	down( event )
	{
		if ( event.button !== 0 || this.grip !== undefined )
			return;
		const hit = this.hit( event );
		if ( hit === null )
			return;
		this.controls.enabled = false;
		const facing = this.camera.getWorldDirection( new three.Vector3() );
		this.grip = { hit, pointer: event.pointerId, x: event.clientX, y: event.clientY, moved: false,
			plane: new three.Plane().setFromNormalAndCoplanarPoint( facing, hit.point ) };
		this.canvas.setPointerCapture( event.pointerId );
	}

	move( event )
	{
		const { grip } = this;
		if ( grip === undefined )
		{
			if ( event.pointerType === "mouse" && event.buttons === 0 )
				this.canvas.style.cursor = this.hit( event ) !== null ? "grab" : "";
			return;
		}
		if ( event.pointerId !== grip.pointer )
			return;
		grip.moved ||= Math.hypot( event.clientX - grip.x, event.clientY - grip.y ) > grabDistance;
		const at = this.cast( event ).ray.intersectPlane( grip.plane, new three.Vector3() );
		if ( !grip.moved || at === null )
			return;
		this.canvas.style.cursor = "grabbing";
		this.player.grab( at.sub( grip.hit.point ).clampLength( 0, 1.5 * this.height ).toArray() );
	}

	up( event )
	{
		const { grip } = this;
		if ( grip === undefined || event.pointerId !== grip.pointer )
			return;
		this.grip = undefined;
		this.controls.enabled = true;
		this.canvas.style.cursor = "";
		if ( grip.moved )
			this.player.letGo();
		else
			this.onPick( this.nearest( grip.hit ) );
	}

	/* The corner of the hit triangle that is nearest to the hit. */
	nearest( { face, point, object } )
	{
		const positions = object.geometry.attributes.position, local = object.worldToLocal( point.clone() );
		return [face.a, face.b, face.c].map( ( v ) => [v, local.distanceTo( new three.Vector3().fromBufferAttribute( positions, v ) )] )
			.sort( ( a, b ) => a[1] - b[1] )[0][0];
	}
}
