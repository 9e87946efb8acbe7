#include "flesh/train_parts.h"

#include "learn/pca.h"
#include "learn/ridge.h"

#include <math.h>
#include <string.h>

/* The perceptron stays only where it takes at least this share off the regression's error on samples that
 * it was not fitted to: less is chance, and costs run time. */
static const double worthwhile = 0.02;

/* A bone one step further away in the skeleton counts for half: its features are scaled by 1/2 before
 * either predictor sees them, so that moving with them costs more under the same penalty. */
static const double nearness = 0.5;

/* One region in the making. Rows are those of the data: own samples, then mirrored ones. */
typedef struct Making
{
	const lmbTrainSetup *setup;
	const lmbRegionArea *area;
	lmbRegion *region;
	lmbArena scratch;
	lmbPca pca;
	double *rowWeights; /* (samples) 1 for training, 0 else */
	double *inputs;     /* (samples x features) of the region, scaled by nearness */
	double *closeness;  /* (features) that scale */
	double *linear;     /* (coefficients x (features + 1)) */
	double *residual;   /* (samples x coefficients) what the regression leaves */
	lmbRandom random;
} Making;

/* Steps from bone to the others along the skeleton; -1 out of reach. */
static void Distances( const lmbCharacter *character, int bone, int reach, int32_t *distance )
{
	for ( int j = 0; j < character->boneCount; ++j )
		distance[j] = j == bone ? 0 : -1;
	for ( int step = 1; step <= reach; ++step )
		for ( int j = 0; j < character->boneCount; ++j )
		{
			int parent = character->bones[j].parent;
			if ( parent < 0 )
				continue;
			if ( distance[j] == step - 1 && distance[parent] < 0 )
				distance[parent] = step;
			if ( distance[parent] == step - 1 && distance[j] < 0 )
				distance[j] = step;
		}
}

static lmbStatus ChooseInputs( Making *making, lmbArena *arena, lmbError *error )
{
	const lmbTrainSetup *setup = making->setup;
	lmbRegion *region = making->region;
	int bones = setup->character->boneCount;
	int32_t *distance = LMB_NEW( &making->scratch, int32_t, bones );
	region->features = LMB_NEW( arena, int32_t, setup->data->featureCount );
	making->closeness = LMB_NEW( &making->scratch, double, setup->data->featureCount );
	if ( distance == NULL || region->features == NULL || making->closeness == NULL )
		return lmbError_Memory( error );
	Distances( setup->character, making->area->bone, setup->def->reach, distance );
	for ( int j = 0; j < bones; ++j )
		for ( int f = setup->offsets[j]; distance[j] >= 0 && f < setup->offsets[j + 1]; ++f )
			if ( region->featureCount < lmbRegionFeaturesMax )
			{
				making->closeness[region->featureCount] = pow( nearness, distance[j] );
				region->features[region->featureCount++] = f;
			}
	size_t samples = (size_t)setup->data->sampleCount;
	making->inputs = LMB_NEW( &making->scratch, double, samples *(size_t)region->featureCount );
	if ( making->inputs == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < samples; ++i )
		for ( int f = 0; f < region->featureCount; ++f )
			making->inputs[i * (size_t)region->featureCount + (size_t)f] =
			    making->closeness[f] *
			    setup->data->features[i * (size_t)setup->data->featureCount + (size_t)region->features[f]];
	return lmb_statusOk;
}

/* Basis over the region's vertices, weighted by area and region weight: since the weights sum to 1, the
 * squared error of the blend is at most the weighted sum of the regions' squared errors (Jensen), and that
 * sum is what each region's components make least. Weights are scaled to sum to 1, so that coefficients
 * are in metres RMS over the region. */
static lmbStatus MakeBasis( Making *making, lmbError *error )
{
	const lmbTrainData *data = making->setup->data;
	const lmbRegionArea *area = making->area;
	double *weights = LMB_NEW( &making->scratch, double, area->vertexCount );
	making->rowWeights = LMB_NEW( &making->scratch, double, data->sampleCount );
	if ( weights == NULL || making->rowWeights == NULL )
		return lmbError_Memory( error );
	double total = 0.0;
	for ( int i = 0; i < area->vertexCount; ++i )
		total += weights[i] = area->weights[i] * making->setup->map->vertexAreas[area->vertices[i]];
	for ( int i = 0; i < area->vertexCount; ++i )
		weights[i] /= total > 0.0 ? total : 1.0;
	for ( int i = 0; i < data->sampleCount; ++i )
		making->rowWeights[i] = data->uses[i] == lmb_useTrain;
	lmbSampleView view = { .rowCount = data->sampleCount,
	                       .data = data->displacement,
	                       .stride = 3 * (size_t)data->vertexCount,
	                       .blockCount = area->vertexCount,
	                       .blockWidth = 3,
	                       .blocks = area->vertices,
	                       .blockWeights = weights,
	                       .rowWeights = making->rowWeights };
	const lmbTrainDef *def = making->setup->def;
	return lmbPca_Compute( &view, def->coefficients, def->varianceKept, lmbRandom_Bits( &making->random ),
	                       &making->scratch, &making->pca, error );
}

static lmbStatus FitLinear( Making *making, lmbError *error )
{
	const lmbTrainData *data = making->setup->data;
	const lmbRegion *region = making->region;
	size_t samples = (size_t)data->sampleCount, outputs = (size_t)making->pca.count;
	making->linear = LMB_NEW( &making->scratch, double, outputs *( (size_t)region->featureCount + 1 ) );
	making->residual = LMB_NEW( &making->scratch, double, samples *outputs );
	if ( making->linear == NULL || making->residual == NULL )
		return lmbError_Memory( error );
	lmbRidgeDef def = { .sampleCount = data->sampleCount,
	                    .featureCount = region->featureCount,
	                    .outputCount = making->pca.count,
	                    .features = making->inputs,
	                    .targets = making->pca.coefficients,
	                    .sampleWeights = making->rowWeights,
	                    .ridge = making->setup->def->ridge,
	                    .folds = data->folds,
	                    .foldCount = lmbTrainFolds };
	LMB_TRY( lmbRidge_Fit( &def, making->linear, NULL, error ) );
	lmbRidge_Evaluate( data->sampleCount, region->featureCount, making->pca.count, making->inputs,
	                   making->linear, making->residual );
	for ( size_t i = 0; i < samples * outputs; ++i )
		making->residual[i] = making->pca.coefficients[i] - making->residual[i];
	return lmb_statusOk;
}

/* What the perceptron sees of a feature: less its mean over the training rows, times its nearness, times one
 * scale for all, 1 / the RMS of what they then are. Entries of rotations are of one kind; scaling each by
 * its own deviation would blow those up that hardly move and matter least (measured: docs/results.md). */
static void Normalise( Making *making )
{
	const lmbTrainData *data = making->setup->data;
	lmbRegion *region = making->region;
	size_t width = (size_t)region->featureCount;
	double square = 0.0, count = 0.0;
	for ( int i = 0; i < data->sampleCount; ++i )
		count += making->rowWeights[i];
	for ( size_t f = 0; f < width; ++f )
	{
		double sum = 0.0;
		for ( int i = 0; i < data->sampleCount; ++i )
			sum += making->rowWeights[i] * making->inputs[(size_t)i * width + f];
		region->featureMean[f] = (float)( sum / count / making->closeness[f] );
		for ( int i = 0; i < data->sampleCount; ++i )
		{
			double x = making->inputs[(size_t)i * width + f] - sum / count;
			square += making->rowWeights[i] * x * x;
		}
	}
	double deviation = sqrt( square / ( count * (double)width ) );
	for ( size_t f = 0; f < width; ++f )
		region->featureScale[f] = deviation > 1e-6 ? (float)( making->closeness[f] / deviation ) : 0.0f;
}

/* Rows with a use, copied together. inputs normalised, targets divided by unit. Returns how many. */
static int Gather( const Making *making, lmbSampleUse use, double unit, double *inputs, double *targets )
{
	const lmbTrainData *data = making->setup->data;
	const lmbRegion *region = making->region;
	size_t width = (size_t)region->featureCount, outputs = (size_t)making->pca.count;
	int count = 0;
	for ( int i = 0; i < data->sampleCount; ++i )
	{
		if ( data->uses[i] != use )
			continue;
		for ( size_t f = 0; f < width; ++f )
			inputs[(size_t)count * width + f] =
			    ( making->inputs[(size_t)i * width + f] / making->closeness[f] -
			      (double)region->featureMean[f] ) *
			    (double)region->featureScale[f];
		for ( size_t k = 0; k < outputs; ++k )
			targets[(size_t)count * outputs + k] = making->residual[(size_t)i * outputs + k] / unit;
		count += 1;
	}
	return count;
}

/* Mean square of the residual over the rows with a use. */
static double MeanSquare( const Making *making, lmbSampleUse use )
{
	const lmbTrainData *data = making->setup->data;
	size_t outputs = (size_t)making->pca.count;
	double sum = 0.0, count = 0.0;
	for ( int i = 0; i < data->sampleCount; ++i )
	{
		if ( data->uses[i] != use )
			continue;
		count += 1.0;
		for ( size_t k = 0; k < outputs; ++k )
			sum += making->residual[(size_t)i * outputs + k] * making->residual[(size_t)i * outputs + k];
	}
	return count > 0.0 ? sum / count : 0.0;
}

static lmbStatus FitPerceptron( Making *making, lmbMlp *mlp, double **parameters, double *unit,
                                double *stopLoss, lmbError *error )
{
	const lmbTrainSetup *setup = making->setup;
	size_t width = (size_t)making->region->featureCount, outputs = (size_t)making->pca.count;
	size_t samples = (size_t)setup->data->sampleCount;
	int sizes[lmbMlpMaxLayers + 1];
	sizes[0] = (int)width;
	for ( int l = 1; l <= setup->def->layers; ++l )
		sizes[l] = setup->def->hidden;
	sizes[setup->def->layers + 1] = (int)outputs;
	LMB_TRY( lmbMlp_Make( mlp, sizes, setup->def->layers + 1, error ) );
	double *inputs[2], *targets[2];
	for ( int s = 0; s < 2; ++s )
	{
		inputs[s] = LMB_NEW( &making->scratch, double, samples *width );
		targets[s] = LMB_NEW( &making->scratch, double, samples *outputs );
		if ( inputs[s] == NULL || targets[s] == NULL )
			return lmbError_Memory( error );
	}
	*parameters = LMB_NEW( &making->scratch, double, mlp->parameterCount );
	if ( *parameters == NULL )
		return lmbError_Memory( error );
	*unit = sqrt( MeanSquare( making, lmb_useTrain ) );
	if ( !( *unit > 0.0 ) )
		*unit = 1.0;
	lmbPerceptronData data = { .inputCount = (int)width, .outputCount = (int)outputs };
	data.trainCount = Gather( making, lmb_useTrain, *unit, inputs[0], targets[0] );
	data.stopCount = Gather( making, lmb_useStop, *unit, inputs[1], targets[1] );
	data.trainInputs = inputs[0];
	data.trainTargets = targets[0];
	data.stopInputs = inputs[1];
	data.stopTargets = targets[1];
	return lmbTrainPerceptron( &data, mlp, setup->def, setup->job, &making->random, *parameters, stopLoss,
	                           error );
}

/* The last layer gives the residual in units; the stored one gives metres. */
static void StorePerceptron( const lmbMlp *mlp, const double *parameters, double unit, lmbRegion *region )
{
	for ( int l = 0; l < mlp->layerCount; ++l )
	{
		double scale = l == mlp->layerCount - 1 ? unit : 1.0;
		size_t weights = mlp->biases[l] - mlp->weights[l];
		for ( size_t i = 0; i < weights; ++i )
			region->layerWeights[l][i] = (float)( scale * parameters[mlp->weights[l] + i] );
		for ( int i = 0; i < mlp->sizes[l + 1]; ++i )
			region->layerBias[l][i] = (float)( scale * parameters[mlp->biases[l] + (size_t)i] );
	}
}

/* Basis with the region's weight folded in, and the regression, as floats. */
static void Store( Making *making )
{
	lmbRegion *region = making->region;
	size_t columns = 3 * (size_t)region->vertexCount;
	memcpy( region->vertices, making->area->vertices, (size_t)region->vertexCount * sizeof( int32_t ) );
	for ( size_t k = 0; k < (size_t)region->coefficientCount; ++k )
		for ( size_t c = 0; c < columns; ++c )
			region->basis[k * columns + c] =
			    (float)( making->pca.basis[k * columns + c] * making->area->weights[c / 3] );
	size_t width = (size_t)region->featureCount + 1;
	for ( size_t i = 0; i < (size_t)region->coefficientCount * width; ++i )
		region->linear[i] =
		    (float)( making->linear[i] * ( i % width < width - 1 ? making->closeness[i % width] : 1.0 ) );
}

static lmbStatus Build( Making *making, lmbTrainedRegion *out, lmbError *error )
{
	lmbRegion *region = making->region;
	const lmbTrainDef *def = making->setup->def;
	LMB_TRY( MakeBasis( making, error ) );
	if ( making->pca.count == 0 ) /* skin that never leaves the artist's skinning */
		return lmb_statusOk;
	LMB_TRY( ChooseInputs( making, &out->arena, error ) );
	LMB_TRY( FitLinear( making, error ) );
	region->coefficientCount = making->pca.count;
	region->vertexCount = making->area->vertexCount;
	region->hiddenCount = def->hidden;
	region->layerCount = def->hidden > 0 ? def->layers + 1 : 0;
	const int32_t *features = region->features;
	if ( !lmbRegion_Allocate( region, &out->arena ) )
		return lmbError_Memory( error );
	memcpy( region->features, features, (size_t)region->featureCount * sizeof( int32_t ) );
	Normalise( making );
	Store( making );
	out->linearError = out->error = sqrt( MeanSquare( making, lmb_useStop ) );
	if ( def->hidden == 0 )
		return lmb_statusOk;
	lmbMlp mlp;
	double *parameters = NULL, unit = 1.0, stopLoss = HUGE_VAL;
	LMB_TRY( FitPerceptron( making, &mlp, &parameters, &unit, &stopLoss, error ) );
	double both = unit * sqrt( stopLoss );
	if ( both < ( 1.0 - worthwhile ) * out->linearError )
	{
		out->error = both;
		StorePerceptron( &mlp, parameters, unit, region );
	}
	else
		region->layerCount = region->hiddenCount = 0;
	return lmb_statusOk;
}

lmbStatus lmbTrainRegion( const lmbTrainSetup *setup, int index, lmbTrainedRegion *out, lmbError *error )
{
	Making making = { .setup = setup, .area = &setup->map->areas[index], .region = &out->region };
	making.random =
	    lmbRandom_Seed( setup->job != NULL ? setup->job->seed : 0, 1000 + (uint64_t)making.area->bone );
	out->region.bone = making.area->bone;
	lmbStatus status = Build( &making, out, error );
	lmbArena_Free( &making.scratch );
	out->done = status == lmb_statusOk;
	return status;
}
