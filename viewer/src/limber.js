/* The runtime (src/runtime, compiled to WebAssembly) as JavaScript objects. Names and units are those of
 * include/limber/flesh.h and limb.h. Nothing here computes: what a step gives is the runtime's own, bit for bit.
 *
 * Memory is one growing block: what was made after runtime.mark() goes away with runtime.release( mark ).
 * Arrays that calls return are views of that block. They hold until the next call; copy what must last. */

export const Integrator = { euler: 0, rk4: 1, midpoint: 2, dormandPrince: 3 };
export const Layer = { none: 0, vertex: 1, modalUnfitted: 2, modal: 3, hybrid: 4 };
/* Of lmbStatus: a step went on all the same, and a body diverged. */
const notConverged = 7, numerical = 9;

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
	limb( bytes ) { return new Limb( this, bytes ); }

	/* Where lmbFlesh_Load or lmbLimb_Load put the model; kind "Flesh" or "Limb". */
	load( kind, bytes )
	{
		const { calls } = this, start = this.mark();
		const out = this.allocate( 8 ), data = this.put( bytes );
		const size = calls[`lmb${kind}_Size`]( data, bytes.length ), memory = this.allocate( size );
		const status = calls[`lmb${kind}_Load`]( data, bytes.length, memory, size, out, out + 4 );
		const [pointer, problem] = [this.view().getUint32( out, true ), this.view().getUint32( out + 4, true )];
		if ( status === 0 )
			return pointer;
		const why = this.text( problem ) ?? this.text( calls.lmbStatus_Text( status ) );
		this.release( start );
		throw new Error( `not a model that this page can load: ${why}` );
	}
}

export class Flesh
{
	constructor( runtime, bytes )
	{
		const { calls } = runtime, pointer = runtime.load( "Flesh", bytes );
		this.runtime = runtime;
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

export class Limb
{
	constructor( runtime, bytes )
	{
		const { calls } = runtime, pointer = runtime.load( "Limb", bytes );
		this.runtime = runtime;
		this.pointer = pointer;
		this.info = runtime.returned( "lmbLimbInfo", ( at ) => calls.lmbLimb_Info( at, pointer ) );
		const names = ( count, call ) => Array.from( { length: count }, ( _, i ) => runtime.text( call( pointer, i ) ) );
		this.dofs = names( this.info.dofCount, calls.lmbLimb_DofName );
		this.inputs = names( this.info.inputCount, calls.lmbLimb_InputName );
	}

	defaultDef()
	{
		const { runtime, pointer } = this;
		return runtime.returned( "lmbLimbDef", ( at ) => runtime.calls.lmbDefaultLimbDef( at, pointer ) );
	}

	/* An instance; def overrides fields of the default. */
	body( def = {} ) { return new LimbBody( this, { ...this.defaultDef(), ...def } ); }
}

export class LimbBody
{
	constructor( model, def )
	{
		const { runtime } = model, { calls } = runtime;
		this.model = model;
		this.runtime = runtime;
		this.def = def;
		const defAt = runtime.allocate( runtime.sizes.lmbLimbDef ), out = runtime.allocate( 4 );
		runtime.write( "lmbLimbDef", defAt, def );
		const size = calls.lmbLimbBody_Size( model.pointer, defAt );
		if ( size === 0 )
			throw new Error( "no such integrator, or a step out of range" );
		runtime.check( calls.lmbLimbBody_Place( model.pointer, defAt, runtime.allocate( size ), size, out ), "body" );
		this.pointer = runtime.view().getUint32( out, true );
		const { dofCount, inputCount } = model.info;
		this.places = { positions: [runtime.allocate( 8 * dofCount ), dofCount], velocities: [runtime.allocate( 8 * dofCount ), dofCount],
			inputs: [runtime.allocate( 8 * inputCount ), inputCount], end: [runtime.allocate( 8 * inputCount ), inputCount] };
	}

	/* The numbers at a place, as a view. */
	doubles( place ) { return new Float64Array( this.runtime.calls.memory.buffer, ...this.places[place] ); }

	/* rad (m), rad/s (m/s) */
	start( positions, velocities )
	{
		this.doubles( "positions" ).set( positions );
		this.doubles( "velocities" ).set( velocities );
		this.runtime.check( this.runtime.calls.lmbLimbBody_Start( this.pointer, this.places.positions[0], this.places.velocities[0] ), "start" );
	}

	/* Goes on by dt s. end: inputs that it goes straight to, or null: they are held. False when it diverged. */
	step( inputs, end, dt )
	{
		const { runtime, places } = this;
		this.doubles( "inputs" ).set( inputs );
		if ( end !== null )
			this.doubles( "end" ).set( end );
		const status = runtime.calls.lmbLimbBody_Step( this.pointer, places.inputs[0], end !== null ? places.end[0] : 0, dt );
		if ( status !== notConverged && status !== numerical )
			runtime.check( status, "step" );
		return status !== numerical;
	}

	/* Positions and velocities, views. */
	state()
	{
		this.runtime.calls.lmbLimbBody_State( this.pointer, this.places.positions[0], this.places.velocities[0] );
		return { positions: this.doubles( "positions" ), velocities: this.doubles( "velocities" ) };
	}

	/* -1: the model has none. */
	trust() { return this.runtime.calls.lmbLimbBody_Trust( this.pointer ); }
}
