#include "limb/train_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
	trialShare = 5,      /* one in so many L-BFGS iterations decides about the invariance */
	fullSamples = 20000, /* from here on L-BFGS makes the iterations of the def; fewer samples are cheap, */
	cheapIterations = 5  /* and small sets need more of them: up to so many times as many */
};

lmbLimbTrainDef lmbDefaultLimbTrainDef( lmbLimbKind kind )
{
	lmbLimbTrainDef def = { .kind = kind,
	                        .hiddenLayers = 2,
	                        .width = 32,
	                        .potential = true,
	                        .findInvariance = true,
	                        .chainPrior = true,
	                        .window = 0.5,
	                        .adamEpochs = 20,
	                        .lbfgsIterations = 400,
	                        .stopShare = 0.1,
	                        .trust = true };
	if ( kind == lmb_limbPlain )
	{
		def.width = 64;
		def.findInvariance = false;
	}
	if ( kind == lmb_limbGru || kind == lmb_limbLstm )
	{
		def.hiddenLayers = 1;
		def.width = 64;
		def.adamEpochs = 200;
		def.lbfgsIterations = 0;
		def.findInvariance = false;
	}
	return def;
}

static bool IsFinite( const double *numbers, size_t count )
{
	double sum = 0.0;
	for ( size_t i = 0; i < count && numbers != NULL; ++i )
		sum += 0.0 * numbers[i];
	return sum == 0.0;
}

static lmbStatus CheckSet( const lmbTrajectories *set, lmbError *error )
{
	if ( set->dofCount < 1 || set->dofCount > lmbLimbMaxDofs || set->inputCount < 0 ||
	     set->inputCount > lmbLimbMaxInputs )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "trajectories of %d degrees of freedom and %d inputs; 1 to %d and 0 to %d can be "
		    "learned",
		    set->dofCount, set->inputCount, lmbLimbMaxDofs, lmbLimbMaxInputs );
	if ( set->count < 1 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "there is no trajectory to learn from" );
	size_t n = (size_t)set->dofCount, m = (size_t)set->inputCount;
	for ( int i = 0; i < set->count; ++i )
	{
		const lmbTrajectory *item = &set->items[i];
		if ( item->sampleCount < 2 || !( item->step > 0.0 ) || item->positions == NULL ||
		     ( m > 0 && item->inputs == NULL ) )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "trajectory \"%s\" needs at least 2 samples, a step above 0, positions and "
			                     "inputs",
			                     item->name );
		size_t count = (size_t)item->sampleCount;
		if ( !IsFinite( item->positions, count * n ) || !IsFinite( item->velocities, count * n ) ||
		     !IsFinite( item->accelerations, count * n ) || !IsFinite( item->inputs, count * m ) )
			return lmbError_Set( error, lmb_statusNumerical,
			                     "trajectory \"%s\" holds a number that is not finite", item->name );
	}
	return lmb_statusOk;
}

static lmbStatus CheckDef( const lmbLimbTrainDef *def, lmbError *error )
{
	if ( !( def->stopShare > 0.0 && def->stopShare <= 0.5 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the share that stops the training is %g; it must be above 0 and at most 0.5",
		                     def->stopShare );
	if ( def->adamEpochs < 0 || def->lbfgsIterations < 0 || def->adamEpochs + def->lbfgsIterations < 1 )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%d epochs of Adam and %d iterations of L-BFGS: at least one of them must be above "
		    "0 and none below",
		    def->adamEpochs, def->lbfgsIterations );
	if ( !( def->noise >= 0.0 && def->noise < 1e3 ) || !( def->cutoff >= 0.0 && def->cutoff < 1e9 ) ||
	     !( def->window > 0.0 && def->window < 1e9 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "noise %g, cutoff %g and window %g: noise and cutoff must not be negative, the "
		                     "window must be above 0",
		                     def->noise, def->cutoff, def->window );
	return lmb_statusOk;
}

static bool IsRecurrent( const lmbLimbTrainDef *def )
{
	return def->kind == lmb_limbGru || def->kind == lmb_limbLstm;
}

/* Whether every trajectory comes with velocities, and accelerations where they are needed. */
static bool HasDerivatives( const lmbTraining *training )
{
	for ( int i = 0; i < training->set->count; ++i )
		if ( training->set->items[i].velocities == NULL ||
		     ( training->set->items[i].accelerations == NULL && !IsRecurrent( training->def ) ) )
			return false;
	return true;
}

static bool UsesShooting( const lmbTraining *training )
{
	return training->def->method == lmb_limbMethodShooting ||
	       ( training->def->method == lmb_limbMethodAuto && !HasDerivatives( training ) );
}

static lmbStatus PrepareSamples( lmbTraining *training, lmbError *error )
{
	const lmbSplit *split = &training->split;
	if ( !HasDerivatives( training ) || ( UsesShooting( training ) && !IsRecurrent( training->def ) ) )
		LMB_TRY( lmbTrain_Smooth( training, error ) );
	LMB_TRY(
	    lmbTraining_Gather( training, split->train, split->trainCount, &training->trainSamples, error ) );
	return lmbTraining_Gather( training, split->stop, split->stopCount, &training->stopSamples, error );
}

/* One way to set the equations up, taught. */
typedef struct Candidate
{
	lmbEquations equations;
	double *parameters;
	lmbBest best;
	bool started; /* from a chain: near the end already, where Adam would only stray */
} Candidate;

static lmbStatus Begin( lmbTraining *training, bool invariantBase, Candidate *candidate, lmbError *error )
{
	lmbEquationsDef def;
	lmbTraining_EquationsDef( training, &def );
	def.invariantBase = invariantBase;
	/* Gravity on rigid segments is linear in the features; a network would only come close. */
	def.linearPotential = def.potential && training->def->chainPrior;
	LMB_TRY( lmbEquations_Make( &def, &candidate->equations, error ) );
	bool holds = false;
	if ( def.linearPotential )
		LMB_TRY( lmbTrain_ChainHolds( training, &candidate->equations, &holds, error ) );
	if ( def.linearPotential && !holds )
	{
		lmbEquations_Free( &candidate->equations );
		def.linearPotential = false;
		LMB_TRY( lmbEquations_Make( &def, &candidate->equations, error ) );
	}
	size_t count = candidate->equations.parameterCount;
	candidate->parameters = LMB_NEW( &training->arena, double, count );
	candidate->best = ( lmbBest ){ LMB_NEW( &training->arena, double, count ), HUGE_VAL, (double)NAN };
	if ( candidate->parameters == NULL || candidate->best.parameters == NULL )
		return lmbError_Memory( error );
	lmbRandom random = lmbRandom_Seed( training->job != NULL ? training->job->seed : 0, 0x11b );
	lmbEquations_Init( &candidate->equations, &random, candidate->parameters );
	/* A potential that is a network has springs to learn, which no chain has. */
	if ( !def.potential || def.linearPotential )
		return lmbTrain_StartFromChain( training, &candidate->equations, candidate->parameters,
		                                &candidate->started, error );
	return lmb_statusOk;
}

static lmbStatus Teach( lmbTraining *training, Candidate *candidate, int adamEpochs, int lbfgsIterations,
                        lmbError *error )
{
	lmbRandom random = lmbRandom_Seed( training->job != NULL ? training->job->seed : 0, 0xada );
	lmbRegressionDef def = { candidate->started ? 0 : adamEpochs, lbfgsIterations };
	return lmbTrain_Regression( training, &candidate->equations, &def, &random, candidate->parameters,
	                            &candidate->best, error );
}

/* Regression of the set-up that the def names; or of both, a little, and then of the better. The simpler one
 * wins a tie: it does not have to learn from data what it cannot do wrong. */
static lmbStatus TeachRegression( lmbTraining *training, int lbfgsIterations, Candidate candidates[2],
                                  int *chosen, lmbError *error )
{
	const lmbLimbTrainDef *def = training->def;
	int trial = ( lbfgsIterations + trialShare - 1 ) / trialShare;
	bool both = def->findInvariance && !def->invariantBase;
	*chosen = 0;
	LMB_TRY( Begin( training, def->invariantBase || both, &candidates[0], error ) );
	if ( !both )
		return Teach( training, &candidates[0], def->adamEpochs, lbfgsIterations, error );
	LMB_TRY( Teach( training, &candidates[0], def->adamEpochs, trial, error ) );
	LMB_TRY( Begin( training, false, &candidates[1], error ) );
	LMB_TRY( Teach( training, &candidates[1], def->adamEpochs, trial, error ) );
	*chosen = candidates[1].best.loss < 0.5 * candidates[0].best.loss ? 1 : 0;
	lmbJob_Note( training->job, "%s: stopping loss %.3g without the base angle, %.3g with it",
	             *chosen == 0 ? "The dynamics do not depend on the base angle"
	                          : "The dynamics depend on the base angle",
	             candidates[0].best.loss, candidates[1].best.loss );
	return Teach( training, &candidates[*chosen], 0, lbfgsIterations - trial, error );
}

static lmbStatus NameStops( lmbTraining *training, lmbTrajectories *set, lmbLimbTrainReport *report,
                            lmbError *error )
{
	const lmbSplit *split = &training->split;
	const char **names = LMB_NEW( &set->arena, const char *, split->stopCount );
	if ( names == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < split->stopCount; ++i )
	{
		const lmbStretch *stretch = &split->stop[i];
		char name[256];
		snprintf( name, sizeof( name ), "%s%s", set->items[stretch->trajectory].name,
		          stretch->begin > 0 ? " (its end)" : "" );
		names[i] = lmbArena_String( &set->arena, name );
		if ( names[i] == NULL )
			return lmbError_Memory( error );
	}
	report->stopCount = split->stopCount;
	report->stopNames = names;
	return lmb_statusOk;
}

static lmbStatus TeachEquations( lmbTraining *training, lmbLimbModel *model, Candidate candidates[2],
                                 lmbLimbTrainReport *report, lmbError *error )
{
	const lmbLimbTrainDef *def = training->def;
	bool shooting = UsesShooting( training );
	double cheap = fmin( fmax( (double)fullSamples / training->trainSamples.count, 1.0 ), cheapIterations );
	int iterations = (int)( def->lbfgsIterations * cheap );
	int chosen, trials = def->findInvariance && !def->invariantBase ? 2 : 1;
	training->progressTotal = trials * def->adamEpochs + iterations +
	                          ( shooting ? def->lbfgsIterations : 0 ) +
	                          ( trials - 1 ) * ( iterations / (double)trialShare );
	LMB_TRY( TeachRegression( training, iterations, candidates, &chosen, error ) );
	Candidate *winner = &candidates[chosen];
	report->usedInvariance = def->invariantBase || ( trials == 2 && chosen == 0 );
	if ( shooting )
		LMB_TRY( lmbTrain_Shooting( training, &winner->equations, winner->parameters, &report->trainLoss,
		                            &report->stopLoss, error ) );
	else
	{
		LMB_TRY( lmbTrain_AccelerationError( training, &winner->equations, &training->trainSamples,
		                                     winner->parameters, &report->trainLoss, error ) );
		LMB_TRY( lmbTrain_AccelerationError( training, &winner->equations, &training->stopSamples,
		                                     winner->parameters, &report->stopLoss, error ) );
	}
	report->parameterCount = winner->equations.parameterCount;
	LMB_TRY( lmbLimbModel_FromEquations( model, &winner->equations, winner->parameters, &training->arena,
	                                     error ) );
	if ( !def->trust )
		return lmb_statusOk;
	double *errors = LMB_NEW( &training->arena, double, training->trainSamples.count );
	if ( errors == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbTrain_SquaredErrors( training, &winner->equations, &training->trainSamples,
	                                 winner->parameters, errors, error ) );
	return lmbTrain_Trust( training, &winner->equations.features, errors, &model->trust, error );
}

static lmbStatus Train( lmbTraining *training, Candidate candidates[2], lmbTrajectories *set,
                        const char *path, lmbLimbTrainReport *report, lmbError *error )
{
	const lmbLimbTrainDef *def = training->def;
	lmbLimbModel model = { .kind = def->kind,
	                       .dofCount = set->dofCount,
	                       .inputCount = set->inputCount,
	                       .dofNames = set->dofNames,
	                       .inputNames = set->inputNames,
	                       .slides = set->slides,
	                       .hold = set->hold,
	                       .step = set->items[0].step };
	LMB_TRY( lmbTraining_Split( training, error ) );
	LMB_TRY( NameStops( training, set, report, error ) );
	LMB_TRY( PrepareSamples( training, error ) );
	if ( IsRecurrent( def ) )
		LMB_TRY( lmbTrain_Direct( training, &model, report, error ) );
	else
		LMB_TRY( TeachEquations( training, &model, candidates, report, error ) );
	if ( lmbJob_Cancelled( training->job ) )
		return lmbJob_CancelledStatus( error );
	return lmbLimbModel_Write( &model, path, error );
}

lmbStatus lmbLimb_Train( lmbTrajectories *set, const lmbLimbTrainDef *def, const lmbJob *job,
                         const char *path, lmbLimbTrainReport *report, lmbError *error )
{
	lmbLimbTrainReport unused;
	double begin = lmbClock_Seconds();
	report = report != NULL ? report : &unused;
	*report = ( lmbLimbTrainReport ){ 0 };
	LMB_TRY( CheckSet( set, error ) );
	LMB_TRY( CheckDef( def, error ) );
	lmbTraining training = { .set = set, .motion = set->items, .def = def, .job = job };
	Candidate candidates[2] = { 0 };
	lmbStatus status = Train( &training, candidates, set, path, report, error );
	for ( int i = 0; i < 2; ++i )
		lmbEquations_Free( &candidates[i].equations );
	lmbArena_Free( &training.arena );
	report->seconds = lmbClock_Seconds() - begin;
	return status;
}
