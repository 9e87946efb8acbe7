#include "flesh/pipeline_show.h"

#include "base/files.h"
#include "flesh/pipeline_private.h"

#include <stdlib.h>

/* The tissue and the simulation, both or none. A fault in them is no reason not to show the model. */
static lmbStatus LoadTruth( lmbShow *show, const char *folder, lmbError *error )
{
	lmbPipeline *pipeline = show->pipeline;
	const char *tissuePath = lmbStages_Path( &pipeline->stages, "tissue.safetensors" );
	const char *manifest = lmbStages_Path( &pipeline->stages, "simulation/dataset.json" );
	lmbError problem = { 0 };
	if ( tissuePath == NULL || manifest == NULL )
		return lmbError_Memory( error );
	if ( !lmbFile_Exists( tissuePath ) )
		return lmb_statusOk;
	if ( lmbPipeline_NeedTissue( pipeline, &problem ) != lmb_statusOk )
	{
		lmbJob_Note( &pipeline->stages.job, "shown without lattice: %s", problem.message );
		return lmb_statusOk;
	}
	if ( pipeline->tissue->vertexCount != pipeline->character->vertexCount ||
	     pipeline->tissue->boneCount != pipeline->character->boneCount )
	{
		lmbJob_Note( &pipeline->stages.job, "%s: is of another character than %s; shown without lattice",
		             tissuePath, pipeline->character->path );
		return lmb_statusOk;
	}
	show->tissue = pipeline->tissue;
	show->tissuePath = tissuePath;
	if ( !lmbFile_Exists( manifest ) )
		return lmb_statusOk;
	if ( lmbPipeline_NeedDataset( pipeline, &problem ) != lmb_statusOk )
	{
		lmbJob_Note( &pipeline->stages.job, "shown without the simulation: %s", problem.message );
		return lmb_statusOk;
	}
	const lmbDataset *dataset = pipeline->dataset;
	bool fits = true;
	for ( int i = 0; i < dataset->sequenceCount; ++i )
		fits = fits && dataset->sequences[i].nodeCount == pipeline->tissue->nodeCount;
	if ( fits )
		show->dataset = dataset;
	else
		lmbJob_Note( &pipeline->stages.job, "%s/simulation: is of another tissue; shown without it", folder );
	return lmb_statusOk;
}

lmbStatus lmbShow_Open( const lmbProject *project, const char *folder, const lmbJob *job, lmbShow *show,
                        lmbError *error )
{
	typedef struct Owner
	{
		lmbPipeline pipeline; /* first: freed through its address */
		lmbPipelineDef def;
	} Owner;
	*show = ( lmbShow ){ 0 };
	Owner *owner = calloc( 1, sizeof( *owner ) );
	if ( owner == NULL )
		return lmbError_Memory( error );
	lmbPipeline *pipeline = &owner->pipeline;
	owner->def.folder = folder;
	pipeline->project = project;
	pipeline->stages.def = &owner->def;
	pipeline->stages.job = *job;
	show->pipeline = pipeline;
	LMB_TRY( lmbPipeline_NeedMotions( pipeline, error ) );
	show->character = pipeline->character;
	show->motions = pipeline->motions;
	show->trained = pipeline->trained;
	show->motionCount = pipeline->motionCount;
	return folder != NULL ? LoadTruth( show, folder, error ) : lmb_statusOk;
}

void lmbShow_Close( lmbShow *show )
{
	if ( show->pipeline != NULL )
		lmbPipeline_ForgetAll( show->pipeline );
	free( show->pipeline );
	*show = ( lmbShow ){ 0 };
}
