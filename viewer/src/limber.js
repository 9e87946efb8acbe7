/* The runtime (src/runtime, compiled to WebAssembly) as JavaScript objects. Names and units are those of
 * include/limber/flesh.h. Nothing here computes: what a step gives is the runtime's own, bit for bit.
 *
 * Memory is one growing block: what was made after runtime.mark() goes away with runtime.release( mark ).
 * Arrays that calls return are views of that block. They hold until the next call; copy what must last. */

export const Layer = { none: 0, vertex: 1, modalUnfitted: 2, modal: 3, hybrid: 4 };

const readers = {
	i32: [4, ( view, at ) => view.getInt32( at, true ), ( view, at, x ) => view.setInt32( at, x, true )],
	f32: [4, ( view, at ) => view.getFloat32( at, true ), ( view, at, x ) => view.setFloat32( at, x, true )],
	f64: [8, ( view, at ) => view.getFloat64( at, true ), ( view, at, x ) => view.setFloat64( at, x, true )],
	bool: [1, ( view, at ) => view.getUint8( at ) !== 0, ( view, at, x ) => view.setUint8( at, x ? 1 : 0 )],
};

/* wasm: bytes, or a module that is compiled already. */
export async function loadRuntime( wasm )
{
	const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile( wasm );
	return new Runtime( ( await WebAssembly.instantiate( module, {} ) ).exports );
}

export class Runtime
{
	constructor( calls )
	{
		this.calls = calls;
		this.sizes = {};
		this.fields = {};
		const view = new DataView( calls.memory.buffer );
		const sizes = calls.lmbPage_Sizes(), fields = calls.lmbPage_Fields();
		for ( let i = 0; i < calls.lmbPage_SizeCount(); ++i )
		{
			const type = this.text( view.getUint32( sizes + 8 * i, true ) );
			this.sizes[type] = view.getUint32( sizes + 8 * i + 4, true );
			this.fields[type] = {};
		}
		for ( let i = 0; i < calls.lmbPage_FieldCount(); ++i )
		{
			const at = ( k ) => view.getUint32( fields + 16 * i + 4 * k, true );
			this.fields[this.text( at( 0 ) )][this.text( at( 1 ) )] = { kind: this.text( at( 2 ) ), offset: at( 3 ) };
		}
		this.kernels = this.text( calls.lmbKernels_Name( 0 ) );
	}

	view() { return new DataView( this.calls.memory.buffer ); }
	bytes( at, count ) { return new Uint8Array( this.calls.memory.buffer, at, count ); }
	floats( at, count ) { return new Float32Array( this.calls.memory.buffer, at, count ); }

	mark() { return this.calls.lmbPage_Mark(); }
	release( mark ) { this.calls.lmbPage_Release( mark ); }

	allocate( size )
	{
		const at = this.calls.lmbPage_Allocate( size );
		if ( at === 0 )
			throw new Error( `no memory for ${size} bytes` );
		return at;
	}

	put( bytes )
	{
		const at = this.allocate( bytes.length );
		this.bytes( at, bytes.length ).set( bytes );
		return at;
	}

	/* UTF-8 up to the zero byte; null for a NULL pointer. */
	text( at )
	{
		if ( at === 0 )
			return null;
		const memory = new Uint8Array( this.calls.memory.buffer );
		return new TextDecoder().decode( memory.slice( at, memory.indexOf( 0, at ) ) );
	}

	/* A struct in memory as a plain object; only the fields that viewer/wasm/page.c names. */
	read( type, at )
	{
		const view = this.view(), object = {};
		for ( const [name, field] of Object.entries( this.fields[type] ) )
			object[name] = readers[field.kind][1]( view, at + field.offset );
		return object;
	}

	/* Fields that the object has; an array fills an array. */
	write( type, at, object )
	{
		const view = this.view();
		for ( const [name, value] of Object.entries( object ) )
		{
			const field = this.fields[type][name];
			if ( field === undefined )
				throw new Error( `${type} has no field ${name}` );
			const [size, , set] = readers[field.kind];
			for ( const [i, number] of ( Array.isArray( value ) ? value : [value] ).entries() )
				set( view, at + field.offset + i * size, number );
		}
	}

	/* A struct that a call returns by value. */
	returned( type, call )
	{
		const mark = this.mark(), at = this.allocate( this.sizes[type] );
		call( at );
		const object = this.read( type, at );
		this.release( mark );
		return object;
	}

	check( status, what )
	{
		if ( status !== 0 )
			throw new Error( `${what}: ${this.text( this.calls.lmbStatus_Text( status ) )}` );
	}

	/* A model from the bytes of model.safetensors; an Error says what is wrong with them. */
	flesh( bytes ) { return new Flesh( this, bytes ); }
}

export class Flesh
{
	constructor( runtime, bytes )
	{
		const { calls } = runtime, start = runtime.mark();
		this.runtime = runtime;
		const out = runtime.allocate( 8 ), data = runtime.put( bytes );
		const size = calls.lmbFlesh_Size( data, bytes.length );
		const memory = runtime.allocate( size );
		const status = calls.lmbFlesh_Load( data, bytes.length, memory, size, out, out + 4 );
		const [pointer, problem] = [runtime.view().getUint32( out, true ), runtime.view().getUint32( out + 4, true )];
		if ( status !== 0 )
		{
			const why = runtime.text( problem ) ?? runtime.text( calls.lmbStatus_Text( status ) );
			runtime.release( start );
			throw new Error( `not a model that this page can load: ${why}` );
		}
		this.pointer = pointer;
		this.info = runtime.returned( "lmbFleshInfo", ( at ) => calls.lmbFlesh_Info( at, pointer ) );
		this.bones = [];
		for ( let j = 0; j < this.info.boneCount; ++j )
			this.bones.push( { name: runtime.text( calls.lmbFlesh_BoneName( pointer, j ) ),
				parent: calls.lmbFlesh_BoneParent( pointer, j ) } );
		this.triangles = new Uint32Array( runtime.calls.memory.buffer, calls.lmbFlesh_Triangles( pointer ),
			3 * this.info.triangleCount ).slice();
		this.bind = runtime.floats( calls.lmbFlesh_Bind( pointer ), 3 * this.info.vertexCount ).slice();
	}

	defaultDef()
	{
		const { runtime, pointer } = this;
		return runtime.returned( "lmbFleshDef", ( at ) => runtime.calls.lmbDefaultFleshDef( at, pointer ) );
	}

	/* An instance; def overrides fields of the default. */
	body( def = {} ) { return new FleshBody( this, { ...this.defaultDef(), ...def } ); }
}

export class FleshBody
{
	constructor( model, def )
	{
		const { runtime } = model, { calls } = runtime;
		this.model = model;
		this.runtime = runtime;
		this.def = def;
		const defAt = runtime.allocate( runtime.sizes.lmbFleshDef ), out = runtime.allocate( 4 );
		runtime.write( "lmbFleshDef", defAt, def );
		const size = calls.lmbFleshBody_Size( model.pointer, defAt );
		if ( size === 0 )
			throw new Error( "the model lacks these springs, or has no network" );
		runtime.check( calls.lmbFleshBody_Place( model.pointer, defAt, runtime.allocate( size ), size, out ), "body" );
		this.pointer = runtime.view().getUint32( out, true );
		this.boneNumbers = 12 * model.info.boneCount;
		this.bonesAt = runtime.allocate( 4 * this.boneNumbers );
		this.poseAt = runtime.allocate( runtime.sizes.lmbFleshPose );
		this.shapeAt = runtime.allocate( runtime.sizes.lmbFleshShape );
		this.directionAt = runtime.allocate( runtime.sizes.lmbFleshDirection );
		this.velocityAt = runtime.allocate( 24 );
	}

	/* bones: Float32Array (boneCount x 12); dt: s. Returns positions and normals (or null), views. */
	step( bones, dt, position = [0, 0, 0], rotation = [0, 0, 0, 1] )
	{
		const { runtime } = this, count = 3 * this.model.info.vertexCount;
		runtime.floats( this.bonesAt, this.boneNumbers ).set( bones );
		runtime.write( "lmbFleshPose", this.poseAt, { bones: this.bonesAt, position: [...position],
			rotation: [...rotation] } );
		runtime.check( runtime.calls.lmbFleshBody_Step( this.pointer, this.poseAt, dt, this.shapeAt ), "step" );
		const shape = runtime.read( "lmbFleshShape", this.shapeAt );
		return { positions: runtime.floats( shape.positions, count ),
			normals: shape.normals !== 0 ? runtime.floats( shape.normals, count ) : null };
	}

	reset() { this.runtime.calls.lmbFleshBody_Reset( this.pointer ); }
	teleport() { this.runtime.calls.lmbFleshBody_Teleport( this.pointer ); }
	pause( paused ) { this.runtime.calls.lmbFleshBody_Pause( this.pointer, paused ? 1 : 0 ); }

	/* gain, limit, stiffness, damping, acceleration; what is left out is at its default. */
	direct( direction )
	{
		const { runtime } = this;
		runtime.calls.lmbDefaultFleshDirection( this.directionAt );
		runtime.write( "lmbFleshDirection", this.directionAt, direction );
		runtime.check( runtime.calls.lmbFleshBody_Direct( this.pointer, this.directionAt ), "direction" );
	}

	push( velocity )
	{
		const view = this.runtime.view();
		velocity.forEach( ( x, i ) => view.setFloat64( this.velocityAt + 8 * i, x, true ) );
		this.runtime.check( this.runtime.calls.lmbFleshBody_Push( this.pointer, this.velocityAt ), "push" );
	}
}
