/* Vertex normals as the runtime makes them (weighted by area, vertices at one place share theirs), for shapes
 * that do not come from it. */
export function computeNormals( positions, triangles, groups, out )
{
	out.fill( 0 );
	for ( let t = 0; t < triangles.length; t += 3 )
	{
		const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
		const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
		const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
		const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
		for ( let k = 0; k < 3; ++k )
		{
			const g = 3 * groups[triangles[t + k]];
			out[g] += nx;
			out[g + 1] += ny;
			out[g + 2] += nz;
		}
	}
	for ( let v = 0; v < groups.length; ++v )
	{
		const g = 3 * groups[v], n = 3 * v;
		const length = groups[v] === v ? Math.hypot( out[g], out[g + 1], out[g + 2] ) : 1;
		const scale = length > 0 ? 1 / length : 0;
		for ( let i = 0; i < 3; ++i )
			out[n + i] = out[g + i] * scale;
	}
}
