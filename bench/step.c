/* A whole step of a character and its parts, hot and cold; and many characters of one model. */
#include "human.h"
#include "measure.h"
#include "runtime/flesh_body.h"

#include <math.h>
#include <stdio.h>

enum
{
	hotSamples = 200,
	coldSamples = 30,
	crowdSamples = 20,
	mostCharacters = 64
};

/* One body and what plays it. */
typedef struct Play
{
	const lmbFlesh *model;
	lmbFleshBody *body;
	float *bones; /* (boneCount x 12) */
	int frame;
	float vectors[5][4 * lmbLanes];
	lmbStatus status;
} Play;

/* Every bone turned a little about its own axis through the middle of the skin, the body walking. */
static void MakePose( Play *play, lmbFleshPose *pose )
{
	double time = play->frame++ / 60.0;
	int count = lmbFlesh_Info( play->model ).boneCount;
	for ( int j = 0; j < count; ++j )
	{
		double angle = 0.2 * sin( 5.0 * time + j ), c = cos( angle ), s = sin( angle );
		const double matrix[12] = { c, -s, 0, s, s, c, 0, 1 - c, 0, 0, 1, 0 };
		for ( int i = 0; i < 12; ++i )
			play->bones[12 * j + i] = (float)matrix[i];
	}
	*pose =
	    ( lmbFleshPose ){ .bones = play->bones,
	                      .position = { 1.4 * time, 0.03 * sin( 9.0 * time ), 0.0 },
	                      .rotation = { 0.0f, (float)sin( 0.3 * time ), 0.0f, (float)cos( 0.3 * time ) } };
}

static lmbStatus OpenPlay( Play *play, const lmbModel *model, const lmbFleshDef *def, lmbArena *arena,
                           lmbError *error )
{
	*play = ( Play ){ .model = model->flesh };
	play->bones = LMB_NEW( arena, float, 12 * lmbFlesh_Info( model->flesh ).boneCount );
	if ( play->bones == NULL )
		return lmbError_Memory( error );
	return lmbModel_Body( model, def, arena, &play->body, error );
}

/* ---- Parts ---- */

static void RunStep( void *context )
{
	Play *play = context;
	lmbFleshPose pose;
	lmbFleshShape shape;
	MakePose( play, &pose );
	lmbStatus status = lmbFleshBody_Step( play->body, &pose, 1.0 / 60.0, &shape );
	play->status = status != lmb_statusOk ? status : play->status;
}

static void RunPose( void *context )
{
	lmbFleshPose pose;
	MakePose( context, &pose );
}

static void RunSkinning( void *context )
{
	Play *play = context;
	const lmbFlesh *model = play->model;
	for ( int block = 0; block < model->blockCount; ++block )
	{
		lmbSkin skin = lmbFleshBody_Skin( play->body, block );
		if ( block < model->softBlockCount )
			play->body->kernels->skin( &skin, play->vectors[0], play->vectors[1] );
		else
			play->body->kernels->skinRigid( &skin, model->order + (size_t)block * lmbLanes,
			                                play->body->positions );
	}
}

static void RunColumns( Play *play, const lmbFileColumns *all, int sums, const float *const *amounts )
{
	float *out[3] = { play->vectors[0], play->vectors[1], play->vectors[2] };
	for ( int block = 0; block < play->model->softBlockCount; ++block )
	{
		size_t first = (size_t)all->blocks[block];
		lmbColumns columns = { .count = all->blocks[block + 1] - all->blocks[block],
		                       .amount = all->amount + first,
		                       .scales = all->scales + first,
		                       .entries = all->entries + first * 3 * lmbLanes };
		play->body->kernels->columns( &columns, sums, amounts, out );
	}
}

static void RunDecoder( void *context )
{
	Play *play = context;
	const float *amounts = play->body->amplitudes;
	RunColumns( play, &play->model->networkColumns, 1, &amounts );
}

static void RunModeShapes( void *context )
{
	Play *play = context;
	const float *amounts[3] = { play->body->modeAmounts[0], play->body->modeAmounts[1],
	                            play->body->modeAmounts[2] };
	RunColumns( play, &play->model->modeColumns, 3, amounts );
}

static void RunSprings( void *context )
{
	Play *play = context;
	const lmbFleshBody *body = play->body;
	const float *maps = body->maps[body->maps[0].step > 0.0 ? 0 : 1].vertices;
	for ( int block = 0; block < play->model->softBlockCount; ++block )
	{
		float *state = body->vertices + (size_t)block * lmbVertexPlanes * lmbLanes;
		lmbSpringBlock springs = { .map = maps + (size_t)block * lmbSpringPlanes * lmbLanes,
		                           .u = state + lmbPlaneU * lmbLanes,
		                           .v = state + lmbPlaneV * lmbLanes,
		                           .start = play->vectors[3],
		                           .end = play->vectors[4] };
		body->kernels->springs( &springs, false );
	}
}

static void RunNetwork( void *context )
{
	Play *play = context;
	lmbFleshBody_BeginNetwork( play->body );
	for ( int region = 0; region < play->model->regionCount; ++region )
		lmbFleshBody_RunRegion( play->body, region );
}

static void RunNormals( void *context )
{
	lmbFleshBody_FillNormals( ( (Play *)context )->body );
}

typedef struct Part
{
	const char *name;
	void ( *run )( void *context );
	lmbBenchCost cost;
} Part;

static lmbStatus TimePart( lmbBench *bench, Play *play, void ( *run )( void * ), bool cold,
                           lmbBenchTimes *times, lmbError *error )
{
	const lmbBenchTask task = {
	    .run = run, .context = play, .samples = cold ? coldSamples : hotSamples, .repeats = 1, .cold = cold };
	LMB_TRY( lmbBench_Time( bench, &task, times, error ) );
	return play->status == lmb_statusOk ? lmb_statusOk
	                                    : lmbError_Set( error, play->status, "a step was refused" );
}

/* Bytes of columns: entries, scales, indices. */
static double ColumnBytes( const lmbFlesh *model, const lmbFileColumns *columns )
{
	return columns->blocks == NULL ? 0.0 : ( 3.0 * lmbLanes + 8.0 ) * columns->blocks[model->softBlockCount];
}

static double Weights( const lmbFlesh *model )
{
	double sum = 0.0;
	for ( int r = 0; r < model->regionCount; ++r )
	{
		const lmbFleshRegion *region = &model->regions[r];
		double features = region->featureCount, outputs = region->coefficientCount,
		       hidden = region->hiddenCount;
		sum += features * outputs;
		if ( region->layerCount == 1 )
			sum += features * outputs;
		else if ( region->layerCount > 1 )
			sum += features * hidden + ( region->layerCount - 2 ) * hidden * hidden + hidden * outputs;
	}
	return sum;
}

enum
{
	partNetwork,
	partSkinning,
	partDecoder,
	partModes,
	partSprings,
	partNormals,
	partCount
};

static void FillParts( const lmbFleshBody *body, Part parts[partCount] )
{
	const lmbFlesh *model = body->model;
	double soft = (double)model->softBlockCount * lmbLanes, all = (double)model->blockCount * lmbLanes;
	double used = (double)model->blockBones[model->blockCount] * lmbLanes;
	double network = ColumnBytes( model, &model->networkColumns ),
	       modes = ColumnBytes( model, &model->modeColumns );
	double entries = 3.0 * lmbLanes / ( 3.0 * lmbLanes + 8.0 );
	double weights = model->info.hasNetwork && body->def.network ? Weights( model ) : 0.0;
	bool words = model->regionCount > 0 && model->regions[0].linear.weights == NULL;
	parts[partNetwork] = ( Part ){ network > 0.0 ? "network" : "network, with its decoder",
	                               weights > 0.0 ? RunNetwork : NULL,
	                               { .items = 1.0,
	                                 .bytes = weights * ( words ? 2.0 : 4.0 ),
	                                 .multiplyAdds = words ? 0.0 : weights,
	                                 .products = words ? weights : 0.0 } };
	parts[partSkinning] =
	    ( Part ){ "skinning",
	              RunSkinning,
	              { .items = all, .bytes = 24.0 * all + 6.0 * used, .multiplyAdds = 12.0 * used } };
	parts[partDecoder] = ( Part ){ "decoder: the network's shapes",
	                               network > 0.0 ? RunDecoder : NULL,
	                               { .items = soft, .bytes = network, .products = entries * network } };
	parts[partModes] = ( Part ){ "decoder: the modes' shapes and forcing",
	                             modes > 0.0 && body->hasModes ? RunModeShapes : NULL,
	                             { .items = soft, .bytes = modes, .products = 3.0 * entries * modes } };
	parts[partSprings] = ( Part ){ "springs of vertices",
	                               body->hasVertexSprings ? RunSprings : NULL,
	                               { .items = soft, .bytes = 80.0 * soft, .multiplyAdds = 24.0 * soft } };
	parts[partNormals] =
	    ( Part ){ "normals",
	              body->def.normals ? RunNormals : NULL,
	              { .items = model->info.vertexCount,
	                .bytes = 40.0 * model->info.vertexCount + 12.0 * model->info.triangleCount } };
	for ( int p = 0; p < partCount; ++p )
		parts[p].cost.workingSet = (size_t)parts[p].cost.bytes;
}

static lmbStatus TimeAll( lmbBench *bench, const char *name, Play *play, bool cold, lmbError *error )
{
	const char *how = cold ? "cold" : "hot";
	char text[160];
	Part parts[partCount];
	lmbBenchTimes times, pose;
	lmbBenchCost whole = { .items = play->model->info.vertexCount, .cold = cold };
	FillParts( play->body, parts );
	LMB_TRY( TimePart( bench, play, RunPose, false, &pose, error ) );
	for ( int p = 0; p < partCount; ++p )
	{
		if ( parts[p].run == NULL )
			continue;
		parts[p].cost.cold = cold;
		LMB_TRY( TimePart( bench, play, parts[p].run, cold, &times, error ) );
		snprintf( text, sizeof( text ), "%s, %s: %s", name, how, parts[p].name );
		lmbBench_Row( bench, text, &times, &parts[p].cost );
		whole.bytes += parts[p].cost.bytes;
		whole.multiplyAdds += parts[p].cost.multiplyAdds;
		whole.products += parts[p].cost.products;
	}
	LMB_TRY( TimePart( bench, play, RunStep, cold, &times, error ) );
	times.typical -= pose.typical;
	times.least -= pose.typical;
	times.median -= pose.typical;
	whole.workingSet = (size_t)whole.bytes;
	snprintf( text, sizeof( text ), "%s, %s: whole step", name, how );
	lmbBench_Row( bench, text, &times, &whole );
	return lmb_statusOk;
}

static lmbStatus TimeModel( lmbBench *bench, const char *name, const lmbModel *model, lmbError *error )
{
	lmbArena arena = { 0 };
	Play play;
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.kernels = bench->def->kernels;
	lmbStatus status = OpenPlay( &play, model, &def, &arena, error );
	for ( int n = 0; n < 10 && status == lmb_statusOk; ++n )
		RunStep( &play );
	for ( int cold = 0; cold < 2 && status == lmb_statusOk; ++cold )
		status = TimeAll( bench, name, &play, cold == 1, error );
	lmbArena_Free( &arena );
	return status;
}

/* ---- Crowds ---- */

typedef struct Crowd
{
	Play plays[mostCharacters];
	lmbFleshBody *bodies[mostCharacters];
	lmbFleshPose poses[mostCharacters];
	lmbFleshShape shapes[mostCharacters];
	int count;
} Crowd;

static void RunTogether( void *context )
{
	Crowd *crowd = context;
	for ( int i = 0; i < crowd->count; ++i )
		MakePose( &crowd->plays[i], &crowd->poses[i] );
	lmbStatus status =
	    lmbFleshBody_StepMany( crowd->bodies, crowd->poses, crowd->count, 1.0 / 60.0, NULL, crowd->shapes );
	crowd->plays[0].status = status != lmb_statusOk ? status : crowd->plays[0].status;
}

static void RunCrowd( void *context )
{
	Crowd *crowd = context;
	for ( int i = 0; i < crowd->count; ++i )
		RunStep( &crowd->plays[i] );
}

static lmbStatus TimeCrowd( lmbBench *bench, const char *name, const lmbModel *model, Crowd *crowd,
                            lmbArena *arena, lmbError *error )
{
	char text[160];
	lmbBenchTimes times, pose;
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.kernels = bench->def->kernels;
	for ( int i = 0; i < crowd->count; ++i )
	{
		LMB_TRY( OpenPlay( &crowd->plays[i], model, &def, arena, error ) );
		crowd->plays[i].frame = 7 * i;
		crowd->bodies[i] = crowd->plays[i].body;
	}
	LMB_TRY( TimePart( bench, &crowd->plays[0], RunPose, false, &pose, error ) );
	for ( int together = 0; together < 2; ++together )
	{
		const lmbBenchTask task = { .run = together ? RunTogether : RunCrowd,
		                            .context = crowd,
		                            .samples = crowdSamples,
		                            .repeats = 1 };
		const lmbBenchCost cost = { .items = model->flesh->info.vertexCount };
		LMB_TRY( lmbBench_Time( bench, &task, &times, error ) );
		if ( crowd->plays[0].status != lmb_statusOk )
			return lmbError_Set( error, crowd->plays[0].status, "a step was refused" );
		times.typical = times.typical / crowd->count - pose.typical;
		times.least = times.least / crowd->count - pose.typical;
		times.median = times.median / crowd->count - pose.typical;
		snprintf( text, sizeof( text ), "%s, one of %d%s", name, crowd->count, together ? ", together" : "" );
		lmbBench_Row( bench, text, &times, &cost );
	}
	return lmb_statusOk;
}

static lmbStatus TimeCrowds( lmbBench *bench, const char *name, const lmbModel *model, lmbError *error )
{
	static const int counts[] = { 1, 16, mostCharacters };
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < ( bench->def->quick ? 2 : 3 ) && status == lmb_statusOk; ++i )
	{
		lmbArena arena = { 0 };
		Crowd *crowd = LMB_NEW( &arena, Crowd, 1 );
		if ( crowd != NULL )
		{
			crowd->count = counts[i];
			status = TimeCrowd( bench, name, model, crowd, &arena, error );
		}
		else
			status = lmbError_Memory( error );
		lmbArena_Free( &arena );
	}
	return status;
}

/* ---- Models ---- */

typedef lmbStatus TimeOne( lmbBench *bench, const char *name, const lmbModel *model, lmbError *error );

static lmbStatus ForEachModel( lmbBench *bench, TimeOne *time, lmbError *error )
{
	static const struct
	{
		const char *name;
		const lmbHumanDef *def;
	} madeUp[] = { { "20 regions", &lmbHumanOfRegions }, { "one network", &lmbHumanOfOne } };
	const lmbBenchDef *def = bench->def;
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < ( def->modelCount > 0 ? def->modelCount : 2 ) && status == lmb_statusOk; ++i )
	{
		lmbModel model = { 0 };
		const char *name = def->modelCount > 0 ? def->models[i] : madeUp[i].name;
		status = def->modelCount > 0 ? lmbModel_Open( &model, name, error )
		                             : lmbHuman_Open( madeUp[i].def, &model, error );
		if ( status == lmb_statusOk )
			status = time( bench, name, &model, error );
		lmbModel_Close( &model );
	}
	return status;
}

lmbStatus lmbBench_Step( lmbBench *bench, lmbError *error )
{
	return ForEachModel( bench, TimeModel, error );
}

lmbStatus lmbBench_Crowd( lmbBench *bench, lmbError *error )
{
	return ForEachModel( bench, TimeCrowds, error );
}
