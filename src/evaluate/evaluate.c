#include "evaluate/evaluate.h"

#include "flesh/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What one task adds up: a sequence through the runtime, or through one layer's replay. */
typedef struct Part
{
	int sequence;
	lmbColumn column; /* of a replay; lmb_columnCount: the runtime, all columns */
	lmbScoreSums sums;
	lmbMotionDetails details; /* of the runtime's task */
} Part;

typedef struct Work
{
	const lmbEvaluateInput *input;
	const lmbJob *job;
	lmbModel model;
	lmbFleshInfo info;
	uint8_t *judged; /* (vertexCount) */
	Part *parts;
	int partCount;
	double doneFrames, totalFrames;
	pthread_mutex_t mutex; /* of doneFrames */
} Work;

static const struct
{
	lmbColumn column;
	lmbSpringLayer replay;
	lmbLayer layer;
} springLayers[] = {
    { lmb_columnVertex, lmb_springsVertex, lmb_layerVertex },
    { lmb_columnModalUnfitted, lmb_springsModalUnfitted, lmb_layerModalUnfitted },
    { lmb_columnModal, lmb_springsModal, lmb_layerModal },
    { lmb_columnHybrid, lmb_springsHybrid, lmb_layerHybrid },
};
enum
{
	springLayerCount = sizeof( springLayers ) / sizeof( springLayers[0] )
};

static bool ModelHas( const lmbFleshInfo *info, lmbColumn column )
{
	switch ( column )
	{
	case lmb_columnSkinning:
		return true;
	case lmb_columnNetwork:
		return info->hasNetwork;
	case lmb_columnInstant:
		return info->hasModes;
	case lmb_columnVertex:
		return info->hasNetwork && info->hasVertexSprings;
	case lmb_columnModalUnfitted:
		return info->hasNetwork && info->hasModes;
	case lmb_columnModal:
		return info->hasNetwork && info->hasFittedModes;
	case lmb_columnHybrid:
		return info->hasNetwork && info->hasHybrid;
	case lmb_columnCount:
		break;
	}
	return false;
}

static lmbLayer LayerOf( lmbColumn column )
{
	if ( column == lmb_columnInstant )
		return lmb_layerModalUnfitted;
	for ( int i = 0; i < springLayerCount; ++i )
		if ( springLayers[i].column == column )
			return springLayers[i].layer;
	return lmb_layerNone;
}

static bool SpringsHave( const lmbEvaluateInput *input, lmbColumn column )
{
	const lmbSprings *springs = input->springs;
	if ( springs == NULL )
		return false;
	switch ( column )
	{
	case lmb_columnVertex:
		return springs->vertexStiffness != NULL;
	case lmb_columnModalUnfitted:
		return input->modes != NULL && springs->modeStiffnessUnfitted != NULL;
	case lmb_columnModal:
		return input->modes != NULL && springs->modeStiffness != NULL;
	case lmb_columnHybrid:
		return input->modes != NULL && springs->modeStiffness != NULL && springs->remainderStiffness != NULL;
	default:
		return false;
	}
}

/* The two true skins of a frame, in buffers that live as long as the task. */
typedef struct Truth
{
	lmbArena arena;
	double *scratch;
	float *still, *moving;
} Truth;

static lmbStatus Truth_Make( Truth *truth, const lmbTissue *tissue, lmbError *error )
{
	*truth = ( Truth ){ 0 };
	truth->scratch =
	    LMB_NEW( &truth->arena, double, 3 * ( (size_t)tissue->nodeCount + tissue->vertexCount ) );
	truth->still = LMB_NEW( &truth->arena, float, 3 * (size_t)tissue->vertexCount );
	truth->moving = LMB_NEW( &truth->arena, float, 3 * (size_t)tissue->vertexCount );
	if ( truth->scratch == NULL || truth->still == NULL || truth->moving == NULL )
	{
		lmbArena_Free( &truth->arena );
		return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

static lmbScoreFrame Truth_Frame( Truth *truth, const Work *work, const lmbSequence *sequence, int frame )
{
	const lmbEvaluateInput *input = work->input;
	size_t stride = 3 * (size_t)sequence->nodeCount;
	lmbSequence_Skin( sequence, input->tissue, input->character, frame,
	                  sequence->still + (size_t)frame * stride, truth->scratch, truth->still );
	lmbSequence_Skin( sequence, input->tissue, input->character, frame,
	                  sequence->moving + (size_t)frame * stride, truth->scratch, truth->moving );
	return ( lmbScoreFrame ){ .vertexCount = input->tissue->vertexCount,
	                          .judged = work->judged,
	                          .still = truth->still,
	                          .moving = truth->moving };
}

static void Advance( Work *work )
{
	pthread_mutex_lock( &work->mutex );
	work->doneFrames += 1.0;
	lmbJob_Progress( work->job, "frames", work->doneFrames, work->totalFrames, "" );
	pthread_mutex_unlock( &work->mutex );
}

/* Which vertices are worth a look is known only when the whole motion has been seen. */
static lmbStatus ChooseTracks( Work *work, Part *part, const lmbPlayer *players, Truth *truth,
                               lmbError *error )
{
	const lmbSequence *sequence = &work->input->dataset->sequences[part->sequence];
	bool present[lmb_columnCount];
	for ( int c = 0; c < lmb_columnCount; ++c )
		present[c] = players[c].body != NULL;
	LMB_TRY( lmbMotionDetails_Begin( &part->details, sequence->frameCount, work->input->tissue->vertexCount,
	                                 present, error ) );
	for ( int frame = 0; frame < sequence->frameCount; ++frame )
	{
		if ( lmbJob_Cancelled( work->job ) )
			return lmbJob_CancelledStatus( error );
		if ( sequence->converged[frame] == 0 )
			continue;
		lmbScoreFrame shapes = Truth_Frame( truth, work, sequence, frame );
		lmbMotionDetails_Look( &part->details, &shapes );
	}
	return lmbMotionDetails_Choose( &part->details, work->judged, work->input->character->bind, error );
}

static lmbStatus RuntimeFrames( Work *work, Part *part, lmbPlayer *players, Truth *truth, lmbError *error )
{
	const lmbSequence *sequence = &work->input->dataset->sequences[part->sequence];
	LMB_TRY( ChooseTracks( work, part, players, truth, error ) );
	for ( int frame = 0; frame < sequence->frameCount; ++frame )
	{
		if ( lmbJob_Cancelled( work->job ) )
			return lmbJob_CancelledStatus( error );
		/* A frame that does not count still moves the bodies. */
		const float *columns[lmb_columnCount] = { 0 };
		for ( int c = 0; c < lmb_columnCount; ++c )
			if ( players[c].body != NULL )
				LMB_TRY( lmbPlayer_Frame( &players[c], frame, &columns[c], error ) );
		lmbScoreFrame shapes = Truth_Frame( truth, work, sequence, frame );
		memcpy( shapes.columns, columns, sizeof( columns ) );
		if ( sequence->converged[frame] != 0 )
			lmbScore_AddFrame( &part->sums, &shapes );
		lmbMotionDetails_Add( &part->details, frame, sequence->converged[frame] != 0, &shapes );
		Advance( work );
	}
	lmbMotionDetails_Finish( &part->details );
	return lmb_statusOk;
}

static lmbStatus RuntimeTask( Work *work, Part *part, Truth *truth, lmbError *error )
{
	const lmbEvaluateInput *input = work->input;
	lmbPlayer players[lmb_columnCount] = { 0 };
	lmbStatus status = lmb_statusOk;
	for ( int c = 0; c < lmb_columnCount && status == lmb_statusOk; ++c )
	{
		bool network = c != lmb_columnSkinning && c != lmb_columnInstant;
		if ( ModelHas( &work->info, (lmbColumn)c ) )
			status = lmbPlayer_Open( &players[c], &work->model, &input->dataset->sequences[part->sequence],
			                         LayerOf( (lmbColumn)c ), network, input->interpolation, error );
	}
	if ( status == lmb_statusOk )
		status = RuntimeFrames( work, part, players, truth, error );
	for ( int c = 0; c < lmb_columnCount; ++c )
		lmbPlayer_Close( &players[c] );
	return status;
}

static lmbStatus ReplayTask( Work *work, Part *part, Truth *truth, lmbError *error )
{
	const lmbEvaluateInput *input = work->input;
	const lmbSequence *sequence = &input->dataset->sequences[part->sequence];
	lmbSpringLayer layer = lmb_springsVertex;
	for ( int i = 0; i < springLayerCount; ++i )
		if ( springLayers[i].column == part->column )
			layer = springLayers[i].replay;
	size_t stride = 3 * (size_t)input->tissue->vertexCount;
	float *displacement = LMB_NEW( &truth->arena, float, (size_t)sequence->frameCount *stride );
	if ( displacement == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbSprings_Replay( input->character, input->tissue, input->modes, input->springs, layer,
	                            input->interpolation, sequence, displacement, error ) );
	for ( int frame = 0; frame < sequence->frameCount; ++frame )
	{
		if ( lmbJob_Cancelled( work->job ) )
			return lmbJob_CancelledStatus( error );
		if ( sequence->converged[frame] != 0 )
		{
			lmbScoreFrame shapes = Truth_Frame( truth, work, sequence, frame );
			lmbScore_AddExact( &part->sums, part->column, &shapes, displacement + (size_t)frame * stride );
		}
		Advance( work );
	}
	return lmb_statusOk;
}

static lmbStatus PartTask( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	Work *work = context;
	Part *part = &work->parts[index];
	Truth truth;
	LMB_TRY( Truth_Make( &truth, work->input->tissue, error ) );
	lmbStatus status = part->column == lmb_columnCount ? RuntimeTask( work, part, &truth, error )
	                                                   : ReplayTask( work, part, &truth, error );
	lmbArena_Free( &truth.arena );
	return status;
}

static lmbStatus CheckCounts( const lmbEvaluateInput *input, const lmbFleshInfo *info, lmbError *error )
{
	if ( info->vertexCount != input->tissue->vertexCount || info->boneCount != input->character->boneCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: made for another character (%d vertices and %d bones, not %d and %d)",
		                     input->model, info->vertexCount, info->boneCount, input->tissue->vertexCount,
		                     input->character->boneCount );
	for ( int i = 0; i < input->dataset->sequenceCount; ++i )
	{
		const lmbSequence *sequence = &input->dataset->sequences[i];
		if ( sequence->nodeCount != input->tissue->nodeCount ||
		     sequence->boneCount != input->character->boneCount )
			return lmbError_Set(
			    error, lmb_statusInvalidArgument,
			    "motion \"%s\" was simulated with another tissue (%d nodes and %d bones, not %d and "
			    "%d); simulate again",
			    sequence->name, sequence->nodeCount, sequence->boneCount, input->tissue->nodeCount,
			    input->character->boneCount );
	}
	return lmb_statusOk;
}

static lmbStatus MakeParts( Work *work, lmbArena *arena, lmbError *error )
{
	const lmbDataset *dataset = work->input->dataset;
	work->parts = LMB_NEW( arena, Part, (size_t)dataset->sequenceCount * ( 1 + springLayerCount ) );
	work->judged = LMB_NEW( arena, uint8_t, work->input->tissue->vertexCount );
	if ( work->parts == NULL || work->judged == NULL )
		return lmbError_Memory( error );
	for ( int v = 0; v < work->input->tissue->vertexCount; ++v )
		work->judged[v] = work->input->tissue->softness[v] >= work->input->softSkin ? 1 : 0;
	for ( int i = 0; i < dataset->sequenceCount; ++i )
	{
		int before = work->partCount;
		work->parts[work->partCount++] = ( Part ){ .sequence = i, .column = lmb_columnCount };
		for ( int k = 0; k < springLayerCount; ++k )
			if ( SpringsHave( work->input, springLayers[k].column ) )
				work->parts[work->partCount++] = ( Part ){ .sequence = i, .column = springLayers[k].column };
		work->totalFrames += (double)dataset->sequences[i].frameCount * ( work->partCount - before );
	}
	return lmb_statusOk;
}

/* Details go from the part that made them to the score. */
static lmbMotionDetails TakeDetails( Work *work, int sequence )
{
	lmbMotionDetails details = { 0 };
	for ( int i = 0; i < work->partCount; ++i )
	{
		Part *part = &work->parts[i];
		if ( part->sequence != sequence || part->column != lmb_columnCount )
			continue;
		details = part->details;
		part->details = ( lmbMotionDetails ){ 0 };
	}
	return details;
}

/* Each part filled the sums that are its own; together they are those of the sequence. */
static lmbScoreSums SumsOf( const Work *work, int sequence )
{
	lmbScoreSums sums = { 0 };
	for ( int i = 0; i < work->partCount; ++i )
	{
		const Part *part = &work->parts[i];
		if ( part->sequence != sequence )
			continue;
		if ( part->column == lmb_columnCount )
			sums = part->sums; /* comes first */
		else
		{
			sums.exact[part->column] = part->sums.exact[part->column];
			sums.exactPresent[part->column] = part->sums.exactPresent[part->column];
		}
	}
	return sums;
}

static lmbStatus Collect( Work *work, lmbEvaluation **out, lmbError *error )
{
	const lmbDataset *dataset = work->input->dataset;
	lmbEvaluation *evaluation = calloc( 1, sizeof( *evaluation ) );
	if ( evaluation == NULL )
		return lmbError_Memory( error );
	evaluation->sequenceCount = dataset->sequenceCount;
	evaluation->sequences = LMB_NEW( &evaluation->arena, lmbSequenceScore, dataset->sequenceCount );
	evaluation->vertexCount = work->input->tissue->vertexCount;
	evaluation->judged = LMB_NEW( &evaluation->arena, uint8_t, evaluation->vertexCount );
	bool failed = evaluation->sequences == NULL || evaluation->judged == NULL;
	for ( int v = 0; v < evaluation->vertexCount && !failed; ++v )
		evaluation->judgedCount += evaluation->judged[v] = work->judged[v];
	for ( int i = 0; i < dataset->sequenceCount && !failed; ++i )
	{
		const lmbSequence *sequence = &dataset->sequences[i];
		lmbScoreSums sums = SumsOf( work, i );
		evaluation->sequences[i] =
		    ( lmbSequenceScore ){ .name = lmbArena_String( &evaluation->arena, sequence->name ),
		                          .trained = sequence->trained,
		                          .frameCount = sums.frameCount,
		                          .skippedCount = sequence->frameCount - sums.frameCount,
		                          .rate = sequence->rate,
		                          .score = lmbScore_Finish( &sums ),
		                          .details = TakeDetails( work, i ) };
		failed = evaluation->sequences[i].name == NULL;
	}
	if ( failed )
	{
		lmbEvaluation_Free( evaluation );
		return lmbError_Memory( error );
	}
	*out = evaluation;
	return lmb_statusOk;
}

lmbStatus lmbEvaluate( const lmbEvaluateInput *input, const lmbJob *job, lmbEvaluation **out,
                       lmbError *error )
{
	*out = NULL;
	lmbArena arena = { 0 };
	Work work = { .input = input, .job = job };
	lmbStatus status = lmbModel_Open( &work.model, input->model, error );
	if ( status == lmb_statusOk )
	{
		work.info = lmbFlesh_Info( work.model.flesh );
		status = CheckCounts( input, &work.info, error );
	}
	if ( status == lmb_statusOk )
		status = MakeParts( &work, &arena, error );
	if ( status == lmb_statusOk )
	{
		pthread_mutex_init( &work.mutex, NULL );
		status = lmbJob_ForEach( job, work.partCount, PartTask, &work, error );
		pthread_mutex_destroy( &work.mutex );
	}
	if ( status == lmb_statusOk )
		status = Collect( &work, out, error );
	for ( int i = 0; i < work.partCount; ++i )
		lmbMotionDetails_Free( &work.parts[i].details );
	lmbModel_Close( &work.model );
	lmbArena_Free( &arena );
	return status;
}

void lmbEvaluation_Free( lmbEvaluation *evaluation )
{
	if ( evaluation == NULL )
		return;
	for ( int i = 0; evaluation->sequences != NULL && i < evaluation->sequenceCount; ++i )
		lmbMotionDetails_Free( &evaluation->sequences[i].details );
	lmbArena_Free( &evaluation->arena );
	free( evaluation );
}
