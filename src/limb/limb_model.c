#include "limb/limb_model.h"

#include "formats/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

lmbStatus lmbLimbModel_AddNetwork( lmbLimbModel *model, const char *name, const lmbScaledNetwork *network,
                                   const double *parameters, lmbArena *arena, lmbError *error )
{
	const lmbMlp *mlp = &network->mlp;
	lmbLimbNetwork *out = &model->networks[model->networkCount++];
	*out = ( lmbLimbNetwork ){ .name = name, .layerCount = mlp->layerCount, .inputs = network->inputs };
	for ( int l = 0; l <= mlp->layerCount; ++l )
		out->sizes[l] = mlp->sizes[l];
	out->layerNumbers = mlp->parameterCount;
	out->layers = LMB_NEW( arena, float, mlp->parameterCount );
	if ( out->layers == NULL )
		return lmbError_Memory( error );
	for ( int l = 0; l < mlp->layerCount; ++l )
	{
		int in = mlp->sizes[l], rows = mlp->sizes[l + 1];
		for ( int r = 0; r < rows; ++r )
		{
			double scale = l == mlp->layerCount - 1 ? network->outputScale[r] : 1.0;
			double bias = parameters[mlp->biases[l] + (size_t)r];
			for ( int k = 0; k < in; ++k )
			{
				double weight = parameters[mlp->weights[l] + (size_t)r * in + k];
				if ( l == 0 )
				{
					weight *= network->inputScale[k];
					bias -= weight * network->inputShift[k];
				}
				out->layers[mlp->weights[l] + (size_t)r * in + k] = (float)( weight * scale );
			}
			bias = bias * scale + ( l == mlp->layerCount - 1 ? network->outputShift[r] : 0.0 );
			out->layers[mlp->biases[l] + (size_t)r] = (float)bias;
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbLimbModel_FromEquations( lmbLimbModel *model, const lmbEquations *equations,
                                      const double *parameters, lmbArena *arena, lmbError *error )
{
	static const char *const names[lmb_partCount] = { "mass",  "potential", "damping",
	                                                  "drive", "affine",    "plain" };
	model->kind = equations->kind;
	model->dofCount = equations->dofCount;
	model->inputCount = equations->inputCount;
	model->features = &equations->features;
	for ( int p = 0; p < lmb_partCount; ++p )
		if ( equations->parts[p].used )
			LMB_TRY( lmbLimbModel_AddNetwork( model, names[p], &equations->parts[p],
			                                  parameters + equations->parts[p].offset, arena, error ) );
	model->massFloor = equations->massFloor;
	model->driveMatrix = equations->driveMatrix;
	if ( !equations->constantDamping )
		return lmb_statusOk;
	int n = equations->dofCount;
	double *damping = LMB_NEW( arena, double, n *( n + 1 ) / 2 );
	if ( damping == NULL )
		return lmbError_Memory( error );
	for ( int i = 0, k = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++k )
			damping[k] = parameters[equations->dampingOffset + (size_t)k] * equations->dampingScale[i];
	model->damping = damping;
	return lmb_statusOk;
}

static void AddNames( lmbTensorWriter *writer, const char *tensor, const char *const *names, int count,
                      lmbArena *arena )
{
	size_t size = 0, at = 0;
	for ( int i = 0; i < count; ++i )
		size += strlen( names[i] ) + 1;
	char *joined = LMB_NEW( arena, char, size + 1 );
	writer->overflow = writer->overflow || joined == NULL;
	for ( int i = 0; i < count && joined != NULL; ++i )
	{
		size_t length = strlen( names[i] ) + 1;
		memcpy( joined + at, names[i], length );
		at += length;
	}
	lmbTensorWriter_Add( writer, tensor, lmb_dataU8, 1, ( int64_t[] ){ (int64_t)size }, joined );
}

static void AddNamed( lmbTensorWriter *writer, const char *network, const char *what, lmbDataType type,
                      int64_t count, const void *data )
{
	char name[96];
	snprintf( name, sizeof( name ), "%s.%s", network, what );
	lmbTensorWriter_Add( writer, name, type, 1, &count, data );
}

static void AddCells( const lmbLimbModel *model, lmbTensorWriter *writer )
{
	int gates = ( model->kind == lmb_limbGru ? 3 : 4 ) * model->hidden;
	char text[32], name[32];
	snprintf( text, sizeof( text ), "%d", model->cellCount );
	lmbTensorWriter_Metadata( writer, "layers", text );
	snprintf( text, sizeof( text ), "%d", model->hidden );
	lmbTensorWriter_Metadata( writer, "hidden", text );
	for ( int l = 0; l < model->cellCount; ++l )
	{
		const lmbLimbCell *cell = &model->cells[l];
		snprintf( name, sizeof( name ), "cell%d.input", l );
		lmbTensorWriter_Add( writer, name, lmb_dataF32, 2, ( int64_t[] ){ gates, cell->inputs },
		                     cell->input );
		snprintf( name, sizeof( name ), "cell%d.hidden", l );
		lmbTensorWriter_Add( writer, name, lmb_dataF32, 2, ( int64_t[] ){ gates, model->hidden },
		                     cell->hidden );
		snprintf( name, sizeof( name ), "cell%d.bias", l );
		lmbTensorWriter_Add( writer, name, lmb_dataF32, 2, ( int64_t[] ){ 2, gates }, cell->bias );
	}
	int64_t width = model->inputCount + 1;
	lmbTensorWriter_Add( writer, "step.shift", lmb_dataF64, 1, &width, model->stepShift );
	lmbTensorWriter_Add( writer, "step.scale", lmb_dataF64, 1, &width, model->stepScale );
	lmbTensorWriter_Add( writer, "read.base", lmb_dataF64, 1, ( int64_t[] ){ model->dofCount },
	                     model->readBase );
}

static void AddTrust( const lmbLimbModel *model, lmbTensorWriter *writer )
{
	const lmbTrustRegion *trust = &model->trust;
	int64_t d = trust->inputCount;
	lmbTensorWriter_Add( writer, "trust.inputs", lmb_dataI32, 1, &d, trust->inputs );
	lmbTensorWriter_Add( writer, "trust.whiten", lmb_dataF64, 2, ( int64_t[] ){ d, d }, trust->whiten );
	lmbTensorWriter_Add( writer, "trust.mean", lmb_dataF64, 1, &d, trust->mean );
	lmbTensorWriter_Add( writer, "trust.centres", lmb_dataF32, 2, ( int64_t[] ){ trust->centreCount, d },
	                     trust->centres );
	int64_t growth = 2 * model->dofCount + model->inputCount + 5;
	if ( trust->growth != NULL )
		lmbTensorWriter_Add( writer, "trust.growth", lmb_dataF64, 1, &growth, trust->growth );
	lmbTensorWriter_Add( writer, "trust.scale", lmb_dataF64, 1, ( int64_t[] ){ 1 }, &trust->scale );
}

static void AddCommon( const lmbLimbModel *model, lmbTensorWriter *writer, int32_t *slides, lmbArena *arena )
{
	static const char *const kinds[] = { "lagrangian", "affine", "plain", "gru", "lstm" };
	const lmbFeatures *features = model->features;
	int64_t count = features->count, n = model->dofCount;
	char text[32];
	lmbTensorWriter_Metadata( writer, "format", "limber.limb" );
	lmbTensorWriter_Metadata( writer, "version", "1" );
	lmbTensorWriter_Metadata( writer, "kind", kinds[model->kind] );
	lmbTensorWriter_Metadata( writer, "hold", model->hold == lmb_inputLinear ? "linear" : "held" );
	snprintf( text, sizeof( text ), "%.17g", model->step );
	lmbTensorWriter_Metadata( writer, "step", text );
	AddNames( writer, "dofs.names", model->dofNames, model->dofCount, arena );
	AddNames( writer, "inputs.names", model->inputNames, model->inputCount, arena );
	for ( int i = 0; i < model->dofCount; ++i )
		slides[i] = model->slides[i] ? 1 : 0;
	lmbTensorWriter_Add( writer, "dofs.slides", lmb_dataI32, 1, &n, slides );
	lmbTensorWriter_Add( writer, "features.angles", lmb_dataI32, 2, ( int64_t[] ){ count, n },
	                     features->angles );
	lmbTensorWriter_Add( writer, "features.kinds", lmb_dataI32, 1, &count, features->kinds );
	lmbTensorWriter_Add( writer, "features.shift", lmb_dataF64, 1, &count, features->shift );
	lmbTensorWriter_Add( writer, "features.scale", lmb_dataF64, 1, &count, features->scale );
}

static bool IsFinite( const lmbTensorWriter *writer )
{
	for ( int t = 0; t < writer->tensorCount; ++t )
	{
		lmbDataType type = writer->tensors[t].type;
		size_t count = 1;
		for ( int r = 0; r < writer->tensors[t].rank; ++r )
			count *= (size_t)writer->tensors[t].shape[r];
		for ( size_t i = 0; i < count && ( type == lmb_dataF32 || type == lmb_dataF64 ); ++i )
			if ( !isfinite( type == lmb_dataF32 ? (double)( (const float *)writer->tensors[t].data )[i]
			                                    : ( (const double *)writer->tensors[t].data )[i] ) )
				return false;
	}
	return true;
}

lmbStatus lmbLimbModel_Write( const lmbLimbModel *model, const char *path, lmbError *error )
{
	lmbArena arena = { 0 };
	int32_t slides[lmbLimbMaxDofs];
	lmbTensorWriter *writer = LMB_NEW( &arena, lmbTensorWriter, 1 );
	if ( writer == NULL )
		return lmbError_Memory( error );
	AddCommon( model, writer, slides, &arena );
	int64_t n = model->dofCount, m = model->inputCount;
	for ( int p = 0; p < model->networkCount; ++p )
	{
		const lmbLimbNetwork *network = &model->networks[p];
		AddNamed( writer, network->name, "inputs", lmb_dataI32, network->sizes[0], network->inputs );
		AddNamed( writer, network->name, "sizes", lmb_dataI32, network->layerCount + 1, network->sizes );
		AddNamed( writer, network->name, "layers", lmb_dataF32, (int64_t)network->layerNumbers,
		          network->layers );
	}
	if ( model->kind == lmb_limbLagrangian )
		lmbTensorWriter_Add( writer, "mass.floor", lmb_dataF64, 1, ( int64_t[] ){ 1 }, &model->massFloor );
	if ( model->damping != NULL )
		lmbTensorWriter_Add( writer, "damping.constant", lmb_dataF64, 1, ( int64_t[] ){ n * ( n + 1 ) / 2 },
		                     model->damping );
	/* Without inputs an empty matrix says that no torque enters. */
	if ( model->driveMatrix != NULL || ( model->kind == lmb_limbLagrangian && m == 0 ) )
		lmbTensorWriter_Add( writer, "drive.matrix", lmb_dataF64, 2, ( int64_t[] ){ n, m },
		                     model->driveMatrix != NULL ? model->driveMatrix : &model->massFloor );
	if ( model->cellCount > 0 )
		AddCells( model, writer );
	if ( model->trust.inputCount > 0 )
		AddTrust( model, writer );
	lmbStatus status =
	    IsFinite( writer )
	        ? lmbTensorWriter_Write( writer, path, error )
	        : lmbError_Set( error, lmb_statusNumerical,
	                        "%s: the training ended with numbers that are not finite; nothing was written. "
	                        "Look at the data's range, or train with another seed",
	                        path );
	lmbArena_Free( &arena );
	return status;
}
