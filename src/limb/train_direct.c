/* The one-network way: GRU or LSTM from the first state and each step's mean input to states. Taught on
 * windows of random start, length and stride by Adam with a falling rate; judged on whole stopping
 * trajectories. */
#include "limb/train_private.h"

#include "learn/optimize.h"
#include "learn/recurrent.h"

#include <math.h>
#include <string.h>

enum
{
	batchCount = 64, /* windows of an Adam step */
	taskCount = 4,   /* that they are spread over, whatever the threads */
	perTask = batchCount / taskCount,
	shortest = 16,
	longest = 256, /* steps of a window */
	looks = 40,    /* at the stopping trajectories, over the whole training */
	strideLimit = 2,
	widestLayer = 256 /* of the model file */
};

static const double firstRate = 4e-3, lastRate = 2e-5; /* of Adam, falling along half a cosine */
static const double coarseShare = 0.25;                /* of windows that take every second sample */
static const double clipNorm = 1.0;                    /* of the gradient */

typedef struct DirectWindow
{
	int trajectory, begin, stride;
} DirectWindow;

typedef struct Direct
{
	lmbTraining *training;
	int n, m, steps; /* of the batch that is going on */
	lmbFeatures features;
	lmbRecurrent recurrent;
	lmbScaledNetwork start, read; /* read sees the last layer's h */
	size_t parameterCount;
	double *parameters, *best;
	double bestLoss;
	const lmbStretch *judged; /* whole, by JudgeTask */
	double positionSpread[lmbLimbMaxDofs], velocitySpread[lmbLimbMaxDofs];
	double stepShift[lmbLimbMaxInputs + 1], stepScale[lmbLimbMaxInputs + 1], readBase[lmbLimbMaxDofs];
	DirectWindow windows[batchCount];
	double *taskGradients, *judgedLosses; /* (taskCount x parameterCount), (stretches) */
	double taskLosses[taskCount];
	struct DirectRoom *rooms; /* (workers) */
	lmbArena arena;
} Direct;

/* What one worker needs for a few sequences. */
typedef struct DirectRoom
{
	lmbRecurrentPass recurrent;
	lmbMlpPass start, read;
	double *x, *list, *states;          /* inputs of steps; of the start network; first states */
	double *byOutputs, *byH, *byStates; /* gradients */
} DirectRoom;

static const lmbTrajectory *MotionOf( const Direct *direct, const DirectWindow *window )
{
	return &direct->training->motion[window->trajectory];
}

/* Sequences' inputs (steps x count x (m + 1)) and what the start network sees (count x F + n). */
static void FillInputs( const Direct *direct, const DirectWindow *windows, int count, int steps,
                        DirectRoom *room )
{
	int n = direct->n, m = direct->m, seen = direct->start.mlp.sizes[0];
	bool straight = direct->training->set->hold == lmb_inputLinear;
	for ( int k = 0; k < count; ++k )
	{
		const lmbTrajectory *motion = MotionOf( direct, &windows[k] );
		/* Raw inputs: a smoothed motion's own are smeared. */
		const double *inputs = direct->training->set->items[windows[k].trajectory].inputs;
		int stride = windows[k].stride, begin = windows[k].begin;
		for ( int s = 0; s < steps; ++s )
		{
			double *row = room->x + ( (size_t)s * (size_t)count + (size_t)k ) * (size_t)( m + 1 );
			memset( row, 0, (size_t)m * sizeof( double ) );
			for ( int i = 0; i < stride; ++i )
				for ( int j = 0; j < m; ++j )
				{
					const double *now = inputs + (size_t)( begin + s * stride + i ) * (size_t)m;
					row[j] += ( straight ? 0.5 * ( now[j] + now[m + j] ) : now[j] ) / stride;
				}
			row[m] = stride * motion->step;
			for ( int j = 0; j <= m; ++j )
				row[j] = ( row[j] - direct->stepShift[j] ) * direct->stepScale[j];
		}
		double values[lmbListMax];
		lmbFeatures_Evaluate( &direct->features, motion->positions + (size_t)begin * (size_t)n, values, NULL,
		                      NULL );
		memcpy( values + direct->features.count, motion->velocities + (size_t)begin * (size_t)n,
		        (size_t)n * sizeof( double ) );
		for ( int i = 0; i < seen; ++i )
			room->list[k * seen + i] = ( values[direct->start.inputs[i]] - direct->start.inputShift[i] ) *
			                           direct->start.inputScale[i];
	}
}

/* Scaled outputs (steps x count x 2 n): velocities, then positions less the base. */
static const double *Predict( Direct *direct, const DirectWindow *windows, int count, int steps,
                              const double *parameters, DirectRoom *room )
{
	FillInputs( direct, windows, count, steps, room );
	const double *states =
	    lmbMlp_Forward( &room->start, parameters + direct->start.offset, room->list, count );
	memcpy( room->states, states, (size_t)count * (size_t)direct->recurrent.stateCount * sizeof( double ) );
	const double *h =
	    lmbRecurrent_Forward( &room->recurrent, parameters, room->x, room->states, steps, count );
	return lmbMlp_Forward( &room->read, parameters + direct->read.offset, h, steps * count );
}

/* Mean square of scaled errors; its gradient by the scaled outputs (Nullable). positionSquares (Nullable):
 * mean square of the positions' errors themselves. */
static double Loss( const Direct *direct, const DirectWindow *windows, int count, int steps,
                    const double *outputs, double share, double *gradient, double *positionSquares )
{
	int n = direct->n;
	double sum = 0.0, squares = 0.0;
	for ( int k = 0; k < count; ++k )
	{
		const lmbTrajectory *motion = MotionOf( direct, &windows[k] );
		const double *first = motion->positions + (size_t)windows[k].begin * (size_t)n;
		for ( int s = 0; s < steps; ++s )
		{
			size_t row = ( (size_t)s * (size_t)count + (size_t)k ) * 2 * (size_t)n;
			size_t at = (size_t)( windows[k].begin + ( s + 1 ) * windows[k].stride ) * (size_t)n;
			for ( int i = 0; i < 2 * n; ++i )
			{
				int dof = i % n;
				double real = i < n
				                  ? motion->velocities[at + (size_t)dof]
				                  : motion->positions[at + (size_t)dof] - direct->readBase[dof] * first[dof];
				double unit = direct->read.outputScale[i];
				double off = outputs[row + (size_t)i] - ( real - direct->read.outputShift[i] ) / unit;
				sum += share * off * off;
				if ( i >= n )
					squares += share * off * off * unit * unit * 2.0;
				if ( gradient != NULL )
					gradient[row + (size_t)i] = 2.0 * share * off;
			}
		}
	}
	if ( positionSquares != NULL )
		*positionSquares = squares;
	return sum;
}

static lmbStatus TeachTask( void *context, int task, int worker, lmbError *error )
{
	Direct *direct = context;
	(void)error;
	DirectRoom *room = &direct->rooms[worker];
	const DirectWindow *windows = direct->windows + task * perTask;
	const double *p = direct->parameters;
	double *gradient = direct->taskGradients + (size_t)task * direct->parameterCount;
	double share = 1.0 / ( 2.0 * direct->n * direct->steps * batchCount );
	memset( gradient, 0, direct->parameterCount * sizeof( double ) );
	const double *outputs = Predict( direct, windows, perTask, direct->steps, p, room );
	direct->taskLosses[task] =
	    Loss( direct, windows, perTask, direct->steps, outputs, share, room->byOutputs, NULL );
	size_t first = (size_t)perTask * (size_t)direct->recurrent.hidden;
	const double *h = room->recurrent.h[direct->recurrent.layerCount - 1] + first;
	lmbMlp_Backward( &room->read, p + direct->read.offset, h, room->byOutputs, gradient + direct->read.offset,
	                 room->byH );
	lmbRecurrent_Backward( &room->recurrent, p, room->x, room->byH, gradient, room->byStates );
	lmbMlp_Backward( &room->start, p + direct->start.offset, room->list, room->byStates,
	                 gradient + direct->start.offset, NULL );
	return lmb_statusOk;
}

/* A whole stretch, cut only where the room ends. */
static int WholeSteps( const Direct *direct, int index )
{
	int steps = direct->judged[index].count - 1, most = longest * perTask;
	return steps < most ? steps : most;
}

static lmbStatus JudgeTask( void *context, int index, int worker, lmbError *error )
{
	Direct *direct = context;
	(void)error;
	DirectRoom *room = &direct->rooms[worker];
	const lmbStretch *stretch = &direct->judged[index];
	DirectWindow window = { stretch->trajectory, stretch->begin, 1 };
	int steps = WholeSteps( direct, index );
	direct->judgedLosses[index] = 0.0;
	if ( steps < 1 )
		return lmb_statusOk;
	const double *outputs = Predict( direct, &window, 1, steps, direct->parameters, room );
	double squares;
	Loss( direct, &window, 1, steps, outputs, 0.5 / direct->n, NULL, &squares );
	direct->judgedLosses[index] = squares;
	return lmb_statusOk;
}

/* RMS of positions over whole stretches; NAN when cancelled. */
static double Judge( Direct *direct, const lmbStretch *stretches, int count, const double *parameters )
{
	double sum = 0.0, numbers = 0.0, *own = direct->parameters;
	direct->judged = stretches;
	direct->parameters = (double *)parameters;
	lmbStatus status = lmbJob_ForEach( direct->training->job, count, JudgeTask, direct, NULL );
	direct->parameters = own;
	if ( status != lmb_statusOk )
		return (double)NAN;
	for ( int i = 0; i < count; ++i )
	{
		sum += direct->judgedLosses[i];
		numbers += WholeSteps( direct, i );
	}
	return sqrt( sum / fmax( numbers, 1.0 ) );
}

static void Look( Direct *direct )
{
	const lmbSplit *split = &direct->training->split;
	double loss = Judge( direct, split->stop, split->stopCount, direct->parameters );
	if ( !( loss < direct->bestLoss ) )
		return;
	direct->bestLoss = loss;
	memcpy( direct->best, direct->parameters, direct->parameterCount * sizeof( double ) );
}

/* From how many samples a window of so many can start. */
static double Starts( const lmbSplit *split, int samples )
{
	double total = 0.0;
	for ( int i = 0; i < split->trainCount; ++i )
		total += fmax( split->train[i].count - samples, 0 );
	return total;
}

/* Windows of steps drawn over all possible starts. A stride that no stretch is long enough for becomes 1. */
static void DrawWindows( Direct *direct, int steps, lmbRandom *random )
{
	const lmbSplit *split = &direct->training->split;
	for ( int k = 0; k < batchCount; ++k )
	{
		int stride = lmbRandom_Uniform( random ) < coarseShare ? strideLimit : 1;
		double total = Starts( split, steps * stride );
		if ( total == 0.0 )
			total = Starts( split, steps * ( stride = 1 ) );
		double pick = lmbRandom_Uniform( random ) * total;
		for ( int i = 0; i < split->trainCount; ++i )
		{
			double own = fmax( split->train[i].count - steps * stride, 0 );
			if ( own <= 0.0 )
				continue;
			direct->windows[k] =
			    ( DirectWindow ){ split->train[i].trajectory,
			                      split->train[i].begin + ( pick < own ? (int)pick : (int)own - 1 ), stride };
			if ( pick < own )
				break;
			pick -= own;
		}
	}
}

static void SumGradient( const Direct *direct, double *gradient )
{
	double squares = 0.0;
	memset( gradient, 0, direct->parameterCount * sizeof( double ) );
	for ( int t = 0; t < taskCount; ++t )
		for ( size_t k = 0; k < direct->parameterCount; ++k )
			gradient[k] += direct->taskGradients[(size_t)t * direct->parameterCount + k];
	for ( size_t k = 0; k < direct->parameterCount; ++k )
		squares += gradient[k] * gradient[k];
	double norm = sqrt( squares );
	for ( size_t k = 0; k < direct->parameterCount && norm > clipNorm; ++k )
		gradient[k] *= clipNorm / norm;
}

static lmbStatus Descend( Direct *direct, lmbRandom *random, lmbError *error )
{
	lmbTraining *training = direct->training;
	lmbAdam adam;
	double *gradient = LMB_NEW( &direct->arena, double, direct->parameterCount );
	if ( gradient == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbAdam_Make( &adam, direct->parameterCount, &direct->arena, error ) );
	int most = 0;
	for ( int i = 0; i < training->split.trainCount; ++i )
		most = training->split.train[i].count - 1 > most ? training->split.train[i].count - 1 : most;
	if ( most < 1 )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "no trajectory has two samples left to teach from beside what stops the training" );
	most = most > longest ? longest : most;
	int least = most < shortest ? most : shortest;
	/* An epoch sees about as many samples as there are. */
	int perEpoch = training->trainSamples.count / ( batchCount * ( least + most ) / 2 );
	int total = training->def->adamEpochs * ( perEpoch < 4 ? 4 : perEpoch ), told = 0;
	training->progressTotal = total;
	Look( direct );
	for ( int step = 0; step < total; ++step )
	{
		direct->steps = least + (int)lmbRandom_Below( random, (uint32_t)( most - least + 1 ) );
		DrawWindows( direct, direct->steps, random );
		lmbJob_ForEach( training->job, taskCount, TeachTask, direct, NULL );
		if ( lmbJob_Cancelled( training->job ) )
			return lmbJob_CancelledStatus( error );
		double loss = 0.0, share = 0.5 + 0.5 * cos( 3.141592653589793 * step / total );
		for ( int t = 0; t < taskCount; ++t )
			loss += direct->taskLosses[t];
		SumGradient( direct, gradient );
		if ( isfinite( loss ) )
			lmbAdam_Step( &adam, lastRate + ( firstRate - lastRate ) * share, gradient, direct->parameters );
		if ( ( step + 1 ) * looks / total == step * looks / total )
			continue;
		Look( direct );
		lmbTraining_Tell( training, step + 1 - told, "Adam", direct->bestLoss );
		told = step + 1;
	}
	return lmb_statusOk;
}

static lmbStatus MakeNetwork( Direct *direct, const int *sizes, int layers, lmbScaledNetwork *network,
                              lmbError *error )
{
	LMB_TRY( lmbMlp_Make( &network->mlp, sizes, layers, error ) );
	int in = sizes[0], out = sizes[layers];
	lmbArena *arena = &direct->training->arena; /* the model file reads them when direct is gone */
	network->used = true;
	network->offset = direct->parameterCount;
	direct->parameterCount += network->mlp.parameterCount;
	network->inputs = LMB_NEW( arena, int32_t, in );
	network->inputShift = LMB_NEW( arena, double, in );
	network->inputScale = LMB_NEW( arena, double, in );
	network->outputShift = LMB_NEW( arena, double, out );
	network->outputScale = LMB_NEW( arena, double, out );
	if ( network->inputs == NULL || network->inputShift == NULL || network->inputScale == NULL ||
	     network->outputShift == NULL || network->outputScale == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < in; ++i )
	{
		network->inputs[i] = i;
		network->inputScale[i] = 1.0;
	}
	for ( int i = 0; i < out; ++i )
		network->outputScale[i] = 1.0;
	return lmb_statusOk;
}

static lmbStatus MakeNetworks( Direct *direct, lmbError *error )
{
	const lmbTraining *training = direct->training;
	const lmbLimbTrainDef *def = training->def;
	int n = direct->n, m = direct->m;
	lmbEquationsDef spread;
	lmbTraining_EquationsDef( training, &spread );
	LMB_TRY( lmbEquations_ChooseFeatures( &spread, &direct->features, error ) );
	if ( def->width < 1 || def->width > widestLayer || def->hiddenLayers < 1 ||
	     def->hiddenLayers > lmbLimbCellsMax )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%d recurrent layers of %d units; 1 to %d layers of 1 to %d are possible",
		                     def->hiddenLayers, def->width, lmbLimbCellsMax, widestLayer );
	LMB_TRY( lmbRecurrent_Make( &direct->recurrent, def->kind == lmb_limbLstm, def->hiddenLayers, m + 1,
	                            def->width, error ) );
	direct->parameterCount = direct->recurrent.parameterCount;
	int seen = direct->features.count + n;
	LMB_TRY( MakeNetwork( direct, ( int[] ){ seen, def->width, direct->recurrent.stateCount }, 2,
	                      &direct->start, error ) );
	LMB_TRY( MakeNetwork( direct, ( int[] ){ def->width, 2 * n }, 1, &direct->read, error ) );
	double step = training->set->items[0].step;
	for ( int j = 0; j < m; ++j )
	{
		direct->stepShift[j] = spread.inputMean[j];
		direct->stepScale[j] = spread.inputSpread[j] > 1e-12 ? 1.0 / spread.inputSpread[j] : 1.0;
	}
	direct->stepShift[m] = step;
	direct->stepScale[m] = 1.0 / step;
	for ( int i = 0; i < n; ++i )
	{
		double v = fmax( spread.velocitySpread[i], 1e-9 ), q = fmax( spread.positionSpread[i], 1e-9 );
		direct->start.inputScale[direct->features.count + i] = 1.0 / v;
		/* Where a joint turns without end, or only changes matter, positions are told from the start's. */
		direct->readBase[i] = training->set->turns[i] || training->set->slides[i] ? 1.0 : 0.0;
		direct->read.outputScale[i] = v;
		direct->read.outputScale[n + i] = q;
		direct->read.outputShift[n + i] = direct->readBase[i] == 0.0 ? spread.positionMean[i] : 0.0;
	}
	return lmb_statusOk;
}

static lmbStatus MakeRooms( Direct *direct, lmbError *error )
{
	const lmbTraining *training = direct->training;
	int workers = training->job != NULL && training->job->threads > 1 ? training->job->threads : 1;
	/* perTask sequences of the longest window, or one stopping trajectory: as many rows. */
	size_t rows = (size_t)longest * perTask, states = (size_t)direct->recurrent.stateCount;
	lmbArena *arena = &direct->arena;
	direct->rooms = LMB_NEW( arena, DirectRoom, workers );
	if ( direct->rooms == NULL )
		return lmbError_Memory( error );
	for ( int w = 0; w < workers; ++w )
	{
		DirectRoom *room = &direct->rooms[w];
		/* One sequence as long as all rows: steps x count is what the arrays hold. */
		LMB_TRY(
		    lmbRecurrentPass_Make( &room->recurrent, &direct->recurrent, perTask, longest, arena, error ) );
		LMB_TRY( lmbMlpPass_Make( &room->start, &direct->start.mlp, perTask, arena, error ) );
		LMB_TRY( lmbMlpPass_Make( &room->read, &direct->read.mlp, (int)rows, arena, error ) );
		room->x = LMB_NEW( arena, double, rows *(size_t)( direct->m + 1 ) );
		room->list = LMB_NEW( arena, double, perTask *(size_t)direct->start.mlp.sizes[0] );
		room->states = LMB_NEW( arena, double, perTask *states );
		room->byOutputs = LMB_NEW( arena, double, rows * 2 * (size_t)direct->n );
		room->byH = LMB_NEW( arena, double, rows *(size_t)direct->recurrent.hidden );
		room->byStates = LMB_NEW( arena, double, perTask *states );
		if ( room->x == NULL || room->list == NULL || room->states == NULL || room->byOutputs == NULL ||
		     room->byH == NULL || room->byStates == NULL )
			return lmbError_Memory( error );
	}
	direct->parameters = LMB_NEW( arena, double, direct->parameterCount );
	direct->best = LMB_NEW( arena, double, direct->parameterCount );
	direct->taskGradients = LMB_NEW( arena, double, taskCount * direct->parameterCount );
	direct->judgedLosses = LMB_NEW( arena, double, training->set->count );
	if ( direct->parameters == NULL || direct->best == NULL || direct->taskGradients == NULL ||
	     direct->judgedLosses == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

static float *Rounded( const double *numbers, size_t count, lmbArena *arena )
{
	float *out = LMB_NEW( arena, float, count );
	for ( size_t i = 0; i < count && out != NULL; ++i )
		out[i] = (float)numbers[i];
	return out;
}

static lmbStatus FillModel( const Direct *direct, lmbLimbModel *model, lmbError *error )
{
	lmbArena *arena = &direct->training->arena;
	const lmbRecurrent *recurrent = &direct->recurrent;
	size_t h = (size_t)recurrent->hidden, gates = (size_t)recurrent->gates * h;
	int m = direct->m, n = direct->n;
	model->cellCount = recurrent->layerCount;
	model->hidden = recurrent->hidden;
	for ( int l = 0; l < recurrent->layerCount; ++l )
	{
		lmbLimbCell *cell = &model->cells[l];
		cell->inputs = l == 0 ? m + 1 : recurrent->hidden;
		cell->input =
		    Rounded( direct->best + recurrent->inputWeights[l], gates * (size_t)cell->inputs, arena );
		cell->hidden = Rounded( direct->best + recurrent->hiddenWeights[l], gates * h, arena );
		cell->bias = Rounded( direct->best + recurrent->inputBiases[l], 2 * gates, arena );
		if ( cell->input == NULL || cell->hidden == NULL || cell->bias == NULL )
			return lmbError_Memory( error );
	}
	lmbFeatures *features = LMB_NEW( arena, lmbFeatures, 1 );
	double *constants = LMB_NEW( arena, double, 2 * ( m + 1 ) + n );
	if ( features == NULL || constants == NULL )
		return lmbError_Memory( error );
	*features = direct->features;
	memcpy( constants, direct->stepShift, (size_t)( m + 1 ) * sizeof( double ) );
	memcpy( constants + m + 1, direct->stepScale, (size_t)( m + 1 ) * sizeof( double ) );
	memcpy( constants + 2 * ( m + 1 ), direct->readBase, (size_t)n * sizeof( double ) );
	model->features = features;
	model->stepShift = constants;
	model->stepScale = constants + m + 1;
	model->readBase = constants + 2 * ( m + 1 );
	LMB_TRY( lmbLimbModel_AddNetwork( model, "start", &direct->start, direct->best + direct->start.offset,
	                                  arena, error ) );
	return lmbLimbModel_AddNetwork( model, "read", &direct->read, direct->best + direct->read.offset, arena,
	                                error );
}

static lmbStatus Run( Direct *direct, lmbLimbModel *model, lmbLimbTrainReport *report, lmbError *error )
{
	lmbTraining *training = direct->training;
	LMB_TRY( MakeNetworks( direct, error ) );
	LMB_TRY( MakeRooms( direct, error ) );
	lmbRandom random = lmbRandom_Seed( training->job != NULL ? training->job->seed : 0, 0xd12ec7 );
	lmbRecurrent_Init( &direct->recurrent, &random, direct->parameters );
	lmbMlp_Init( &direct->start.mlp, 1.0, &random, direct->parameters + direct->start.offset );
	lmbMlp_Init( &direct->read.mlp, 1.0, &random, direct->parameters + direct->read.offset );
	LMB_TRY( Descend( direct, &random, error ) );
	if ( !( direct->bestLoss < HUGE_VAL ) )
		return lmbError_Set( error, lmb_statusNumerical,
		                     "the loss on the stopping trajectories never was finite; look at the data" );
	report->parameterCount = direct->parameterCount;
	report->stopLoss = direct->bestLoss;
	report->trainLoss = Judge( direct, training->split.train, training->split.trainCount, direct->best );
	report->usedInvariance = training->def->invariantBase;
	LMB_TRY( FillModel( direct, model, error ) );
	return training->def->trust ? lmbTrain_Trust( training, model->features, NULL, &model->trust, error )
	                            : lmb_statusOk;
}

lmbStatus lmbTrain_Direct( lmbTraining *training, lmbLimbModel *model, lmbLimbTrainReport *report,
                           lmbError *error )
{
	Direct direct = { .training = training,
	                  .n = training->set->dofCount,
	                  .m = training->set->inputCount,
	                  .bestLoss = HUGE_VAL };
	lmbStatus status = Run( &direct, model, report, error );
	lmbArena_Free( &direct.arena );
	return status;
}
