#include "limb/export_onnx.h"

#include "formats/onnx.h"
#include "limb/load.h"
#include "runtime/limb_model.h"

#include <string.h>

typedef lmbOnnxValue Value;

typedef struct Export
{
	lmbOnnx graph;
	const lmbCoreModel *core;
	lmbArena arena; /* of constants that are made here */
	bool noMemory;
	int n, m, directions, triangle;
	Value positions, velocities, inputs; /* rows */
	Value list, slopes;                  /* (1 x F + n + m), (1 x F) */
	Value speed;                         /* velocities as a column (n x 1) */
	Value directionRows;                 /* (directions x n) */
} Export;

static float *NewFloats( Export *e, int count )
{
	static float none[1];
	float *numbers = LMB_NEW( &e->arena, float, count );
	e->noMemory |= numbers == NULL;
	return numbers != NULL ? numbers : none;
}

static Value Matrix( Export *e, int rows, int columns, const float *numbers )
{
	return lmbOnnx_Floats( &e->graph, 2, ( int64_t[] ){ rows, columns }, numbers );
}

static Value Shaped( Export *e, Value value, int rank, const int64_t *shape )
{
	Value target = lmbOnnx_Whole( &e->graph, 1, ( int64_t[] ){ rank }, shape );
	return lmbOnnx_Two( &e->graph, "Reshape", value, target );
}

static Value Row( Export *e, Value value, int columns )
{
	return Shaped( e, value, 2, ( int64_t[] ){ 1, columns } );
}

static Value Column( Export *e, Value value, int rows )
{
	return Shaped( e, value, 2, ( int64_t[] ){ rows, 1 } );
}

/* Entries of a row by index. */
static Value Pick( Export *e, Value row, int rank, const int64_t *shape, const int64_t *indices )
{
	const lmbOnnxAttribute axis = { "axis", 0, ( int64_t[] ){ 1 } };
	Value inputs[2] = { row, lmbOnnx_Whole( &e->graph, rank, shape, indices ) };
	return lmbOnnx_Node( &e->graph, "Gather", &axis, 2, inputs );
}

/* count <= 8192 entries from first on. */
static Value Range( Export *e, Value row, int first, int count )
{
	static const int most = 8192;
	int64_t indices[8192];
	for ( int i = 0; i < count && i < most; ++i )
		indices[i] = first + i;
	return Pick( e, row, 1, ( int64_t[] ){ count }, indices );
}

static Value Join( Export *e, int count, const Value *parts )
{
	const lmbOnnxAttribute axis = { "axis", 0, ( int64_t[] ){ 1 } };
	return count == 1 ? parts[0] : lmbOnnx_Node( &e->graph, "Concat", &axis, count, parts );
}

/* Sum along an axis, which stays with length 1. */
static Value Sum( Export *e, Value value, int64_t axis )
{
	Value axes = lmbOnnx_Whole( &e->graph, 1, ( int64_t[] ){ 1 }, &axis );
	return lmbOnnx_Two( &e->graph, "ReduceSum", value, axes );
}

static Value Turned( Export *e, Value matrices ) /* of rank 3 */
{
	const lmbOnnxAttribute order = { "perm", 3, ( int64_t[] ){ 0, 2, 1 } };
	return lmbOnnx_Node( &e->graph, "Transpose", &order, 1, &matrices );
}

static Value Add( Export *e, Value a, Value b )
{
	return lmbOnnx_Two( &e->graph, "Add", a, b );
}

static Value Subtract( Export *e, Value a, Value b )
{
	return lmbOnnx_Two( &e->graph, "Sub", a, b );
}

static Value Multiply( Export *e, Value a, Value b )
{
	return lmbOnnx_Two( &e->graph, "Mul", a, b );
}

static Value Product( Export *e, Value a, Value b )
{
	return lmbOnnx_Two( &e->graph, "MatMul", a, b );
}

/* ---- What networks see ---- */

static Value PhaseRow( Export *e )
{
	const lmbCoreModel *core = e->core;
	float *numbers = NewFloats( e, e->n * core->phaseCount );
	for ( int p = 0; p < core->phaseCount && !e->noMemory; ++p )
		for ( int j = 0; j < e->n; ++j )
			numbers[j * core->phaseCount + p] = (float)core->phases[p * e->n + j];
	return Product( e, e->positions, Matrix( e, e->n, core->phaseCount, numbers ) );
}

static void AddFeatures( Export *e, Value *features )
{
	const lmbCoreModel *core = e->core;
	int count = core->featureCount, phases = core->phaseCount;
	int64_t indices[lmbCoreMaxFeatures];
	float shifts[lmbCoreMaxFeatures], scales[lmbCoreMaxFeatures], ones[lmbCoreMaxFeatures];
	Value phase = PhaseRow( e ), sine = lmbOnnx_One( &e->graph, "Sin", phase ),
	      cosine = lmbOnnx_One( &e->graph, "Cos", phase );
	for ( int f = 0; f < count; ++f )
	{
		indices[f] = core->featureKinds[f] * phases + core->featurePhases[f];
		shifts[f] = core->featureKinds[f] == 2 ? (float)core->featureShifts[f] : 0.0f;
		scales[f] = core->featureKinds[f] == 2 ? (float)core->featureScales[f] : 1.0f;
	}
	for ( int p = 0; p < phases; ++p )
		ones[p] = 1.0f;
	Value scale = Matrix( e, 1, count, scales );
	Value values = Join( e, 3, ( Value[] ){ sine, cosine, phase } );
	Value rates = Join(
	    e, 3, ( Value[] ){ cosine, lmbOnnx_One( &e->graph, "Neg", sine ), Matrix( e, 1, phases, ones ) } );
	Value picked = Pick( e, values, 1, ( int64_t[] ){ count }, indices );
	*features = Multiply( e, Subtract( e, picked, Matrix( e, 1, count, shifts ) ), scale );
	e->slopes = Multiply( e, Pick( e, rates, 1, ( int64_t[] ){ count }, indices ), scale );
}

static void AddInputs( Export *e )
{
	const lmbCoreModel *core = e->core;
	Value parts[3];
	int count = 0;
	e->positions = lmbOnnx_Input( &e->graph, "positions", 2, ( int64_t[] ){ 1, e->n } );
	e->velocities = lmbOnnx_Input( &e->graph, "velocities", 2, ( int64_t[] ){ 1, e->n } );
	if ( e->m > 0 )
		e->inputs = lmbOnnx_Input( &e->graph, "inputs", 2, ( int64_t[] ){ 1, e->m } );
	if ( core->featureCount > 0 )
		AddFeatures( e, &parts[count++] );
	parts[count++] = e->velocities;
	if ( e->m > 0 )
		parts[count++] = e->inputs;
	e->list = Join( e, count, parts );
	e->speed = Column( e, e->velocities, e->n );
	float *rows = NewFloats( e, e->directions * e->n );
	for ( int i = 0; i < e->directions * e->n && !e->noMemory; ++i )
		rows[i] = (float)core->directions[i];
	if ( e->directions > 0 )
		e->directionRows = Matrix( e, e->directions, e->n, rows );
}

/* ---- Networks ---- */

static Value Weights( Export *e, const lmbCoreNet *net, int layer )
{
	int in = net->sizes[layer], out = net->sizes[layer + 1];
	bool last = layer == net->layerCount - 1;
	float *numbers = NewFloats( e, in * out );
	for ( int i = 0; i < in && !e->noMemory; ++i )
		for ( int o = 0; o < out; ++o )
			numbers[i * out + o] = last ? net->weights[layer][o * lmbCore_Pad( in ) + i]
			                            : net->weights[layer][i * lmbCore_Pad( out ) + o];
	return Matrix( e, in, out, numbers );
}

/* First layer's derivatives (directions x inputs) in each direction. */
static Value FirstDerivatives( Export *e, const lmbCoreNet *net, const int64_t *indices )
{
	int count = net->sizes[0];
	float *along = NewFloats( e, e->directions * count );
	for ( int t = 0; t < e->directions && !e->noMemory; ++t )
		for ( int i = 0; i < count; ++i )
			along[t * count + i] = (float)e->core->featureDirections[indices[i] * e->directions + t];
	Value slopes = Pick( e, e->slopes, 1, ( int64_t[] ){ count }, indices );
	return Multiply( e, slopes, Matrix( e, e->directions, count, along ) );
}

/* A network's outputs (1 x outputs), and with derivatives non-NULL (directions x outputs) of them. */
static Value Network( Export *e, const lmbCoreNet *net, Value *derivatives )
{
	int64_t indices[256] = { 0 };
	Value x = { 0 }, d = { 0 };
	for ( int i = 0; i < net->sizes[0] && i < 256; ++i )
		indices[i] = net->inputs[i];
	if ( net->sizes[0] > 0 )
		x = Pick( e, e->list, 1, ( int64_t[] ){ net->sizes[0] }, indices );
	if ( derivatives != NULL )
		d = FirstDerivatives( e, net, indices );
	for ( int layer = 0; layer < net->layerCount; ++layer )
	{
		Value bias = Matrix( e, 1, net->sizes[layer + 1], net->biases[layer] );
		if ( net->sizes[layer] > 0 )
		{
			Value weights = Weights( e, net, layer );
			x = Add( e, Product( e, x, weights ), bias );
			if ( derivatives != NULL )
				d = Product( e, d, weights );
		}
		else
			x = bias;
		if ( layer == net->layerCount - 1 )
			break;
		x = lmbOnnx_One( &e->graph, "Tanh", x );
		if ( derivatives != NULL )
			d = Multiply( e, d, Subtract( e, Matrix( e, 1, 1, ( float[] ){ 1.0f } ), Multiply( e, x, x ) ) );
	}
	if ( derivatives != NULL )
		*derivatives = d;
	return x;
}

/* ---- Lagrangian ---- */

/* Packed lower triangles (rows x triangle) as full matrices (rows x n x n). */
static Value Full( Export *e, Value packed, int rows )
{
	int64_t indices[lmbCoreMaxDofs * lmbCoreMaxDofs];
	float *zeros = NewFloats( e, rows );
	for ( int i = 0; i < e->n; ++i )
		for ( int j = 0; j < e->n; ++j )
			indices[i * e->n + j] = j <= i ? i * ( i + 1 ) / 2 + j : e->triangle;
	Value padded = Join( e, 2, ( Value[] ){ packed, Matrix( e, rows, 1, zeros ) } );
	return Pick( e, padded, 2, ( int64_t[] ){ e->n, e->n }, indices );
}

/* The factor L (1 x triangle) and its derivatives (directions x triangle). */
static Value MassFactor( Export *e, Value *slopes )
{
	float diagonal[lmbCoreMaxTriangle] = { 0 }, others[lmbCoreMaxTriangle];
	for ( int i = 0; i < e->n; ++i )
		diagonal[i * ( i + 1 ) / 2 + i] = 1.0f;
	for ( int i = 0; i < e->triangle; ++i )
		others[i] = 1.0f - diagonal[i];
	Value raw = Network( e, &e->core->mass, e->directions > 0 ? slopes : NULL );
	Value on = Matrix( e, 1, e->triangle, diagonal ), off = Matrix( e, 1, e->triangle, others );
	Value floor = Matrix( e, 1, 1, ( float[] ){ (float)e->core->massFloor } );
	Value positive = Add( e, lmbOnnx_One( &e->graph, "Softplus", raw ), floor );
	Value bend = lmbOnnx_One( &e->graph, "Sigmoid", raw );
	if ( e->directions > 0 )
		*slopes = Multiply( e, *slopes, Add( e, off, Multiply( e, on, bend ) ) );
	return Add( e, Multiply( e, off, raw ), Multiply( e, on, positive ) );
}

/* As Coriolis in src/runtime/limb_terms.c, all directions at once. */
static Value Coriolis( Export *e, Value factor, Value slopes )
{
	Value l = Full( e, factor, 1 ), d = Full( e, slopes, e->directions );
	Value w = Product( e, Turned( e, l ), e->speed ), z = Product( e, Turned( e, d ), e->speed );
	Value speeds =
	    Shaped( e, Product( e, e->directionRows, e->speed ), 3, ( int64_t[] ){ e->directions, 1, 1 } );
	Value moved = Sum( e, Multiply( e, speeds, Product( e, d, w ) ), 0 );
	Value turned = Product( e, l, Sum( e, Multiply( e, speeds, z ), 0 ) );
	Value gradients = Row( e, Sum( e, Multiply( e, w, z ), 1 ), e->directions );
	return Subtract( e, Row( e, Add( e, moved, turned ), e->n ), Product( e, gradients, e->directionRows ) );
}

/* D v of both dampings; false: none. */
static bool Viscous( Export *e, Value *out )
{
	const lmbCoreModel *core = e->core;
	bool any = false;
	if ( core->dampingConstant != NULL )
	{
		float *numbers = NewFloats( e, e->n * e->n );
		for ( int i = 0; i < e->n && !e->noMemory; ++i )
			for ( int j = 0; j < e->n; ++j )
			{
				double sum = 0.0;
				for ( int k = 0; k <= i && k <= j; ++k )
					sum += core->dampingConstant[i * ( i + 1 ) / 2 + k] *
					       core->dampingConstant[j * ( j + 1 ) / 2 + k];
				numbers[i * e->n + j] = (float)sum;
			}
		*out = Product( e, e->velocities, Matrix( e, e->n, e->n, numbers ) );
		any = true;
	}
	if ( core->damping.layerCount > 0 )
	{
		Value k = Full( e, Network( e, &core->damping, NULL ), 1 );
		Value part = Row( e, Product( e, k, Product( e, Turned( e, k ), e->speed ) ), e->n );
		*out = any ? Add( e, *out, part ) : part;
		any = true;
	}
	return any;
}

/* G u; false: there is no input. */
static bool Drive( Export *e, Value *out )
{
	const lmbCoreModel *core = e->core;
	bool any = false;
	if ( e->m == 0 )
		return false;
	*out = e->inputs;
	if ( core->driveIdentity )
		return true;
	if ( core->driveMatrix != NULL )
	{
		float *numbers = NewFloats( e, e->n * e->m );
		for ( int i = 0; i < e->n && !e->noMemory; ++i )
			for ( int j = 0; j < e->m; ++j )
				numbers[j * e->n + i] = (float)core->driveMatrix[i * e->m + j];
		*out = Product( e, e->inputs, Matrix( e, e->m, e->n, numbers ) );
		any = true;
	}
	if ( core->drive.layerCount > 0 )
	{
		Value gains = Shaped( e, Network( e, &core->drive, NULL ), 2, ( int64_t[] ){ e->n, e->m } );
		Value part = Row( e, Product( e, gains, Column( e, e->inputs, e->m ) ), e->n );
		*out = any ? Add( e, *out, part ) : part;
	}
	return true;
}

/* x with L L^T x = r, by forward and backward substitution, an entry at a time. */
static Value Solve( Export *e, Value factor, Value r )
{
	Value x[lmbCoreMaxDofs], entries[lmbCoreMaxDofs];
	for ( int pass = 0; pass < 2; ++pass )
		for ( int step = 0; step < e->n; ++step )
		{
			int i = pass == 0 ? step : e->n - 1 - step;
			int64_t at[lmbCoreMaxDofs];
			Value rest = pass == 0 ? Range( e, r, i, 1 ) : entries[i];
			if ( step > 0 )
			{
				/* Row i of L before the diagonal, or column i below it. */
				for ( int j = 0; j < step; ++j )
					at[j] = pass == 0 ? i * ( i + 1 ) / 2 + j : ( i + 1 + j ) * ( i + 2 + j ) / 2 + i;
				Value known = Join( e, step, pass == 0 ? entries : x + i + 1 );
				Value row = Pick( e, factor, 1, ( int64_t[] ){ step }, at );
				rest = Subtract( e, rest, Sum( e, Multiply( e, known, row ), 1 ) );
			}
			Value pivot = Range( e, factor, i * ( i + 1 ) / 2 + i, 1 );
			( pass == 0 ? entries : x )[i] = lmbOnnx_Two( &e->graph, "Div", rest, pivot );
		}
	return Join( e, e->n, x );
}

static Value Lagrangian( Export *e )
{
	const lmbCoreModel *core = e->core;
	float zeros[lmbCoreMaxDofs] = { 0 };
	Value slopes = { 0 }, part, factor = MassFactor( e, &slopes );
	Value r = Matrix( e, 1, e->n, zeros );
	if ( Drive( e, &part ) )
		r = Add( e, r, part );
	if ( e->directions > 0 )
		r = Subtract( e, r, Coriolis( e, factor, slopes ) );
	if ( e->directions > 0 && core->potential.layerCount > 0 )
	{
		Value derivatives;
		Network( e, &core->potential, &derivatives );
		r = Subtract( e, r, Product( e, Row( e, derivatives, e->directions ), e->directionRows ) );
	}
	if ( Viscous( e, &part ) )
		r = Subtract( e, r, part );
	lmbOnnx_Output( &e->graph, factor, "mass_factor", 2, ( int64_t[] ){ 1, e->triangle } );
	return Solve( e, factor, r );
}

/* ---- The other kinds ---- */

static Value Affine( Export *e )
{
	int64_t first[lmbCoreMaxTriangle], second[lmbCoreMaxTriangle];
	int n = e->n, at = n * e->m, p = 0;
	for ( int j = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k, ++p )
		{
			first[p] = j;
			second[p] = k;
		}
	Value raw = Network( e, &e->core->acceleration, NULL );
	Value pairs = Multiply( e, Pick( e, e->velocities, 1, ( int64_t[] ){ p }, first ),
	                        Pick( e, e->velocities, 1, ( int64_t[] ){ p }, second ) );
	Value byPair = Shaped( e, Range( e, raw, at, n * p ), 2, ( int64_t[] ){ n, p } );
	Value bySpeed = Shaped( e, Range( e, raw, at + n * p, n * n ), 2, ( int64_t[] ){ n, n } );
	Value sum = Column( e, Range( e, raw, at + n * p + n * n, n ), n );
	sum = Add( e, sum, Product( e, byPair, Column( e, pairs, p ) ) );
	sum = Add( e, sum, Product( e, bySpeed, e->speed ) );
	if ( e->m > 0 )
	{
		Value byInput = Shaped( e, Range( e, raw, 0, at ), 2, ( int64_t[] ){ n, e->m } );
		sum = Add( e, sum, Product( e, byInput, Column( e, e->inputs, e->m ) ) );
	}
	return Row( e, sum, n );
}

static lmbStatus WriteGraph( Export *e, const char *path, const char *out, lmbError *error )
{
	e->n = e->core->dofCount;
	e->m = e->core->inputCount;
	e->directions = e->core->directionCount;
	e->triangle = e->n * ( e->n + 1 ) / 2;
	if ( e->core->kind >= lmbCoreGru )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: a recurrent model has no accelerations; export it as C", path );
	AddInputs( e );
	Value accelerations = e->core->kind == lmbCoreLagrangian ? Lagrangian( e )
	                      : e->core->kind == lmbCoreAffine   ? Affine( e )
	                                                         : Network( e, &e->core->acceleration, NULL );
	lmbOnnx_Output( &e->graph, accelerations, "accelerations", 2, ( int64_t[] ){ 1, e->n } );
	if ( e->noMemory )
		return lmbError_Memory( error );
	return lmbOnnx_Write( &e->graph, "limb", out, error );
}

lmbStatus lmbLimb_ExportOnnx( const char *path, const char *out, lmbError *error )
{
	Export export = { 0 };
	lmbArena arena = { 0 };
	lmbLimb *model = NULL;
	lmbStatus status = lmbLimb_LoadFile( path, &arena, &model, error );
	if ( status == lmb_statusOk )
	{
		export.core = lmbLimb_Core( model );
		status = WriteGraph( &export, path, out, error );
	}
	lmbOnnx_Free( &export.graph );
	lmbArena_Free( &export.arena );
	lmbArena_Free( &arena );
	return status;
}
