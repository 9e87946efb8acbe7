#include "limb_model.h"

#include "carver.h"
#include "limb_file.h"

#include <string.h>

/* The same calls in the same order when counting and when placing; model NULL when counting. */
typedef struct Packing
{
	lmbCarver carver;
	const lmbLimbFile *file;
	lmbLimb *model;
} Packing;

static void *Take( Packing *packing, int64_t count, size_t size )
{
	void *memory = lmbCarver_Take( &packing->carver, (uint64_t)count, size );
	if ( memory != NULL )
		memset( memory, 0, (size_t)count * size );
	return memory;
}

/* rows x columns numbers to rows x columns (stride numbers apart), or turned over. */
static void CopyRows( const float *from, int rows, int columns, float *to, int stride )
{
	for ( int r = 0; to != NULL && r < rows; ++r )
		for ( int c = 0; c < columns; ++c )
			to[(size_t)r * stride + c] = from[(size_t)r * columns + c];
}

static void CopyColumns( const float *from, int rows, int columns, float *to, int stride )
{
	for ( int r = 0; to != NULL && r < rows; ++r )
		for ( int c = 0; c < columns; ++c )
			to[(size_t)c * stride + r] = from[(size_t)r * columns + c];
}

static const int32_t *PackInputs( Packing *packing, const lmbLimbFileNet *net )
{
	int32_t *inputs = Take( packing, net->sizes[0], sizeof( int32_t ) );
	for ( int i = 0; inputs != NULL && i < net->sizes[0]; ++i )
		inputs[i] = net->inputs != NULL ? net->inputs[i] : i;
	return inputs;
}

static void PackNet( Packing *packing, const lmbLimbFileNet *net, lmbCoreNet *out, int *stride )
{
	const float *from = net->layers;
	lmbCoreNet packed = { 0 };
	packed.layerCount = net->layerCount;
	if ( net->layerCount == 0 )
		return;
	memcpy( packed.sizes, net->sizes, sizeof( net->sizes ) );
	packed.inputs = PackInputs( packing, net );
	for ( int layer = 0; layer < net->layerCount; ++layer )
	{
		int inputs = net->sizes[layer], outputs = net->sizes[layer + 1];
		bool last = layer == net->layerCount - 1;
		float *weights =
		    Take( packing,
		          last ? (int64_t)outputs * lmbCore_Pad( inputs ) : (int64_t)inputs * lmbCore_Pad( outputs ),
		          sizeof( float ) );
		float *bias = Take( packing, lmbCore_Pad( outputs ), sizeof( float ) );
		if ( last )
			CopyRows( from, outputs, inputs, weights, lmbCore_Pad( inputs ) );
		else
			CopyColumns( from, outputs, inputs, weights, lmbCore_Pad( outputs ) );
		CopyRows( from + (size_t)inputs * outputs, 1, outputs, bias, lmbCore_Pad( outputs ) );
		packed.weights[layer] = weights;
		packed.biases[layer] = bias;
		from += ( (size_t)inputs + 1 ) * outputs;
		int wider = lmbCore_Pad( inputs > outputs ? inputs : outputs );
		*stride = wider > *stride ? wider : *stride;
	}
	if ( out != NULL )
		*out = packed;
}

/* Equal rows of features.angles are one phase. phases (featureCount) names each by its first feature. */
static int FindPhases( const lmbLimbFile *file, int *ofFeature, int *firstFeature )
{
	int count = 0;
	size_t bytes = (size_t)file->dofCount * sizeof( int32_t );
	for ( int f = 0; f < file->featureCount; ++f )
	{
		int p = 0;
		while ( p < count && memcmp( file->angles + f * file->dofCount,
		                             file->angles + firstFeature[p] * file->dofCount, bytes ) != 0 )
			++p;
		if ( p == count )
			firstFeature[count++] = f;
		ofFeature[f] = p;
	}
	return count;
}

/* Directions of the derivatives: phases (true) or dofs, by index. */
typedef struct Directions
{
	bool byPhase;
	int count;
	int of[lmbCoreMaxFeatures];
} Directions;

static void MarkUsed( const lmbLimbFileNet *net, bool *used )
{
	for ( int i = 0; net->layerCount > 0 && i < net->sizes[0]; ++i )
		used[net->inputs[i]] = true;
}

static void FindDirections( const lmbLimbFile *file, const int *phaseOf, int phaseCount, Directions *out )
{
	bool used[lmbCoreMaxFeatures] = { 0 }, phases[lmbCoreMaxFeatures] = { 0 }, dofs[lmbCoreMaxDofs] = { 0 };
	int phasesUsed = 0, dofsUsed = 0;
	MarkUsed( &file->mass, used );
	MarkUsed( &file->potential, used );
	for ( int f = 0; f < file->featureCount; ++f )
		for ( int j = 0; used[f] && j < file->dofCount; ++j )
			if ( file->angles[f * file->dofCount + j] != 0 )
				phases[phaseOf[f]] = dofs[j] = true;
	for ( int p = 0; p < phaseCount; ++p )
		phasesUsed += phases[p];
	for ( int j = 0; j < file->dofCount; ++j )
		dofsUsed += dofs[j];
	out->byPhase = phasesUsed <= dofsUsed;
	out->count = 0;
	for ( int i = 0; i < ( out->byPhase ? phaseCount : file->dofCount ); ++i )
		if ( out->byPhase ? phases[i] : dofs[i] )
			out->of[out->count++] = i;
}

static void PackFeatures( Packing *packing )
{
	const lmbLimbFile *file = packing->file;
	int phaseOf[lmbCoreMaxFeatures], first[lmbCoreMaxFeatures], n = file->dofCount,
	                                                            count = file->featureCount;
	Directions along;
	int phaseCount = FindPhases( file, phaseOf, first );
	FindDirections( file, phaseOf, phaseCount, &along );
	int32_t *phases = Take( packing, (int64_t)phaseCount * n, sizeof( int32_t ) );
	int32_t *turns = Take( packing, phaseCount, sizeof( int32_t ) );
	int32_t *directions = Take( packing, (int64_t)along.count * n, sizeof( int32_t ) );
	int32_t *featurePhases = Take( packing, count, sizeof( int32_t ) );
	int32_t *featureDirections = Take( packing, (int64_t)count * along.count, sizeof( int32_t ) );
	if ( packing->model == NULL || featureDirections == NULL )
		return;
	for ( int p = 0; p < phaseCount; ++p )
		memcpy( phases + p * n, file->angles + first[p] * n, (size_t)n * sizeof( int32_t ) );
	for ( int t = 0; t < along.count; ++t )
	{
		if ( along.byPhase )
			memcpy( directions + t * n, phases + along.of[t] * n, (size_t)n * sizeof( int32_t ) );
		else
			directions[t * n + along.of[t]] = 1;
	}
	for ( int f = 0; f < count; ++f )
	{
		featurePhases[f] = phaseOf[f];
		turns[phaseOf[f]] |= file->featureKinds[f] < 2;
		for ( int t = 0; t < along.count; ++t )
			featureDirections[f * along.count + t] =
			    along.byPhase ? phaseOf[f] == along.of[t] : file->angles[f * n + along.of[t]];
	}
	lmbCoreModel *core = &packing->model->core;
	core->phaseCount = phaseCount;
	core->directionCount = along.count;
	core->phases = phases;
	core->phaseTurns = turns;
	core->directions = directions;
	core->featurePhases = featurePhases;
	core->featureDirections = featureDirections;
}

/* Gates (gates h x inputs) to (inputs x gates padded h): each gate starts at a multiple of 4. */
static const float *PackGates( Packing *packing, const float *from, int gates, int h, int inputs )
{
	int padded = lmbCore_Pad( h );
	float *to = Take( packing, (int64_t)inputs * gates * padded, sizeof( float ) );
	for ( int g = 0; to != NULL && g < gates; ++g )
		CopyColumns( from + (size_t)g * h * inputs, h, inputs, to + g * padded, gates * padded );
	return to;
}

static void PackCells( Packing *packing, int *stride )
{
	const lmbLimbFile *file = packing->file;
	int h = file->hiddenCount, gates = file->kind == lmb_limbLstm ? 4 : 3;
	for ( int l = 0; l < file->cellCount; ++l )
	{
		int inputs = l == 0 ? file->inputCount + 1 : h;
		lmbCoreCell cell;
		cell.input = PackGates( packing, file->cells[l].input, gates, h, inputs );
		cell.hidden = PackGates( packing, file->cells[l].hidden, gates, h, h );
		cell.inputBias = PackGates( packing, file->cells[l].bias, gates, h, 1 );
		cell.hiddenBias = PackGates( packing, file->cells[l].bias + (size_t)gates * h, gates, h, 1 );
		if ( packing->model != NULL )
			packing->model->core.cells[l] = cell;
	}
	if ( file->cellCount > 0 && gates * lmbCore_Pad( h ) > *stride )
		*stride = gates * lmbCore_Pad( h );
}

static void PackTrust( Packing *packing )
{
	const lmbLimbFile *file = packing->file;
	int d = file->trustDimensions, count = file->trustCentres, padded = lmbCore_Pad( count );
	float *planes = Take( packing, (int64_t)d * padded, sizeof( float ) );
	for ( int i = 0; planes != NULL && i < d; ++i )
		for ( int c = 0; c < padded; ++c )
			planes[i * padded + c] = file->trustCentreList[( c < count ? c : 0 ) * d + i];
	if ( packing->model == NULL )
		return;
	lmbCoreModel *core = &packing->model->core;
	core->trustDimensions = d;
	core->trustCentres = padded;
	core->trustInputs = file->trustInputs;
	core->trustWhiten = file->trustWhiten;
	core->trustMean = file->trustMean;
	core->trustPlanes = planes;
	core->trustGrowth = file->trustGrowth;
	core->trustScale = file->trustScale;
}

static void PackNets( Packing *packing )
{
	const lmbLimbFile *file = packing->file;
	lmbCoreModel *core = packing->model != NULL ? &packing->model->core : NULL;
	int stride = 4;
	PackNet( packing, &file->mass, core != NULL ? &core->mass : NULL, &stride );
	PackNet( packing, &file->potential, core != NULL ? &core->potential : NULL, &stride );
	PackNet( packing, &file->damping, core != NULL ? &core->damping : NULL, &stride );
	PackNet( packing, &file->drive, core != NULL ? &core->drive : NULL, &stride );
	PackNet( packing, &file->acceleration, core != NULL ? &core->acceleration : NULL, &stride );
	PackNet( packing, &file->start, core != NULL ? &core->start : NULL, &stride );
	PackNet( packing, &file->read, core != NULL ? &core->read : NULL, &stride );
	PackCells( packing, &stride );
	if ( core != NULL )
		core->stride = stride;
}

static void FillNames( const char *names, int count, const char **out )
{
	for ( int i = 0; i < count; ++i, names += strlen( names ) + 1 )
		out[i] = names;
}

static void FillModel( lmbLimb *model, const lmbLimbFile *file )
{
	memset( model, 0, sizeof( *model ) );
	model->info = ( lmbLimbInfo ){ .kind = file->kind,
	                               .dofCount = file->dofCount,
	                               .inputCount = file->inputCount,
	                               .parameterCount = (int)file->parameterCount,
	                               .hasTrust = file->trustDimensions > 0,
	                               .linearInput = file->linear,
	                               .step = file->step };
	FillNames( file->dofNames, file->dofCount, model->dofNames );
	FillNames( file->inputNames, file->inputCount, model->inputNames );
	lmbCoreModel *core = &model->core;
	core->kind = (int)file->kind;
	core->dofCount = file->dofCount;
	core->inputCount = file->inputCount;
	core->featureCount = file->featureCount;
	core->featureKinds = file->featureKinds;
	core->featureShifts = file->featureShifts;
	core->featureScales = file->featureScales;
	core->massFloor = file->massFloor;
	core->dampingConstant = file->dampingConstant;
	core->driveMatrix = file->driveMatrix;
	core->driveIdentity = file->driveMatrix == NULL && file->drive.layerCount == 0;
	core->cellCount = file->cellCount;
	core->hiddenCount = file->hiddenCount;
	core->stepShift = file->stepShift;
	core->stepScale = file->stepScale;
	core->readBase = file->readBase;
}

/* Packs into memory, or with memory NULL finds the bytes needed. */
static size_t Pack( const lmbLimbFile *file, void *memory )
{
	Packing packing = { { memory, 0 }, file, NULL };
	packing.model = lmbCarver_Take( &packing.carver, 1, sizeof( lmbLimb ) );
	if ( packing.model != NULL )
		FillModel( packing.model, file );
	PackFeatures( &packing );
	PackNets( &packing );
	PackTrust( &packing );
	return packing.carver.used <= SIZE_MAX / 2 ? (size_t)packing.carver.used : 0;
}

size_t lmbLimb_Size( const void *data, size_t size )
{
	lmbLimbFile file;
	const char *problem;
	return lmbLimbFile_Read( data, size, &file, &problem ) == lmb_statusOk ? Pack( &file, NULL ) : 0;
}

lmbStatus lmbLimb_Load( const void *data, size_t size, void *memory, size_t memorySize, lmbLimb **model,
                        const char **problem )
{
	lmbLimbFile file;
	const char *unused;
	problem = problem != NULL ? problem : &unused;
	*model = NULL;
	lmbStatus status = lmbLimbFile_Read( data, size, &file, problem );
	if ( status != lmb_statusOk )
		return status;
	size_t needed = Pack( &file, NULL );
	if ( needed == 0 )
	{
		*problem = "the model does not fit into this machine's memory";
		return lmb_statusOutOfMemory;
	}
	if ( memory == NULL || (uintptr_t)memory % 64 != 0 || memorySize < needed )
	{
		*problem = "the memory for the model is smaller than lmbLimb_Size says, or not aligned to 64";
		return lmb_statusInvalidArgument;
	}
	Pack( &file, memory );
	*model = memory;
	( *model )->key = lmbFile_Key( data, size );
	return lmb_statusOk;
}

lmbLimbInfo lmbLimb_Info( const lmbLimb *model )
{
	return model->info;
}

const char *lmbLimb_DofName( const lmbLimb *model, int dof )
{
	return dof >= 0 && dof < model->info.dofCount ? model->dofNames[dof] : NULL;
}

const char *lmbLimb_InputName( const lmbLimb *model, int input )
{
	return input >= 0 && input < model->info.inputCount ? model->inputNames[input] : NULL;
}

const lmbCoreModel *lmbLimb_Core( const lmbLimb *model )
{
	return &model->core;
}

int lmbCore_HiddenFloats( const lmbCoreModel *model )
{
	return model->cellCount * lmbCore_Pad( model->hiddenCount ) * ( model->kind == lmbCoreLstm ? 2 : 1 );
}

lmbLimbDef lmbDefaultLimbDef( const lmbLimb *model )
{
	bool recurrent = model->core.kind >= lmbCoreGru;
	return ( lmbLimbDef ){ .integrator = lmb_integratorRk4,
	                       .maxStep = recurrent ? model->info.step : 0.005,
	                       .tolerance = 1e-5,
	                       .trust = model->info.hasTrust };
}
