#include "limb/load.h"

#include "base/files.h"

lmbStatus lmbLimb_LoadFile( const char *path, lmbArena *arena, lmbLimb **model, lmbError *error )
{
	char *data = NULL;
	size_t size = 0;
	const char *problem = NULL;
	*model = NULL;
	LMB_TRY( lmbFile_Read( path, arena, &data, &size, error ) );
	size_t needed = lmbLimb_Size( data, size );
	void *memory = lmbArena_New( arena, needed, 1 );
	if ( memory == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbLimb_Load( data, size, memory, needed, model, &problem );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "%s: %s", path, problem );
	return lmb_statusOk;
}

lmbStatus lmbLimb_NewBody( const lmbLimb *model, const lmbLimbDef *def, lmbArena *arena, lmbLimbBody **body,
                           lmbError *error )
{
	size_t size = lmbLimbBody_Size( model, def );
	*body = NULL;
	if ( size == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the longest step must be 1e-9 to 1e3 s and the tolerance 1e-7 to 1" );
	void *memory = lmbArena_New( arena, size, 1 );
	if ( memory == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbLimbBody_Place( model, def, memory, size, body );
	return status == lmb_statusOk ? status : lmbError_Set( error, status, "%s", lmbStatus_Text( status ) );
}
