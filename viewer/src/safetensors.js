/* Reads a .safetensors file: eight bytes of length, JSON, then the arrays. The runtime checks a model's own
 * rules; here only the header and the bounds are, so that no array reaches outside the file. */

const types = { F32: Float32Array, F64: Float64Array, I32: Int32Array, U32: Uint32Array, U16: Uint16Array,
	I16: Int16Array, U8: Uint8Array, I8: Int8Array };

export class Tensors
{
	constructor( bytes )
	{
		const wrong = ( why ) => new Error( `not a .safetensors file: ${why}` );
		if ( bytes.length < 8 )
			throw wrong( "too short" );
		const length = Number( new DataView( bytes.buffer, bytes.byteOffset ).getBigUint64( 0, true ) );
		if ( length > bytes.length - 8 )
			throw wrong( "the header is longer than the file" );
		try
		{
			this.header = JSON.parse( new TextDecoder().decode( bytes.subarray( 8, 8 + length ) ) );
		}
		catch
		{
			throw wrong( "the header is not JSON" );
		}
		this.data = bytes.subarray( 8 + length );
		this.metadata = this.header.__metadata__ ?? {};
	}

	has( name ) { return name in this.header && name !== "__metadata__"; }
	shape( name ) { return this.header[name].shape; }

	/* A copy as a typed array; null when the file has none of this name. */
	get( name )
	{
		if ( !this.has( name ) )
			return null;
		const { dtype, data_offsets: [from, to] } = this.header[name], Type = types[dtype];
		if ( Type === undefined || !( from >= 0 && from <= to && to <= this.data.length ) ||
			( to - from ) % Type.BYTES_PER_ELEMENT !== 0 )
			throw new Error( `not a .safetensors file: "${name}" lies outside it or has no known type` );
		return new Type( this.data.slice( from, to ).buffer );
	}
}
