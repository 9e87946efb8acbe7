#include "evaluate/limb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double lmbLimbAmplificationLimit = 1e3;

/* All roll-outs of one contender over one test. */
typedef struct Judging
{
	const lmbLimbContender *contender;
	const lmbLimbTestSet *test;
	const lmbLimbJudgeDef *def;
	lmbLimb *model;
	lmbLimbPlayer *players;           /* (threads) */
	lmbLimbErrors *errors;            /* (count) */
	lmbLimbInteraction *interactions; /* (count) */
} Judging;

static lmbStatus OpenPlayers( Judging *judging, int threads, lmbArena *arena, lmbError *error )
{
	const lmbLimbContender *contender = judging->contender;
	const lmbTrajectories *truth = judging->test->truth;
	lmbLimbDef def = { 0 };
	if ( contender->path != NULL )
	{
		LMB_TRY( lmbLimb_LoadFile( contender->path, arena, &judging->model, error ) );
		def = lmbDefaultLimbDef( judging->model );
		def.integrator = judging->def->integrator;
		/* Recurrent models have no integrator: they go by the steps that they were taught. */
		lmbLimbKind kind = lmbLimb_Info( judging->model ).kind;
		if ( kind != lmb_limbGru && kind != lmb_limbLstm )
			def.maxStep = judging->def->step;
	}
	for ( int i = 0; i < threads; ++i )
	{
		if ( contender->path == NULL )
			judging->players[i] =
			    lmbLimbPlayer_FromEquations( contender->equations, contender->contexts[i], truth->dofCount,
			                                 truth->inputCount, judging->def->step );
		else if ( lmbLimbPlayer_FromModel( judging->model, &def, truth->dofCount, truth->inputCount, arena,
		                                   &judging->players[i], error ) != lmb_statusOk )
			return lmbError_Prefix( error, contender->path );
	}
	return lmb_statusOk;
}

/* The torque that a pulse at one joint causes at the others, over the pulse and as long again. */
static void AddInteraction( const Judging *judging, lmbPlant *plant, int index,
                            const lmbLimbRollout *rollout )
{
	const lmbTrajectories *truth = judging->test->truth;
	const lmbTrajectory *trajectory = &truth->items[index];
	lmbLimbPulse pulse;
	/* Where inputs are not the joints' torques, a pulse has no joint. */
	if ( truth->inputCount != truth->dofCount || trajectory->velocities == NULL ||
	     !lmbLimbPulse_Find( truth, index, &pulse ) )
		return;
	int end = 2 * pulse.end - pulse.first;
	end = end < trajectory->sampleCount - 1 ? end : trajectory->sampleCount - 1;
	for ( int joint = 0; joint < truth->dofCount; ++joint )
		if ( joint != pulse.input && pulse.first < end )
			(void)lmbLimbInteraction_Add( &judging->interactions[index], plant, trajectory, rollout, joint,
			                              pulse.first, end );
}

static lmbStatus RollOut( void *context, int index, int worker, lmbError *error )
{
	Judging *judging = context;
	const lmbTrajectories *truth = judging->test->truth;
	const lmbTrajectory *trajectory = &truth->items[index];
	size_t numbers = (size_t)trajectory->sampleCount * (size_t)truth->dofCount;
	double *states = calloc( 2 * numbers, sizeof( double ) );
	if ( states == NULL )
		return lmbError_Memory( error );
	lmbLimbRollout rollout = { .positions = states, .velocities = states + numbers };
	lmbTrajectory from = *trajectory; /* of which only the first state and the inputs are looked at */
	double start[2 * lmbLimbMaxDofs];
	lmbStatus status = lmb_statusOk;
	if ( judging->def->fitStart > 0.0 )
	{
		status = lmbLimbPlayer_FitStart( &judging->players[worker], trajectory, truth->hold,
		                                 judging->def->fitStart, start, error );
		from.positions = start;
		from.velocities = start + truth->dofCount;
	}
	if ( status == lmb_statusOk )
		status = lmbLimbPlayer_Run( &judging->players[worker], &from, truth->hold, &rollout, error );
	if ( status == lmb_statusOk )
	{
		const double *times = judging->test->judgedTimes;
		judging->errors[index] = lmbLimbErrors_Of( trajectory, &rollout, truth->dofCount, truth->slides,
		                                           times != NULL ? times[index] : NAN );
		lmbPlant *plant = judging->def->plants != NULL ? judging->def->plants[worker] : NULL;
		if ( plant != NULL )
			AddInteraction( judging, plant, index, &rollout );
		if ( judging->def->details != NULL )
			status = lmbLimbDetails_Add( judging->def->details, index, &rollout, plant, error );
	}
	free( states );
	return status;
}

/* Whether the score ranks the errors: over states of the true motions, every tenth sample, the score against
 * the size of the acceleration's error there. */
static lmbStatus RankTrust( Judging *judging, lmbArena *arena, double *out, lmbError *error )
{
	enum
	{
		stride = 10
	};
	const lmbTrajectories *truth = judging->test->truth;
	size_t room = 0;
	int used = 0;
	for ( int i = 0; i < truth->count; ++i )
		room += (size_t)truth->items[i].sampleCount / stride + 1;
	double *errors = LMB_NEW( arena, double, room ), *scores = LMB_NEW( arena, double, room );
	if ( errors == NULL || scores == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < truth->count; ++i )
		for ( int k = 0; k < truth->items[i].sampleCount; k += stride )
			used += lmbLimbPlayer_Doubt( &judging->players[0], &truth->items[i], k, &scores[used],
			                             &errors[used] );
	if ( judging->def->details != NULL )
		lmbLimbDetails_Doubts( judging->def->details, scores, errors, used );
	return lmbSpearman( scores, errors, used, out, error );
}

static lmbStatus Judge( Judging *judging, const lmbJob *job, lmbArena *arena, lmbLimbScore *out,
                        lmbError *error )
{
	int count = judging->test->truth->count, threads = job != NULL && job->threads > 1 ? job->threads : 1;
	judging->players = LMB_NEW( arena, lmbLimbPlayer, threads );
	judging->errors = LMB_NEW( arena, lmbLimbErrors, count );
	judging->interactions = LMB_NEW( arena, lmbLimbInteraction, count );
	if ( judging->players == NULL || judging->errors == NULL || judging->interactions == NULL )
		return lmbError_Memory( error );
	LMB_TRY( OpenPlayers( judging, threads, arena, error ) );
	if ( judging->def->details != NULL )
		LMB_TRY( lmbLimbDetails_Begin( judging->def->details, judging->test->truth, error ) );
	LMB_TRY( lmbJob_ForEach( job, count, RollOut, judging, error ) );
	LMB_TRY( lmbLimbSummary_Of( judging->errors, count, &out->summary, error ) );
	if ( judging->def->errors != NULL )
		memcpy( judging->def->errors, judging->errors, (size_t)count * sizeof( lmbLimbErrors ) );
	lmbLimbInteraction all = { 0 };
	for ( int i = 0; i < count; ++i )
	{
		all.difference += judging->interactions[i].difference;
		all.truth += judging->interactions[i].truth;
	}
	out->interactionError = all.truth > 0.0 ? sqrt( all.difference / all.truth ) : NAN;
	return RankTrust( judging, arena, &out->trustRank, error );
}

lmbStatus lmbLimbScore_Of( const lmbLimbContender *contender, const lmbLimbTestSet *test,
                           const lmbLimbJudgeDef *def, const lmbJob *job, lmbLimbScore *out, lmbError *error )
{
	Judging judging = { .contender = contender, .test = test, .def = def };
	lmbArena arena = { 0 };
	*out = ( lmbLimbScore ){ .interactionError = NAN, .trustRank = NAN };
	lmbStatus status = Judge( &judging, job, &arena, out, error );
	lmbArena_Free( &arena );
	return status;
}

typedef struct Amplifying
{
	lmbPlant *const *plants;
	const lmbTrajectories *truth;
	double *at; /* (lmbLimbTimeCount x count) */
	double *judgedTimes;
} Amplifying;

static lmbStatus Amplify( void *context, int index, int worker, lmbError *error )
{
	Amplifying *work = context;
	const lmbTrajectory *trajectory = &work->truth->items[index];
	double *growth = calloc( (size_t)trajectory->sampleCount, sizeof( double ) );
	if ( growth == NULL )
		return lmbError_Memory( error );
	lmbStatus status =
	    lmbPlant_Amplification( work->plants[worker], work->truth->hold, trajectory, growth, error );
	int within = 0;
	while ( status == lmb_statusOk && within + 1 < trajectory->sampleCount &&
	        growth[within + 1] < lmbLimbAmplificationLimit )
		within += 1;
	double end = within * trajectory->step, last = lmbLimbTimes[lmbLimbTimeCount - 1];
	work->judgedTimes[index] = end < last ? end : last;
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
	{
		double samples = floor( lmbLimbTimes[t] / trajectory->step + 0.5 );
		work->at[t * work->truth->count + index] =
		    samples < trajectory->sampleCount ? growth[(int)samples] : NAN;
	}
	free( growth );
	return status;
}

lmbStatus lmbLimbAmplification_Of( lmbPlant *const *plants, const lmbTrajectories *truth, const lmbJob *job,
                                   double median[lmbLimbTimeCount], double *judgedTimes, lmbError *error )
{
	int count = truth->count;
	Amplifying work = { .plants = plants, .truth = truth, .judgedTimes = judgedTimes };
	work.at = calloc( (size_t)( lmbLimbTimeCount * count ) + 1, sizeof( double ) );
	if ( work.at == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbJob_ForEach( job, count, Amplify, &work, error );
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
	{
		double *values = work.at + t * count;
		int used = 0;
		for ( int i = 0; i < count; ++i )
			if ( !isnan( values[i] ) )
				values[used++] = values[i];
		median[t] = lmbMedian( values, used );
	}
	free( work.at );
	return status;
}
