/* Batches through the equations: gathering what each network sees, and the way back. */
#include "limb/equations.h"

#include <assert.h>
#include <string.h>

static int ListWidth( const lmbEquations *equations )
{
	return equations->features.count + equations->dofCount + equations->inputCount;
}

lmbStatus lmbEquationsPass_Make( lmbEquationsPass *pass, const lmbEquations *equations, int capacity,
                                 lmbArena *arena, lmbError *error )
{
	memset( pass, 0, sizeof( *pass ) );
	pass->equations = equations;
	pass->capacity = capacity;
	size_t rows = (size_t)capacity, features = (size_t)equations->features.count;
	size_t width = (size_t)ListWidth( equations );
	pass->list = LMB_NEW( arena, double, rows *width );
	pass->listGradient = LMB_NEW( arena, double, rows *width );
	pass->slopes = LMB_NEW( arena, double, rows *features );
	pass->curvatures = LMB_NEW( arena, double, rows *features );
	pass->combinationGradient = LMB_NEW( arena, double, rows *features );
	pass->accelerations = LMB_NEW( arena, double, rows *(size_t)equations->dofCount );
	bool complete = pass->list != NULL && pass->listGradient != NULL && pass->slopes != NULL &&
	                pass->curvatures != NULL && pass->combinationGradient != NULL &&
	                pass->accelerations != NULL;
	for ( int p = 0; p < lmb_partCount; ++p )
	{
		const lmbScaledNetwork *part = &equations->parts[p];
		if ( !part->used )
			continue;
		size_t stacked = rows * (size_t)( 1 + part->tangentCount );
		size_t in = (size_t)part->mlp.sizes[0], out = (size_t)part->mlp.sizes[part->mlp.layerCount];
		LMB_TRY( lmbMlpPass_Make( &pass->parts[p].pass, &part->mlp, (int)stacked, arena, error ) );
		pass->parts[p].in = LMB_NEW( arena, double, stacked *in );
		pass->parts[p].inGradient = LMB_NEW( arena, double, stacked *in );
		pass->parts[p].out = LMB_NEW( arena, double, stacked *out );
		pass->parts[p].outGradient = LMB_NEW( arena, double, stacked *out );
		complete = complete && pass->parts[p].in != NULL && pass->parts[p].inGradient != NULL &&
		           pass->parts[p].out != NULL && pass->parts[p].outGradient != NULL;
	}
	return complete ? lmb_statusOk : lmbError_Memory( error );
}

static void FillList( lmbEquationsPass *pass, const double *positions )
{
	const lmbEquations *equations = pass->equations;
	size_t n = (size_t)equations->dofCount, m = (size_t)equations->inputCount;
	size_t features = (size_t)equations->features.count, width = (size_t)ListWidth( equations );
	for ( size_t s = 0; s < (size_t)pass->count; ++s )
	{
		double *row = pass->list + s * width;
		lmbFeatures_Evaluate( &equations->features, positions + s * n, row, pass->slopes + s * features,
		                      pass->curvatures + s * features );
		memcpy( row + features, pass->velocities + s * n, n * sizeof( double ) );
		if ( m > 0 )
			memcpy( row + features + n, pass->inputs + s * m, m * sizeof( double ) );
	}
}

/* One network on the whole batch: scaled inputs and directions in, scaled outputs and derivatives out. */
static void RunPart( lmbEquationsPass *pass, int p, const double *parameters )
{
	const lmbEquations *equations = pass->equations;
	const lmbScaledNetwork *part = &equations->parts[p];
	int n = equations->dofCount, features = equations->features.count, width = ListWidth( equations );
	int in = part->mlp.sizes[0], out = part->mlp.sizes[part->mlp.layerCount], count = pass->count;
	double *at = pass->parts[p].in;
	for ( int s = 0; s < count; ++s )
		for ( int k = 0; k < in; ++k )
			*at++ = ( pass->list[(size_t)s * width + part->inputs[k]] - part->inputShift[k] ) *
			        part->inputScale[k];
	for ( int t = 0; t < part->tangentCount; ++t )
		for ( int s = 0; s < count; ++s )
			for ( int k = 0; k < in; ++k )
				*at++ = pass->slopes[(size_t)s * features + part->inputs[k]] * part->inputScale[k] *
				        equations->features.angles[part->inputs[k] * n + part->tangentDofs[t]];
	const double *y = lmbMlp_ForwardTangents( &pass->parts[p].pass, parameters + part->offset,
	                                          pass->parts[p].in, count, part->tangentCount );
	double *target = pass->parts[p].out;
	for ( int r = 0; r < count * ( 1 + part->tangentCount ); ++r )
		for ( int k = 0; k < out; ++k )
			*target++ = *y++ * part->outputScale[k] + ( r < count ? part->outputShift[k] : 0.0 );
}

static int OutputWidth( const lmbScaledNetwork *part )
{
	return part->mlp.sizes[part->mlp.layerCount];
}

/* Row of sample s in a stacked array of one part; tangent t, or -1 for the value. */
static double *Row( const lmbEquationsPass *pass, int p, double *stacked, int t, int s )
{
	const lmbScaledNetwork *part = &pass->equations->parts[p];
	return stacked + ( (size_t)( t + 1 ) * (size_t)pass->count + (size_t)s ) * (size_t)OutputWidth( part );
}

static void FillTerms( lmbEquationsPass *pass, int s, const double *damping, lmbLagrangianTerms *terms )
{
	const lmbEquations *equations = pass->equations;
	const lmbScaledNetwork *parts = equations->parts;
	memset( terms, 0, sizeof( *terms ) );
	terms->n = equations->dofCount;
	terms->m = equations->inputCount;
	terms->massFloor = equations->massFloor;
	terms->mass = Row( pass, lmb_partMass, pass->parts[lmb_partMass].out, -1, s );
	for ( int t = 0; t < parts[lmb_partMass].tangentCount; ++t )
		terms->massTangents[parts[lmb_partMass].tangentDofs[t]] =
		    Row( pass, lmb_partMass, pass->parts[lmb_partMass].out, t, s );
	for ( int t = 0; t < parts[lmb_partPotential].tangentCount; ++t )
		terms->slope[parts[lmb_partPotential].tangentDofs[t]] =
		    Row( pass, lmb_partPotential, pass->parts[lmb_partPotential].out, t, s );
	terms->dampingConstant = damping;
	if ( parts[lmb_partDamping].used )
		terms->damping = Row( pass, lmb_partDamping, pass->parts[lmb_partDamping].out, -1, s );
	terms->driveMatrix = equations->driveMatrix;
	if ( parts[lmb_partDrive].used )
		terms->drive = Row( pass, lmb_partDrive, pass->parts[lmb_partDrive].out, -1, s );
	terms->identityDrive = equations->identityDrive;
	terms->velocities = pass->velocities + (size_t)s * (size_t)terms->n;
	if ( pass->measured != NULL )
		terms->accelerations = pass->measured + (size_t)s * (size_t)terms->n;
	terms->inputs = terms->m > 0 ? pass->inputs + (size_t)s * (size_t)terms->m : NULL;
}

static void FillGradient( lmbEquationsPass *pass, int s, double *velocities, double *damping,
                          lmbLagrangianGradient *gradient )
{
	const lmbScaledNetwork *parts = pass->equations->parts;
	memset( gradient, 0, sizeof( *gradient ) );
	gradient->mass = Row( pass, lmb_partMass, pass->parts[lmb_partMass].outGradient, -1, s );
	for ( int t = 0; t < parts[lmb_partMass].tangentCount; ++t )
		gradient->massTangents[parts[lmb_partMass].tangentDofs[t]] =
		    Row( pass, lmb_partMass, pass->parts[lmb_partMass].outGradient, t, s );
	for ( int t = 0; t < parts[lmb_partPotential].tangentCount; ++t )
		gradient->slope[parts[lmb_partPotential].tangentDofs[t]] =
		    Row( pass, lmb_partPotential, pass->parts[lmb_partPotential].outGradient, t, s );
	if ( parts[lmb_partPotential].used ) /* the potential's value is in no equation */
		*Row( pass, lmb_partPotential, pass->parts[lmb_partPotential].outGradient, -1, s ) = 0.0;
	gradient->dampingConstant = damping;
	if ( parts[lmb_partDamping].used )
		gradient->damping = Row( pass, lmb_partDamping, pass->parts[lmb_partDamping].outGradient, -1, s );
	if ( parts[lmb_partDrive].used )
		gradient->drive = Row( pass, lmb_partDrive, pass->parts[lmb_partDrive].outGradient, -1, s );
	gradient->velocities = velocities;
}

/* K of the constant damping in its unit. */
static const double *Damping( const lmbEquations *equations, const double *parameters, double *k )
{
	if ( !equations->constantDamping )
		return NULL;
	for ( int i = 0, at = 0; i < equations->dofCount; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
			k[at] = parameters[equations->dampingOffset + (size_t)at] * equations->dampingScale[i];
	return k;
}

static void AffineForward( const lmbEquationsPass *pass, int s, double *a )
{
	int n = pass->equations->dofCount, m = pass->equations->inputCount;
	const double *y = Row( pass, lmb_partAffine, pass->parts[lmb_partAffine].out, -1, s );
	const double *v = pass->velocities + (size_t)s * n;
	for ( int i = 0; i < n; ++i )
	{
		a[i] = 0.0;
		for ( int j = 0; j < m; ++j )
			a[i] += *y++ * pass->inputs[(size_t)s * m + j];
	}
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			for ( int k = 0; k <= j; ++k )
				a[i] += *y++ * v[j] * v[k];
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			a[i] += *y++ * v[j];
	for ( int i = 0; i < n; ++i )
		a[i] += *y++;
}

static void AffineBackward( const lmbEquationsPass *pass, int s, const double *by, double *byVelocity )
{
	int n = pass->equations->dofCount, m = pass->equations->inputCount;
	const double *y = Row( pass, lmb_partAffine, pass->parts[lmb_partAffine].out, -1, s ) + n * m;
	double *g = Row( pass, lmb_partAffine, pass->parts[lmb_partAffine].outGradient, -1, s );
	const double *v = pass->velocities + (size_t)s * n;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < m; ++j )
			*g++ = by[i] * pass->inputs[(size_t)s * m + j];
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			for ( int k = 0; k <= j; ++k, ++y )
			{
				*g++ = by[i] * v[j] * v[k];
				byVelocity[j] += by[i] * *y * v[k];
				byVelocity[k] += by[i] * *y * v[j];
			}
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j, ++y )
		{
			*g++ = by[i] * v[j];
			byVelocity[j] += by[i] * *y;
		}
	for ( int i = 0; i < n; ++i )
		*g++ = by[i];
}

const double *lmbEquations_Forward( lmbEquationsPass *pass, const double *parameters, const double *positions,
                                    const double *velocities, const double *inputs, int count )
{
	const lmbEquations *equations = pass->equations;
	assert( count >= 1 && count <= pass->capacity );
	pass->count = count;
	pass->velocities = velocities;
	pass->inputs = inputs;
	FillList( pass, positions );
	for ( int p = 0; p < lmb_partCount; ++p )
		if ( equations->parts[p].used )
			RunPart( pass, p, parameters );
	double k[lmbLimbMaxDofs * lmbLimbMaxDofs];
	const double *damping = Damping( equations, parameters, k );
	for ( int s = 0; s < count; ++s )
	{
		double *a = pass->accelerations + (size_t)s * equations->dofCount;
		if ( equations->kind == lmb_limbLagrangian )
		{
			lmbLagrangianTerms terms;
			FillTerms( pass, s, damping, &terms );
			lmbLagrangian_Acceleration( &terms, a );
		}
		else if ( equations->kind == lmb_limbAffine )
			AffineForward( pass, s, a );
		else
			memcpy( a, Row( pass, lmb_partPlain, pass->parts[lmb_partPlain].out, -1, s ),
			        (size_t)equations->dofCount * sizeof( double ) );
	}
	return pass->accelerations;
}

/* Back through one network into the list and the combinations of angles. */
static void PartBackward( lmbEquationsPass *pass, int p, const double *parameters, double *gradient,
                          bool wantsInputs )
{
	const lmbEquations *equations = pass->equations;
	const lmbScaledNetwork *part = &equations->parts[p];
	int n = equations->dofCount, features = equations->features.count, width = ListWidth( equations );
	int in = part->mlp.sizes[0], out = OutputWidth( part ), count = pass->count;
	double *own = pass->parts[p].outGradient;
	for ( int r = 0; r < count * ( 1 + part->tangentCount ); ++r )
		for ( int k = 0; k < out; ++k )
			own[(size_t)r * out + k] *= part->outputScale[k];
	lmbMlp_BackwardTangents( &pass->parts[p].pass, parameters + part->offset, pass->parts[p].in, own,
	                         gradient + part->offset, wantsInputs ? pass->parts[p].inGradient : NULL );
	if ( !wantsInputs )
		return;
	const double *at = pass->parts[p].inGradient;
	for ( int s = 0; s < count; ++s )
		for ( int k = 0; k < in; ++k )
			pass->listGradient[(size_t)s * width + part->inputs[k]] += *at++ * part->inputScale[k];
	for ( int t = 0; t < part->tangentCount; ++t )
		for ( int s = 0; s < count; ++s )
			for ( int k = 0; k < in; ++k )
			{
				size_t f = (size_t)s * features + part->inputs[k];
				pass->combinationGradient[f] +=
				    *at++ * part->inputScale[k] * pass->curvatures[f] *
				    equations->features.angles[part->inputs[k] * n + part->tangentDofs[t]];
			}
}

static void PositionsBackward( const lmbEquationsPass *pass, double *positionGradient,
                               double *velocityGradient )
{
	const lmbEquations *equations = pass->equations;
	int n = equations->dofCount, features = equations->features.count, width = ListWidth( equations );
	memset( positionGradient, 0, (size_t)pass->count * (size_t)n * sizeof( double ) );
	for ( int s = 0; s < pass->count; ++s )
	{
		const double *list = pass->listGradient + (size_t)s * width;
		for ( int f = 0; f < features; ++f )
		{
			size_t at = (size_t)s * features + f;
			double by = list[f] * pass->slopes[at] + pass->combinationGradient[at];
			for ( int i = 0; i < n; ++i )
				positionGradient[s * n + i] += by * equations->features.angles[f * n + i];
		}
		for ( int i = 0; i < n; ++i )
			velocityGradient[s * n + i] += list[features + i];
	}
}

void lmbEquations_Backward( lmbEquationsPass *pass, const double *parameters,
                            const double *accelerationGradient, double *gradient, double *positionGradient,
                            double *velocityGradient )
{
	const lmbEquations *equations = pass->equations;
	int n = equations->dofCount, count = pass->count;
	size_t rows = (size_t)count;
	bool wantsInputs = positionGradient != NULL;
	double k[lmbLimbMaxDofs * lmbLimbMaxDofs], kGradient[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
	double unused[lmbLimbMaxDofs] = { 0 };
	const double *damping = Damping( equations, parameters, k );
	if ( wantsInputs )
	{
		memset( velocityGradient, 0, rows * (size_t)n * sizeof( double ) );
		memset( pass->listGradient, 0, rows * (size_t)ListWidth( equations ) * sizeof( double ) );
		memset( pass->combinationGradient, 0, rows * (size_t)equations->features.count * sizeof( double ) );
	}
	for ( int s = 0; s < count; ++s )
	{
		const double *by = accelerationGradient + (size_t)s * n;
		double *byVelocity = wantsInputs ? velocityGradient + (size_t)s * n : unused;
		if ( equations->kind == lmb_limbLagrangian )
		{
			lmbLagrangianTerms terms;
			lmbLagrangianGradient own;
			FillTerms( pass, s, damping, &terms );
			FillGradient( pass, s, byVelocity, kGradient, &own );
			lmbLagrangian_Backward( &terms, by, &own );
		}
		else if ( equations->kind == lmb_limbAffine )
			AffineBackward( pass, s, by, byVelocity );
		else
			memcpy( Row( pass, lmb_partPlain, pass->parts[lmb_partPlain].outGradient, -1, s ), by,
			        (size_t)n * sizeof( double ) );
	}
	for ( int i = 0, at = 0; i < n && equations->constantDamping; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
			gradient[equations->dampingOffset + (size_t)at] += kGradient[at] * equations->dampingScale[i];
	for ( int p = 0; p < lmb_partCount; ++p )
		if ( equations->parts[p].used )
			PartBackward( pass, p, parameters, gradient, wantsInputs );
	if ( wantsInputs )
		PositionsBackward( pass, positionGradient, velocityGradient );
}
