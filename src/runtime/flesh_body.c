#include "flesh_body.h"

#include "rotation.h"
#include "target.h"

#include <math.h>
#include <string.h>

/* s; less than the shortest counts as no time, since 1 / dt^2 must stay a float */
static const double shortestStep = 1e-9, longestStep = 1e300;
static const float poseLimit = 1e9f;
static const double positionLimit = 1e12; /* m */
static const float smallestScale = 1e-3f, largestScale = 1e3f;

/* The springs that a layer runs; false when the model lacks them. */
static bool ChooseSprings( const lmbFlesh *model, const lmbFleshDef *def, lmbFleshBody *body )
{
	bool modes =
	    def->layer == lmb_layerModalUnfitted || def->layer == lmb_layerModal || def->layer == lmb_layerHybrid;
	bool vertices = def->layer == lmb_layerVertex || def->layer == lmb_layerHybrid;
	body->model = model;
	body->def = *def;
	body->modeSprings =
	    def->layer == lmb_layerModalUnfitted ? model->modeSpringsUnfitted : model->modeSprings;
	body->vertexSprings = def->layer == lmb_layerVertex ? model->vertexSprings : model->remainderSprings;
	body->hasModes = modes;
	body->followsPose = modes && def->poseStiffness && model->poseStiffness != NULL;
	body->hasVertexSprings = vertices;
	body->kernels = lmbKernels_Find( def->kernels );
	bool known = def->layer >= lmb_layerNone && def->layer <= lmb_layerHybrid &&
	             ( def->interpolation == lmb_targetCubic || def->interpolation == lmb_targetLinear );
	return known && body->kernels != NULL && ( !modes || body->modeSprings != NULL ) &&
	       ( !vertices || body->vertexSprings != NULL ) && ( !def->network || model->info.hasNetwork );
}

static size_t Larger( size_t a, size_t b )
{
	return a > b ? a : b;
}

static void TakeState( lmbCarver *carver, lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	size_t bones = body->hasModes ? (size_t)model->info.boneCount : 0;
	size_t modes = body->hasModes ? (size_t)model->info.modeCount : 0;
	size_t coefficients = body->hasModes && body->def.network ? (size_t)model->info.coefficientCount : 0;
	size_t blocks = body->hasVertexSprings ? (size_t)model->softBlockCount : 0;
	size_t logs = body->followsPose ? modes : 0;
	body->stateDoubles = bones * ( 3 * 12 + 9 ) + 3 * coefficients + 2 * modes + logs;
	body->stateFloats = blocks * lmbVertexPlanes * lmbLanes;
	char *at = lmbCarver_Take( carver,
	                           sizeof( lmbFleshClock ) + body->stateDoubles * sizeof( double ) +
	                               body->stateFloats * sizeof( float ),
	                           1 );
	if ( at == NULL )
		return;
	body->clock = (lmbFleshClock *)at;
	body->bones = (double *)( at + sizeof( lmbFleshClock ) );
	body->turns = body->bones + bones * 3 * 12;
	body->coefficients = body->turns + bones * 9;
	body->modes = body->coefficients + 3 * coefficients;
	body->modeLogs = body->modes + 2 * modes;
	body->vertices = (float *)( body->modeLogs + logs );
}

static void TakeMaps( lmbCarver *carver, lmbFleshBody *body )
{
	size_t modes = body->hasModes ? (size_t)body->model->info.modeCount : 0;
	size_t blocks = body->hasVertexSprings ? (size_t)body->model->softBlockCount : 0;
	body->vertexRates = lmbCarver_Take( carver, blocks, 2 * lmbLanes * sizeof( float ) );
	body->modeRates = lmbCarver_Take( carver, modes, 2 * sizeof( double ) );
	body->participation =
	    lmbCarver_Take( carver, modes, (size_t)body->model->info.boneCount * sizeof( float ) );
	for ( int i = 0; i < 2; ++i )
	{
		body->maps[i].step = 0.0;
		body->maps[i].modes = lmbCarver_Take( carver, modes, sizeof( lmbSpringMap ) );
		body->maps[i].vertices =
		    lmbCarver_Take( carver, blocks, lmbSpringPlanes * lmbLanes * sizeof( float ) );
	}
}

/* The same calls in the same order when counting and when placing. */
static void TakeAll( lmbCarver *carver, lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	size_t bones = (size_t)model->info.boneCount, vertices = (size_t)model->info.vertexCount;
	size_t scratch = Larger( Larger( (size_t)model->regionFeatureMax, (size_t)model->coefficientPadMax ),
	                         Larger( (size_t)model->hiddenPadMax,
	                                 (size_t)model->pairCount * 12 + (size_t)model->info.coefficientCount ) );
	TakeState( carver, body );
	body->gains = lmbCarver_Take( carver, (size_t)model->softBlockCount, lmbLanes * sizeof( float ) );
	TakeMaps( carver, body );
	body->nextBones = lmbCarver_Take( carver, bones, 12 * sizeof( double ) );
	body->nextTurns = lmbCarver_Take( carver, bones, 9 * sizeof( double ) );
	body->modelTurns = lmbCarver_Take( carver, bones, 9 * sizeof( double ) );
	body->bonesStart = lmbCarver_Take( carver, bones, 12 * sizeof( double ) );
	body->bonesEnd = lmbCarver_Take( carver, bones, 12 * sizeof( double ) );
	body->palette = lmbCarver_Take( carver, bones, lmbBoneFloats * sizeof( float ) );
	body->features = lmbCarver_Take( carver, (size_t)model->featureCount, sizeof( float ) );
	body->amplitudes = lmbCarver_Take( carver, (size_t)model->info.coefficientCount, sizeof( float ) );
	for ( int i = 0; i < 3; ++i )
		body->scratch[i] = lmbCarver_Take( carver, scratch, sizeof( float ) );
	for ( int i = 0; i < 3; ++i )
		body->modeAmounts[i] = lmbCarver_Take( carver, (size_t)model->modePad, sizeof( float ) );
	for ( int i = 0; i < 2; ++i )
		body->moreForcing[i] = lmbCarver_Take( carver, (size_t)model->modePad, sizeof( float ) );
	body->nextLogs = lmbCarver_Take( carver, (size_t)model->modePad, sizeof( float ) );
	size_t stillBlocks = model->networkColumns.blocks != NULL ? 0 : (size_t)model->softBlockCount + 1;
	body->still = lmbCarver_Take( carver, stillBlocks, 3 * lmbLanes * sizeof( float ) );
	/* Normals read four floats where a vertex has three. */
	body->positions = lmbCarver_Take( carver, vertices + 1, 3 * sizeof( float ) );
	body->struck = lmbCarver_Take( carver, vertices, 2 * sizeof( float ) );
	if ( !body->def.normals )
		return;
	body->normals = lmbCarver_Take( carver, vertices + lmbTile + 1, 3 * sizeof( float ) );
	body->normalSums = lmbCarver_Take( carver, vertices + lmbTile, 4 * sizeof( float ) );
}

size_t lmbFleshBody_Size( const lmbFlesh *model, const lmbFleshDef *def )
{
	lmbFleshBody body;
	memset( &body, 0, sizeof( body ) );
	lmbCarver carver = { NULL, 0 };
	if ( !ChooseSprings( model, def, &body ) )
		return 0;
	lmbCarver_Take( &carver, 1, sizeof( body ) );
	TakeAll( &carver, &body );
	return carver.used <= SIZE_MAX / 2 ? (size_t)carver.used : 0;
}

lmbStatus lmbFleshBody_Place( const lmbFlesh *model, const lmbFleshDef *def, void *memory, size_t memorySize,
                              lmbFleshBody **body )
{
	*body = NULL;
	size_t needed = lmbFleshBody_Size( model, def );
	if ( needed == 0 || memory == NULL || (uintptr_t)memory % 64 != 0 || memorySize < needed )
		return lmb_statusInvalidArgument;
	memset( memory, 0, needed );
	lmbCarver carver = { memory, 0 };
	lmbFleshBody *placed = lmbCarver_Take( &carver, 1, sizeof( *placed ) );
	ChooseSprings( model, def, placed );
	TakeAll( &carver, placed );
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	lmbFleshBody_Direct( placed, &direction );
	*body = placed;
	return lmb_statusOk;
}

/* Sizes of the state are multiples of 4; its parts follow one another. */
static size_t StateBytes( const lmbFleshBody *body )
{
	return sizeof( lmbFleshClock ) + body->stateDoubles * sizeof( double ) +
	       body->stateFloats * sizeof( float );
}

void lmbFleshBody_Reset( lmbFleshBody *body )
{
	int32_t paused = body->clock->paused;
	memset( body->clock, 0, StateBytes( body ) );
	body->clock->paused = paused;
	memset( body->push, 0, sizeof( body->push ) );
}

void lmbFleshBody_Appear( lmbFleshBody *body )
{
	lmbFleshBody_Reset( body );
	body->clock->glides = 1;
}

void lmbFleshBody_Teleport( lmbFleshBody *body )
{
	body->clock->teleported = 1;
}

void lmbFleshBody_Pause( lmbFleshBody *body, bool paused )
{
	body->clock->paused = paused;
}

/* Before a saved state: what it belongs to. */
typedef struct StateHeader
{
	uint64_t magic, key, bytes;
	uint32_t layer, network, interpolation, poseStiffness;
} StateHeader;

static StateHeader MakeHeader( const lmbFleshBody *body )
{
	return ( StateHeader ){ .magic = UINT64_C( 0x3265746174736c66 ), /* "flstate2" */
	                        .key = body->model->key,
	                        .bytes = StateBytes( body ),
	                        .layer = (uint32_t)body->def.layer,
	                        .network = body->def.network,
	                        .interpolation = (uint32_t)body->def.interpolation,
	                        .poseStiffness = body->followsPose };
}

size_t lmbFleshBody_StateSize( const lmbFleshBody *body )
{
	return sizeof( StateHeader ) + StateBytes( body );
}

lmbStatus lmbFleshBody_Save( const lmbFleshBody *body, void *out, size_t size )
{
	if ( out == NULL || size < lmbFleshBody_StateSize( body ) )
		return lmb_statusInvalidArgument;
	StateHeader header = MakeHeader( body );
	memcpy( out, &header, sizeof( header ) );
	memcpy( (char *)out + sizeof( header ), body->clock, StateBytes( body ) );
	return lmb_statusOk;
}

/* A state that a step could have left: flags in range, every number finite and within the guards' limits. */
static bool StateIsSound( const lmbFleshBody *body, const char *state )
{
	lmbFleshClock clock;
	memcpy( &clock, state, sizeof( clock ) );
	if ( clock.known < 0 || clock.known > 3 || ( clock.paused & ~1 ) != 0 || ( clock.teleported & ~1 ) != 0 ||
	     ( clock.glides & ~1 ) != 0 || clock.sleep < lmb_sleepAwake || clock.sleep > lmb_sleepWaking )
		return false;
	if ( !( clock.slept >= 0.0 ) ||
	     ( clock.known > 0 && !( clock.scale >= smallestScale && clock.scale <= largestScale ) ) )
		return false;
	for ( int i = 0; i < 2; ++i )
		if ( clock.known >= i + 2 && !( clock.steps[i] >= shortestStep ) )
			return false;
	const char *at = state + offsetof( lmbFleshClock, steps );
	size_t doubles =
	    ( sizeof( clock ) - offsetof( lmbFleshClock, steps ) ) / sizeof( double ) + body->stateDoubles;
	for ( size_t i = 0; i < doubles; ++i, at += sizeof( double ) )
	{
		double number;
		memcpy( &number, at, sizeof( number ) );
		if ( !( fabs( number ) <= 1e300 ) )
			return false;
	}
	for ( size_t i = 0; i < body->stateFloats; ++i, at += sizeof( float ) )
	{
		float number;
		memcpy( &number, at, sizeof( number ) );
		if ( !( fabsf( number ) <= 1e30f ) )
			return false;
	}
	return true;
}

lmbStatus lmbFleshBody_Restore( lmbFleshBody *body, const void *state, size_t size )
{
	StateHeader expected = MakeHeader( body );
	const char *bytes = state;
	if ( state == NULL || size != lmbFleshBody_StateSize( body ) )
		return lmb_statusInvalidArgument;
	if ( memcmp( bytes, &expected, sizeof( expected ) ) != 0 )
		return lmb_statusInvalidArgument;
	if ( !StateIsSound( body, bytes + sizeof( expected ) ) )
		return lmb_statusCorrupt;
	memcpy( body->clock, bytes + sizeof( expected ), StateBytes( body ) );
	return lmb_statusOk;
}

static bool PoseIsSound( const lmbFleshBody *body, const lmbFleshPose *pose )
{
	bool sound = pose->bones != NULL;
	for ( int i = 0; sound && i < 12 * body->model->info.boneCount; ++i )
		sound = fabsf( pose->bones[i] ) <= poseLimit;
	for ( int i = 0; i < 3; ++i )
		sound = sound && fabs( pose->position[i] ) <= positionLimit;
	for ( int i = 0; i < 4; ++i )
		sound = sound && fabsf( pose->rotation[i] ) <= poseLimit;
	return sound &&
	       ( pose->scale == 0.0f || ( pose->scale >= smallestScale && pose->scale <= largestScale ) );
}

static bool SameRotation( const double *a, const double *b )
{
	bool same = true;
	for ( int i = 0; i < 9; ++i )
		same = same && a[i] == b[i];
	return same;
}

/* Carries the past along with a turn and a jump that are not motion. */
static void CarryPast( lmbFleshBody *body, const lmbFleshFrame *frame )
{
	lmbFleshClock *clock = body->clock;
	double turn[9];
	if ( !SameRotation( frame->rotation, clock->rotation ) )
	{
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
			{
				const double *a = frame->rotation + 3 * i, *b = clock->rotation + 3 * j;
				turn[3 * i + j] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
			}
		lmbFleshBody_Turn( body, turn );
		memcpy( clock->rotation, frame->rotation, sizeof( turn ) );
	}
	/* In a step that a teleport begins, the body goes on at the speed that it had. */
	bool goesOn = lmbFleshFrame_Moves( frame ) && !frame->wakes && clock->known > 1;
	double share = goesOn ? frame->step / clock->steps[0] : 0.0;
	for ( int i = 0; i < 3; ++i )
		clock->position[i] = frame->position[i] - share * clock->increments[0][i] * frame->scale;
}

/* What the increments of this step and of the past make of the target's motion. */
static void FillDrive( const lmbFleshBody *body, lmbFleshFrame *frame )
{
	const lmbFleshClock *clock = body->clock;
	double steps[3] = { frame->step, clock->steps[0], clock->steps[1] };
	double forceScale = lmbFleshBody_ForceScale( body, frame->scale );
	double speedScale = lmbFleshBody_SpeedScale( body, frame->scale );
	lmbTargetWeights weights;
	if ( frame->wakes )
		memset( &weights, 0, sizeof( weights ) );
	else if ( clock->glides )
		lmbTarget_WeightsGliding( body->def.interpolation, steps, clock->known + 1, &weights );
	else
		lmbTarget_Weights( body->def.interpolation, steps, clock->known + 1, &weights );
	double start = 0.0, end = 0.0;
	for ( int i = 0; i < 3; ++i ) /* from weights of places to weights of the increments between them */
	{
		start += weights.start[i];
		end += weights.end[i];
		frame->startWeights[i] = start;
		frame->endWeights[i] = end;
	}
	for ( int axis = 0; axis < 3; ++axis )
	{
		double e0 = ( frame->position[axis] - clock->position[axis] ) / frame->scale;
		double e1 = clock->increments[0][axis], e2 = clock->increments[1][axis];
		frame->increment[axis] = e0;
		frame->startOrigin[axis] =
		    frame->startWeights[0] * e0 + frame->startWeights[1] * e1 + frame->startWeights[2] * e2;
		frame->endOrigin[axis] =
		    frame->endWeights[0] * e0 + frame->endWeights[1] * e1 + frame->endWeights[2] * e2;
		/* A force on all flesh is an acceleration of the bones the other way. One that changes goes evenly
		 * from the last frame's to this one's. A linear target knows jumps of velocity alone. */
		double first = clock->force[axis] * forceScale, last = body->acceleration[axis] * forceScale;
		double push = body->push[axis] * speedScale / frame->step;
		bool jumps = body->def.interpolation == lmb_targetLinear;
		frame->startOrigin[axis] -= jumps ? ( 0.5 * ( first + last ) + push ) * frame->step : first + push;
		frame->endOrigin[axis] -= jumps ? 0.0 : last + push;
	}
}

/* A body that wakes makes up for the time that it slept. */
static void FindStep( const lmbFleshBody *body, double dt, lmbFleshFrame *frame )
{
	const lmbFleshClock *clock = body->clock;
	if ( clock->known == 0 || clock->paused )
		return;
	double time = body->slowsWithSize ? dt / frame->scale : dt;
	frame->wakes = clock->sleep == lmb_sleepWaking;
	if ( frame->wakes )
		time += clock->slept;
	frame->step = time < shortestStep ? 0.0 : time < longestStep ? time : longestStep;
}

static void FillFrame( lmbFleshBody *body, const lmbFleshPose *pose, double dt, lmbFleshFrame *frame )
{
	lmbFleshClock *clock = body->clock;
	double quaternion[4];
	memset( frame, 0, sizeof( *frame ) );
	for ( int i = 0; i < 4; ++i )
		quaternion[i] = pose->rotation[i];
	lmbQuaternion_Normalize( quaternion );
	lmbQuaternion_ToMatrix( quaternion, frame->rotation );
	memcpy( frame->position, pose->position, sizeof( frame->position ) );
	frame->scale = pose->scale == 0.0f ? 1.0 : pose->scale;
	FindStep( body, dt, frame );
	if ( lmbFleshBody_JumpsFar( body, frame, dt ) )
	{
		if ( body->teleportForgets )
		{
			lmbFleshBody_Appear( body );
			frame->step = 0.0;
		}
		clock->teleported = 1;
	}
	if ( clock->known > 0 && ( clock->teleported || frame->wakes || !lmbFleshFrame_Moves( frame ) ) )
		CarryPast( body, frame );
	if ( lmbFleshFrame_Moves( frame ) )
		FillDrive( body, frame );
}

void lmbFleshBody_End( lmbFleshBody *body, const lmbFleshFrame *frame )
{
	lmbFleshClock *clock = body->clock;
	bool moves = lmbFleshFrame_Moves( frame );
	if ( moves && frame->wakes )
	{
		clock->known = 1;
		clock->glides = 1;
	}
	else if ( moves )
	{
		clock->steps[1] = clock->steps[0];
		clock->steps[0] = frame->step;
		memcpy( clock->increments[1], clock->increments[0], sizeof( frame->increment ) );
		memcpy( clock->increments[0], frame->increment, sizeof( frame->increment ) );
		clock->known += clock->known < 3;
		clock->glides = clock->glides && clock->known < 3;
	}
	if ( moves || clock->known == 0 )
		memcpy( clock->force, body->acceleration, sizeof( clock->force ) );
	if ( moves )
		memset( body->push, 0, sizeof( body->push ) );
	if ( clock->known == 0 )
		clock->known = 1;
	if ( moves || !clock->paused )
	{
		clock->sleep = lmb_sleepAwake;
		clock->slept = 0.0;
	}
	clock->teleported = 0;
	clock->scale = frame->scale;
	memcpy( clock->position, frame->position, sizeof( frame->position ) );
	memcpy( clock->rotation, frame->rotation, sizeof( frame->rotation ) );
}

void lmbFleshBody_FillNormals( lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	lmbNormals mesh = { .vertexCount = model->info.vertexCount,
	                    .stripCount = model->stripCount,
	                    .seamCount = model->seamCount,
	                    .runCount = model->runCount,
	                    .strips = model->strips,
	                    .seams = model->seams,
	                    .runs = model->runs,
	                    .turned = model->turned,
	                    .palette = body->palette,
	                    .positions = body->positions,
	                    .sums = body->normalSums,
	                    .normals = body->normals };
	body->kernels->normals( &mesh );
}

bool lmbFleshBody_Accepts( const lmbFleshBody *body, const lmbFleshPose *pose, double dt )
{
	return pose != NULL && PoseIsSound( body, pose ) && dt >= 0.0 && dt <= 1e300;
}

void lmbFleshBody_Begin( lmbFleshBody *body, const lmbFleshPose *pose, double dt, lmbFleshFrame *frame,
                         const lmbFleshMaps **maps )
{
	FillFrame( body, pose, dt, frame );
	*maps = lmbFleshFrame_Moves( frame ) ? lmbFleshBody_FindMaps( body, frame->step ) : NULL;
}
