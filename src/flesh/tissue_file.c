#include "flesh/tissue.h"

#include "base/math3.h"
#include "formats/safetensors.h"

#include <stdlib.h>

static const char formatName[] = "limber.tissue";

enum
{
	formatVersion = 1
};

lmbStatus lmbTissue_Write( const lmbTissue *tissue, const char *path, lmbError *error )
{
	lmbTensorWriter *writer = calloc( 1, sizeof( *writer ) );
	if ( writer == NULL )
		return lmbError_Memory( error );
	int64_t n = tissue->nodeCount, t = tissue->tetCount, v = tissue->vertexCount, k = tissue->influenceCount;
	int64_t boneCount = tissue->boneCount;
	lmbTensorWriter_Metadata( writer, "format", formatName );
	lmbTensorWriter_Metadata( writer, "version", "1" );
	lmbTensorWriter_Add( writer, "cell", lmb_dataF64, 1, ( int64_t[] ){ 1 }, &tissue->cell );
	lmbTensorWriter_Add( writer, "bone_count", lmb_dataI64, 1, ( int64_t[] ){ 1 }, &boneCount );
	lmbTensorWriter_Add( writer, "nodes", lmb_dataF64, 2, ( int64_t[] ){ n, 3 }, tissue->nodes );
	lmbTensorWriter_Add( writer, "tets", lmb_dataI32, 2, ( int64_t[] ){ t, 4 }, tissue->tets );
	lmbTensorWriter_Add( writer, "fill", lmb_dataF64, 1, &t, tissue->fill );
	lmbTensorWriter_Add( writer, "young", lmb_dataF64, 1, &t, tissue->young );
	lmbTensorWriter_Add( writer, "poisson", lmb_dataF64, 1, &t, tissue->poisson );
	lmbTensorWriter_Add( writer, "density", lmb_dataF64, 1, &t, tissue->density );
	lmbTensorWriter_Add( writer, "mass", lmb_dataF64, 1, &n, tissue->mass );
	lmbTensorWriter_Add( writer, "held", lmb_dataU8, 1, &n, tissue->held );
	lmbTensorWriter_Add( writer, "node_bones", lmb_dataI32, 2, ( int64_t[] ){ n, k }, tissue->nodeBones );
	lmbTensorWriter_Add( writer, "node_weights", lmb_dataF64, 2, ( int64_t[] ){ n, k }, tissue->nodeWeights );
	lmbTensorWriter_Add( writer, "skin_tets", lmb_dataI32, 1, &v, tissue->skinTets );
	lmbTensorWriter_Add( writer, "skin_weights", lmb_dataF64, 2, ( int64_t[] ){ v, 4 }, tissue->skinWeights );
	lmbTensorWriter_Add( writer, "softness", lmb_dataF64, 1, &v, tissue->softness );
	lmbStatus status = lmbTensorWriter_Write( writer, path, error );
	free( writer );
	return status;
}

/* Copies one array into the tissue's arena. shape as in lmbTensorFile_Get. */
static lmbStatus Read( const lmbTensorFile *file, const char *name, lmbDataType type, int rank,
                       int64_t *shape, lmbTissue *tissue, void *out, lmbError *error )
{
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, name, type, rank, shape, &data, error ) );
	size_t count = 1;
	for ( int i = 0; i < rank; ++i )
		count *= (size_t)shape[i];
	void *copy = lmbArena_New( &tissue->arena, count, lmbDataType_Size( type ) );
	if ( copy == NULL )
		return lmbError_Memory( error );
	if ( count > 0 )
		memcpy( copy, data, count * lmbDataType_Size( type ) );
	memcpy( out, &copy, sizeof( copy ) );
	return lmb_statusOk;
}

static lmbStatus ReadSizes( const lmbTensorFile *file, lmbTissue *tissue, int64_t *sizes, lmbError *error )
{
	const double *cell;
	const int64_t *bones;
	const void *unused;
	int64_t one = 1, nodes[2] = { -1, 3 }, tets[2] = { -1, 4 }, skin[2] = { -1, 4 }, influences[2];
	LMB_TRY( lmbTensorFile_Get( file, "cell", lmb_dataF64, 1, &one, (const void **)&cell, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "bone_count", lmb_dataI64, 1, &one, (const void **)&bones, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "nodes", lmb_dataF64, 2, nodes, &unused, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "tets", lmb_dataI32, 2, tets, &unused, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "skin_weights", lmb_dataF64, 2, skin, &unused, error ) );
	influences[0] = nodes[0];
	influences[1] = -1;
	LMB_TRY( lmbTensorFile_Get( file, "node_weights", lmb_dataF64, 2, influences, &unused, error ) );
	const int64_t limit = 100000000;
	if ( !( *cell > 0.0 ) || nodes[0] < 4 || nodes[0] > limit || tets[0] < 1 || tets[0] > limit ||
	     skin[0] < 1 || skin[0] > limit || influences[1] < 1 || influences[1] > 64 || *bones < 1 ||
	     *bones > limit )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: %lld nodes, %lld tetrahedra, %lld vertices, %lld influences, %lld bones and a "
		    "cell of %g m make no tissue; run `limber tissue` again",
		    file->path, (long long)nodes[0], (long long)tets[0], (long long)skin[0], (long long)influences[1],
		    (long long)*bones, *cell );
	tissue->cell = *cell;
	tissue->boneCount = (int)*bones;
	tissue->nodeCount = (int)nodes[0];
	tissue->tetCount = (int)tets[0];
	tissue->vertexCount = (int)skin[0];
	tissue->influenceCount = (int)influences[1];
	memcpy( sizes, ( int64_t[] ){ nodes[0], tets[0], skin[0], influences[1] }, 4 * sizeof( *sizes ) );
	return lmb_statusOk;
}

static lmbStatus ReadArrays( const lmbTensorFile *file, lmbTissue *s, lmbError *error )
{
	int64_t sizes[4] = { 0 };
	LMB_TRY( ReadSizes( file, s, sizes, error ) );
	int64_t n = sizes[0], t = sizes[1], v = sizes[2], k = sizes[3];
	LMB_TRY( Read( file, "nodes", lmb_dataF64, 2, ( int64_t[] ){ n, 3 }, s, &s->nodes, error ) );
	LMB_TRY( Read( file, "tets", lmb_dataI32, 2, ( int64_t[] ){ t, 4 }, s, &s->tets, error ) );
	LMB_TRY( Read( file, "fill", lmb_dataF64, 1, &t, s, &s->fill, error ) );
	LMB_TRY( Read( file, "young", lmb_dataF64, 1, &t, s, &s->young, error ) );
	LMB_TRY( Read( file, "poisson", lmb_dataF64, 1, &t, s, &s->poisson, error ) );
	LMB_TRY( Read( file, "density", lmb_dataF64, 1, &t, s, &s->density, error ) );
	LMB_TRY( Read( file, "mass", lmb_dataF64, 1, &n, s, &s->mass, error ) );
	LMB_TRY( Read( file, "held", lmb_dataU8, 1, &n, s, &s->held, error ) );
	LMB_TRY( Read( file, "node_bones", lmb_dataI32, 2, ( int64_t[] ){ n, k }, s, &s->nodeBones, error ) );
	LMB_TRY( Read( file, "node_weights", lmb_dataF64, 2, ( int64_t[] ){ n, k }, s, &s->nodeWeights, error ) );
	LMB_TRY( Read( file, "skin_tets", lmb_dataI32, 1, &v, s, &s->skinTets, error ) );
	LMB_TRY( Read( file, "skin_weights", lmb_dataF64, 2, ( int64_t[] ){ v, 4 }, s, &s->skinWeights, error ) );
	return Read( file, "softness", lmb_dataF64, 1, &v, s, &s->softness, error );
}

static lmbStatus Damaged( const char *path, const char *array, size_t row, const char *rule, lmbError *error )
{
	return lmbError_Set( error, lmb_statusCorrupt, "%s: %s[%zu] %s; run `limber tissue` again", path, array,
	                     row, rule );
}

static lmbStatus CheckTets( const lmbTissue *tissue, const char *path, lmbError *error )
{
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
	{
		const int32_t *n = tissue->tets + 4 * t;
		double edges[9];
		for ( int c = 0; c < 4; ++c )
			if ( n[c] < 0 || n[c] >= tissue->nodeCount )
				return Damaged( path, "tets", t, "names a node that is not there", error );
		for ( int c = 0; c < 3; ++c )
			lmbSub( edges + 3 * c, tissue->nodes + 3 * (size_t)n[c + 1], tissue->nodes + 3 * (size_t)n[0] );
		if ( !( lmbMat33_Determinant( edges ) > 0.0 ) )
			return Damaged( path, "tets", t, "has no positive volume", error );
		if ( !( tissue->fill[t] > 0.0 && tissue->fill[t] <= 1.0 ) )
			return Damaged( path, "fill", t, "is outside (0, 1]", error );
		if ( !( tissue->young[t] > 0.0 ) || !( tissue->density[t] > 0.0 ) )
			return Damaged( path, "young or density", t, "is not positive", error );
		if ( !( tissue->poisson[t] >= 0.0 && tissue->poisson[t] < 0.5 ) )
			return Damaged( path, "poisson", t, "is outside [0, 0.5)", error );
	}
	return lmb_statusOk;
}

static lmbStatus CheckNodes( const lmbTissue *tissue, const char *path, lmbError *error )
{
	for ( size_t i = 0; i < (size_t)tissue->nodeCount; ++i )
	{
		double sum = 0.0;
		for ( size_t k = i * tissue->influenceCount; k < ( i + 1 ) * tissue->influenceCount; ++k )
		{
			if ( tissue->nodeBones[k] < 0 || tissue->nodeBones[k] >= tissue->boneCount )
				return Damaged( path, "node_bones", i, "names a bone that is not there", error );
			if ( tissue->nodeWeights[k] < 0.0 )
				return Damaged( path, "node_weights", i, "is negative", error );
			sum += tissue->nodeWeights[k];
		}
		if ( !( fabs( sum - 1.0 ) < 1e-6 ) )
			return Damaged( path, "node_weights", i, "does not sum to 1", error );
		if ( !( tissue->mass[i] > 0.0 ) )
			return Damaged( path, "mass", i, "is not positive", error );
		if ( tissue->held[i] > 1 )
			return Damaged( path, "held", i, "is neither 0 nor 1", error );
	}
	return lmb_statusOk;
}

static lmbStatus CheckSkin( const lmbTissue *tissue, const char *path, lmbError *error )
{
	for ( size_t v = 0; v < (size_t)tissue->vertexCount; ++v )
	{
		const double *w = tissue->skinWeights + 4 * v;
		if ( tissue->skinTets[v] < 0 || tissue->skinTets[v] >= tissue->tetCount )
			return Damaged( path, "skin_tets", v, "names a tetrahedron that is not there", error );
		if ( !( fabs( w[0] + w[1] + w[2] + w[3] - 1.0 ) < 1e-6 ) )
			return Damaged( path, "skin_weights", v, "does not sum to 1", error );
		if ( !( tissue->softness[v] >= 0.0 && tissue->softness[v] <= 1.0 ) )
			return Damaged( path, "softness", v, "is outside [0, 1]", error );
	}
	return lmb_statusOk;
}

static lmbStatus LoadInto( lmbTensorFile *file, const char *path, lmbTissue *tissue, lmbError *error )
{
	LMB_TRY( lmbTensorFile_Open( file, path, formatName, formatVersion, error ) );
	LMB_TRY( ReadArrays( file, tissue, error ) );
	LMB_TRY( CheckTets( tissue, path, error ) );
	LMB_TRY( CheckNodes( tissue, path, error ) );
	return CheckSkin( tissue, path, error );
}

lmbStatus lmbTissue_Load( const char *path, lmbTissue **out, lmbError *error )
{
	*out = NULL;
	lmbTissue *tissue = calloc( 1, sizeof( *tissue ) );
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	if ( tissue == NULL || file == NULL )
	{
		free( tissue );
		free( file );
		return lmbError_Memory( error );
	}
	lmbStatus status = LoadInto( file, path, tissue, error );
	lmbTensorFile_Close( file );
	free( file );
	if ( status == lmb_statusOk )
		*out = tissue;
	else
		lmbTissue_Free( tissue );
	return status;
}
