/* A step of one body or of many. What all bodies of a model read, its weights and shapes, is far more than
 * what each of them has for itself; so parts of the model are the outer loop and bodies the inner one, and a
 * part is in the nearest cache for all bodies but the first. Each body's own numbers are computed in the same
 * order as ever. */
#include "flesh_body.h"

enum
{
	groupLimit = 16 /* bodies that share a reading; more would only crowd each other out of the cache */
};

typedef struct Batch
{
	lmbFleshBody *const *bodies;
	const lmbFleshPose *poses;
	lmbFleshShape *shapes;
	double dt;
	int count, perGroup;
} Batch;

/* Bodies that are awake, in one step. */
typedef struct Group
{
	int count;
	lmbFleshBody *bodies[groupLimit];
	lmbFleshFrame frames[groupLimit];
	const lmbFleshMaps *maps[groupLimit];
} Group;

static void Add( Group *group, lmbFleshBody *body, const lmbFleshPose *pose, double dt )
{
	int i = group->count++;
	group->bodies[i] = body;
	lmbFleshBody_Begin( body, pose, dt, &group->frames[i], &group->maps[i] );
	lmbFleshBody_PlaceBones( body, pose, &group->frames[i] );
}

static void RunNetworks( const Group *group )
{
	for ( int i = 0; i < group->count; ++i )
		if ( group->bodies[i]->def.network )
			lmbFleshBody_BeginNetwork( group->bodies[i] );
	int regions = group->count > 0 ? group->bodies[0]->model->regionCount : 0;
	for ( int region = 0; region < regions; ++region )
		for ( int i = 0; i < group->count; ++i )
			if ( group->bodies[i]->def.network )
				lmbFleshBody_RunRegion( group->bodies[i], region );
}

/* Without shapes to give, what only shows is left out. */
static void StepGroup( const Group *group, bool shows )
{
	RunNetworks( group );
	for ( int i = 0; i < group->count; ++i )
		if ( group->bodies[i]->hasModes )
			lmbFleshBody_StepModes( group->bodies[i], &group->frames[i], group->maps[i] );
	int blocks = group->count > 0 ? group->bodies[0]->model->blockCount : 0;
	for ( int block = 0; block < blocks; ++block )
		for ( int i = 0; i < group->count; ++i )
			if ( shows || group->bodies[i]->hasVertexSprings )
				lmbFleshBody_StepBlock( group->bodies[i], block, &group->frames[i], group->maps[i] );
	for ( int i = 0; i < group->count; ++i )
	{
		if ( shows && group->bodies[i]->def.normals )
			lmbFleshBody_FillNormals( group->bodies[i] );
		lmbFleshBody_End( group->bodies[i], &group->frames[i] );
	}
}

static bool Sleeps( const lmbFleshBody *body )
{
	return body->clock->sleep == lmb_sleepAsleep;
}

lmbStatus lmbFleshBody_Step( lmbFleshBody *body, const lmbFleshPose *pose, double dt, lmbFleshShape *shape )
{
	if ( Sleeps( body ) )
		return lmbFleshBody_Doze( body, dt, shape );
	if ( !lmbFleshBody_Accepts( body, pose, dt ) )
		return lmb_statusInvalidArgument;
	Group group;
	group.count = 0;
	Add( &group, body, pose, dt );
	StepGroup( &group, shape != NULL );
	if ( shape != NULL )
		*shape = ( lmbFleshShape ){ body->positions, body->normals };
	return lmb_statusOk;
}

static void RunGroup( void *context, int index )
{
	const Batch *batch = context;
	Group group;
	group.count = 0;
	int first = index * batch->perGroup, end = first + batch->perGroup;
	end = end < batch->count ? end : batch->count;
	for ( int i = first; i < end; ++i )
		if ( Sleeps( batch->bodies[i] ) )
			lmbFleshBody_Doze( batch->bodies[i], batch->dt, NULL );
		else
			Add( &group, batch->bodies[i], &batch->poses[i], batch->dt );
	StepGroup( &group, batch->shapes != NULL );
	for ( int i = first; i < end && batch->shapes != NULL; ++i )
		batch->shapes[i] = ( lmbFleshShape ){ batch->bodies[i]->positions, batch->bodies[i]->normals };
}

/* Nothing is changed unless all can be stepped: bodies of one model, each once, whose steps are accepted. */
static bool BatchIsSound( const Batch *batch )
{
	bool sound = true;
	int listed = 0;
	for ( ; sound && listed < batch->count; ++listed )
	{
		lmbFleshBody *body = batch->bodies[listed];
		sound = body != NULL && body->model == batch->bodies[0]->model && !body->listed;
		if ( !sound )
			break;
		body->listed = true;
		sound = lmbFleshBody_Accepts( body, &batch->poses[listed], batch->dt ) ||
		        ( Sleeps( body ) && batch->dt >= 0.0 && batch->dt <= 1e300 );
	}
	for ( int i = 0; i < listed; ++i )
		batch->bodies[i]->listed = false;
	return sound;
}

lmbStatus lmbFleshBody_StepMany( lmbFleshBody *const *bodies, const lmbFleshPose *poses, int count, double dt,
                                 const lmbTasks *tasks, lmbFleshShape *shapes )
{
	Batch batch = { bodies, poses, shapes, dt, count, groupLimit };
	bool called = count >= 0 && ( count == 0 || ( bodies != NULL && poses != NULL ) ) &&
	              ( tasks == NULL || ( tasks->run != NULL && tasks->threads >= 1 ) );
	if ( !called || !BatchIsSound( &batch ) )
		return lmb_statusInvalidArgument;
	if ( tasks != NULL && count > 0 )
	{
		int share = ( count - 1 ) / tasks->threads + 1;
		batch.perGroup = share < groupLimit ? share : groupLimit;
	}
	int groups = count > 0 ? ( count - 1 ) / batch.perGroup + 1 : 0;
	if ( tasks != NULL && groups > 1 )
		tasks->run( tasks->user, groups, RunGroup, &batch );
	else
		for ( int i = 0; i < groups; ++i )
			RunGroup( &batch, i );
	return lmb_statusOk;
}
