/* The simulation: nodes of the lattice over time, and the skin in it. As lmbTissue_Skin:
 * skin = (1 - softness) skinning + softness (the weighted corners of the vertex's tetrahedron). */

export class Tissue
{
	constructor( tensors )
	{
		this.nodes = tensors.get( "nodes" );
		this.tets = tensors.get( "tets" );
		this.skinTets = tensors.get( "skin_tets" );
		this.skinWeights = tensors.get( "skin_weights" );
		this.nodeBones = tensors.get( "node_bones" );
		this.nodeWeights = tensors.get( "node_weights" );
		this.softness = tensors.get( "softness" );
		this.nodeCount = this.nodes.length / 3;
		this.influences = this.nodeBones.length / this.nodeCount;
	}

	/* Pairs of nodes, each edge of the tetrahedra once. */
	edges()
	{
		const seen = new Set(), pairs = [], corners = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
		for ( let t = 0; t < this.tets.length; t += 4 )
			for ( const [i, j] of corners )
			{
				const a = this.tets[t + i], b = this.tets[t + j], key = Math.min( a, b ) * this.nodeCount + Math.max( a, b );
				if ( seen.has( key ) )
					continue;
				seen.add( key );
				pairs.push( a, b );
			}
		return new Uint32Array( pairs );
	}

	/* Nodes carried by the bones alone: out (nodeCount x 3). */
	skinNodes( bones, out )
	{
		for ( let n = 0; n < this.nodeCount; ++n )
		{
			const x = this.nodes[3 * n], y = this.nodes[3 * n + 1], z = this.nodes[3 * n + 2];
			for ( let row = 0; row < 3; ++row )
			{
				let sum = 0;
				for ( let k = 0; k < this.influences; ++k )
				{
					const at = 12 * this.nodeBones[n * this.influences + k] + 4 * row;
					sum += this.nodeWeights[n * this.influences + k] *
						( bones[at] * x + bones[at + 1] * y + bones[at + 2] * z + bones[at + 3] );
				}
				out[3 * n + row] = sum;
			}
		}
	}

	/* out (vertexCount x 3) from nodes (nodeCount x 3) and skinning's own positions. */
	skin( nodes, skinning, out )
	{
		for ( let v = 0; v < this.softness.length; ++v )
		{
			const s = this.softness[v], tet = 4 * this.skinTets[v];
			for ( let axis = 0; axis < 3; ++axis )
			{
				let sum = 0;
				for ( let k = 0; k < 4; ++k )
					sum += this.skinWeights[4 * v + k] * nodes[3 * this.tets[tet + k] + axis];
				out[3 * v + axis] = ( 1 - s ) * skinning[3 * v + axis] + s * sum;
			}
		}
	}
}

export class Truth
{
	/* frames: Float32Array (frameCount x nodeCount x 3), less origin. */
	constructor( { rate, frames, nodeCount, origin } )
	{
		this.rate = rate;
		this.frames = frames;
		this.stride = 3 * nodeCount;
		this.count = frames.length / this.stride;
		this.origin = origin;
	}

	/* out (nodeCount x 3) at a time in s, straight between frames. */
	nodes( time, out )
	{
		const at = Math.min( Math.max( time * this.rate, 0 ), this.count - 1 ), f = Math.floor( at + 1e-6 );
		const t = Math.max( at - f, 0 ) < 1e-6 ? 0 : at - f, next = Math.min( f + 1, this.count - 1 );
		for ( let i = 0; i < this.stride; ++i )
		{
			const a = this.frames[f * this.stride + i], b = this.frames[next * this.stride + i];
			out[i] = a + t * ( b - a ) + this.origin[i % 3];
		}
	}
}
