/* VTK's XML format for unstructured grids, as text (VTK User's Guide, "VTK File Formats"). */
#include "flesh/tissue.h"

#include "base/files.h"

#include <stdarg.h>

typedef struct Text
{
	lmbFileWriter file;
	lmbStatus status;
	lmbError *error;
} Text;

__attribute__( ( format( printf, 2, 3 ) ) ) static void Put( Text *text, const char *format, ... )
{
	char line[256];
	va_list arguments;
	va_start( arguments, format );
	int length = vsnprintf( line, sizeof( line ), format, arguments );
	va_end( arguments );
	if ( text->status == lmb_statusOk )
		text->status = lmbFileWriter_Write( &text->file, line, (size_t)length, text->error );
}

static void PutDoubles( Text *text, const char *name, const double *values, size_t count, int width )
{
	Put( text, "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n", name,
	     width );
	for ( size_t i = 0; i < count * (size_t)width; ++i )
		Put( text, "%.9g%c", values[i], ( i + 1 ) % (size_t)width == 0 ? '\n' : ' ' );
	Put( text, "</DataArray>\n" );
}

static void PutHeader( Text *text, const char *type, const char *name )
{
	Put( text, "<DataArray type=\"%s\" Name=\"%s\" format=\"ascii\">\n", type, name );
}

static void PutPoints( Text *text, const lmbTissue *tissue )
{
	size_t count = (size_t)tissue->nodeCount;
	Put( text, "<PointData Scalars=\"held\">\n" );
	PutHeader( text, "UInt8", "held" );
	for ( size_t i = 0; i < count; ++i )
		Put( text, "%d\n", tissue->held[i] );
	Put( text, "</DataArray>\n" );
	PutHeader( text, "Int32", "bone" );
	for ( size_t i = 0; i < count; ++i )
		Put( text, "%d\n", (int)tissue->nodeBones[i * (size_t)tissue->influenceCount] );
	Put( text, "</DataArray>\n" );
	PutHeader( text, "Float64", "weight" );
	for ( size_t i = 0; i < count; ++i )
		Put( text, "%.6g\n", tissue->nodeWeights[i * (size_t)tissue->influenceCount] );
	Put( text, "</DataArray>\n" );
	PutDoubles( text, "mass", tissue->mass, count, 1 );
	Put( text, "</PointData>\n" );
}

static void PutCells( Text *text, const lmbTissue *tissue )
{
	size_t count = (size_t)tissue->tetCount;
	Put( text, "<CellData Scalars=\"fill\">\n" );
	PutDoubles( text, "fill", tissue->fill, count, 1 );
	PutDoubles( text, "young", tissue->young, count, 1 );
	PutDoubles( text, "poisson", tissue->poisson, count, 1 );
	PutDoubles( text, "density", tissue->density, count, 1 );
	Put( text, "</CellData>\n<Points>\n" );
	PutDoubles( text, "nodes", tissue->nodes, (size_t)tissue->nodeCount, 3 );
	Put( text, "</Points>\n<Cells>\n" );
	PutHeader( text, "Int32", "connectivity" );
	for ( size_t t = 0; t < count; ++t )
		Put( text, "%d %d %d %d\n", (int)tissue->tets[4 * t], (int)tissue->tets[4 * t + 1],
		     (int)tissue->tets[4 * t + 2], (int)tissue->tets[4 * t + 3] );
	Put( text, "</DataArray>\n" );
	PutHeader( text, "Int64", "offsets" );
	for ( size_t t = 0; t < count; ++t )
		Put( text, "%zu\n", 4 * t + 4 );
	Put( text, "</DataArray>\n" );
	PutHeader( text, "UInt8", "types" );
	for ( size_t t = 0; t < count; ++t )
		Put( text, "10\n" ); /* VTK_TETRA */
	Put( text, "</DataArray>\n</Cells>\n" );
}

lmbStatus lmbTissue_WriteVtu( const lmbTissue *tissue, const char *path, lmbError *error )
{
	Text text = { .error = error };
	LMB_TRY( lmbFileWriter_Open( &text.file, path, error ) );
	Put( &text, "<?xml version=\"1.0\"?>\n"
	            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
	            "<UnstructuredGrid>\n" );
	Put( &text, "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", tissue->nodeCount, tissue->tetCount );
	PutPoints( &text, tissue );
	PutCells( &text, tissue );
	Put( &text, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n" );
	if ( text.status == lmb_statusOk )
		return lmbFileWriter_Commit( &text.file, error );
	lmbFileWriter_Abort( &text.file );
	return text.status;
}
