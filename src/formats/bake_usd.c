/* A motion as USD's text: https://openusd.org/release/glossary.html, UsdGeomMesh. */
#include "formats/bake_points.h"

#include "base/files.h"
#include "formats/character_rig.h"
#include "formats/number.h"

#include <math.h>
#include <stdio.h>

/* stdio remembers what went wrong while writing; it is asked once, at the end. */

static void WriteHead( FILE *stream, const lmbBakeFrames *frames )
{
	char rate[lmbNumberTextSize];
	lmbNumber_Print( frames->rate, rate );
	fprintf(
	    stream,
	    "#usda 1.0\n(\n    defaultPrim = \"Character\"\n    endTimeCode = %d\n    framesPerSecond = %s\n"
	    "    metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = %s\n    upAxis = \"Y\"\n)\n\n"
	    "def Xform \"Character\" (\n    kind = \"component\"\n)\n{\n",
	    frames->frameCount - 1, rate, rate );
}

/* Nine digits bring every float back. */
static void WritePoint( FILE *stream, const float *point )
{
	fprintf( stream, "(%.9g, %.9g, %.9g)", (double)point[0], (double)point[1], (double)point[2] );
}

static void WriteExtent( FILE *stream, const float *points, int count )
{
	float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
	for ( size_t i = 0; i < 3 * (size_t)count; ++i )
	{
		low[i % 3] = points[i] < low[i % 3] ? points[i] : low[i % 3];
		high[i % 3] = points[i] > high[i % 3] ? points[i] : high[i % 3];
	}
	fputc( '[', stream );
	WritePoint( stream, low );
	fputs( ", ", stream );
	WritePoint( stream, high );
	fputc( ']', stream );
}

static void WritePoints( FILE *stream, const float *points, int count )
{
	for ( int i = 0; i < count; ++i )
	{
		fputs( i == 0 ? "[" : ", ", stream );
		WritePoint( stream, points + 3 * (size_t)i );
	}
	fputc( ']', stream );
}

/* numberOf [vertexCount] is scratch: of a vertex among the mesh's points, part after part. */
static void WriteTriangles( FILE *stream, const lmbCharacter *character, const lmbBakeMesh *mesh,
                            int32_t *numberOf )
{
	int next = 0;
	const char *between = "";
	for ( int p = 0; p < character->partCount; ++p )
	{
		const lmbPart *part = &character->parts[p];
		if ( part->node != mesh->node )
			continue;
		for ( int i = 0; i < part->vertexCount; ++i )
			if ( character->rig->parts[p].used[i] )
				numberOf[part->firstVertex + i] = next++;
		const int32_t *triangles = character->triangles + 3 * (size_t)part->firstTriangle;
		for ( size_t i = 0; i < 3 * (size_t)part->triangleCount; ++i )
		{
			fprintf( stream, "%s%d", between, (int)numberOf[triangles[i]] );
			between = ", ";
		}
	}
}

static int TriangleCount( const lmbCharacter *character, const lmbBakeMesh *mesh )
{
	int count = 0;
	for ( int p = 0; p < character->partCount; ++p )
		count += character->parts[p].node == mesh->node ? character->parts[p].triangleCount : 0;
	return count;
}

/* Names have ASCII letters, digits and underscores, and no digit first. The node's number behind the last
 * underscore keeps several apart. */
static void WriteName( FILE *stream, const lmbBakeMesh *mesh, bool several )
{
	if ( mesh->name[0] >= '0' && mesh->name[0] <= '9' )
		fputc( '_', stream );
	for ( const char *c = mesh->name; *c != 0; ++c )
	{
		bool letter = ( *c >= 'a' && *c <= 'z' ) || ( *c >= 'A' && *c <= 'Z' ),
		     digit = *c >= '0' && *c <= '9';
		fputc( letter || digit ? *c : '_', stream );
	}
	if ( several )
		fprintf( stream, "_%d", mesh->node );
}

/* points [mesh->count x 3] and numberOf [vertexCount] are scratch. */
static void WriteMesh( FILE *stream, const lmbCharacter *character, const lmbBakeFrames *frames,
                       const lmbBakeMesh *mesh, float *points, int32_t *numberOf )
{
	fputs( "        float3[] extent.timeSamples = {\n", stream );
	for ( int f = 0; f < frames->frameCount; ++f )
	{
		lmbBakeMesh_Points( mesh, character, frames, f, points );
		fprintf( stream, "            %d: ", f );
		WriteExtent( stream, points, mesh->count );
		fputs( ",\n", stream );
	}
	fputs( "        }\n        int[] faceVertexCounts = [", stream );
	int triangles = TriangleCount( character, mesh );
	for ( int t = 0; t < triangles; ++t )
		fputs( t > 0 ? ", 3" : "3", stream );
	fputs( "]\n        int[] faceVertexIndices = [", stream );
	WriteTriangles( stream, character, mesh, numberOf );
	fputs( "]\n        point3f[] points.timeSamples = {\n", stream );
	for ( int f = 0; f < frames->frameCount; ++f )
	{
		lmbBakeMesh_Points( mesh, character, frames, f, points );
		fprintf( stream, "            %d: ", f );
		WritePoints( stream, points, mesh->count );
		fputs( ",\n", stream );
	}
	fputs( "        }\n        uniform token subdivisionScheme = \"none\"\n", stream );
}

static lmbStatus WriteMeshes( FILE *stream, const lmbCharacter *character, const lmbBakeFrames *frames,
                              lmbError *error )
{
	lmbArena scratch = { 0 };
	lmbBakeMeshes meshes = { 0 };
	lmbStatus status = lmbBakeMeshes_Find( character, &scratch, &meshes, error );
	int32_t *numberOf = LMB_NEW( &scratch, int32_t, character->vertexCount );
	if ( status == lmb_statusOk && numberOf == NULL )
		status = lmbError_Memory( error );
	for ( int m = 0; status == lmb_statusOk && m < meshes.count; ++m )
	{
		const lmbBakeMesh *mesh = &meshes.meshes[m];
		float *points = LMB_NEW( &scratch, float, 3 * (size_t)mesh->count );
		if ( points == NULL )
		{
			status = lmbError_Memory( error );
			break;
		}
		fputs( m > 0 ? "\n    def Mesh \"" : "    def Mesh \"", stream );
		WriteName( stream, mesh, meshes.several );
		fputs( "\"\n    {\n", stream );
		WriteMesh( stream, character, frames, mesh, points, numberOf );
		fputs( "    }\n", stream );
	}
	lmbArena_Free( &scratch );
	return status;
}

lmbStatus lmbBake_WriteUsd( const lmbCharacter *character, const lmbBakeFrames *frames, const char *path,
                            lmbError *error )
{
	lmbFileWriter writer;
	lmbNumberLocale locale;
	LMB_TRY( lmbBakeFrames_Check( character, frames, error ) );
	LMB_TRY( lmbNumberLocale_Begin( &locale, error ) );
	lmbStatus status = lmbFileWriter_Open( &writer, path, error );
	if ( status == lmb_statusOk )
	{
		WriteHead( writer.stream, frames );
		status = WriteMeshes( writer.stream, character, frames, error );
		fputs( "}\n", writer.stream );
		if ( status == lmb_statusOk && ferror( writer.stream ) != 0 )
			status = lmbError_Set( error, lmb_statusIo, "%s: cannot write; is the disk full?", path );
		if ( status == lmb_statusOk )
			status = lmbFileWriter_Commit( &writer, error );
		else
			lmbFileWriter_Abort( &writer );
	}
	lmbNumberLocale_End( &locale );
	return status;
}
