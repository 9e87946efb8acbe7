#include "limb/equations.h"

#include <math.h>
#include <string.h>

enum
{
	widestNetwork = 256, /* hidden layers and inputs, of the model file */
	mostOutputs = 8192,
	pairsUpTo = 4 /* dofs for which differences or sums of any two angles become features */
};

void lmbFeatures_Evaluate( const lmbFeatures *features, const double *positions, double *values,
                           double *slopes, double *curvatures )
{
	int n = features->dofCount;
	for ( int f = 0; f < features->count; ++f )
	{
		double s = 0.0;
		for ( int i = 0; i < n; ++i )
			s += features->angles[f * n + i] * positions[i];
		double value, slope, curvature;
		if ( features->kinds[f] == lmb_featureLinear )
		{
			value = ( s - features->shift[f] ) * features->scale[f];
			slope = features->scale[f];
			curvature = 0.0;
		}
		else
		{
			bool sine = features->kinds[f] == lmb_featureSine;
			value = sine ? sin( s ) : cos( s );
			slope = sine ? cos( s ) : -sin( s );
			curvature = -value;
		}
		values[f] = value;
		if ( slopes != NULL )
		{
			slopes[f] = slope;
			curvatures[f] = curvature;
		}
	}
}

/* The combination a q_i + b q_k (k < 0: q_i alone). */
static void Add( lmbFeatures *features, lmbFeatureKind kind, const int32_t *angles, unsigned char seenBy )
{
	if ( features->count == lmbFeaturesMax )
		return; /* checked by the caller, from the count it needs */
	int f = features->count++, n = features->dofCount;
	memcpy( features->angles + (size_t)f * n, angles, (size_t)n * sizeof( int32_t ) );
	features->kinds[f] = kind;
	features->shift[f] = 0.0;
	features->scale[f] = 1.0;
	features->seenBy[f] = seenBy;
}

static void AddTurn( lmbFeatures *features, const int32_t *angles, unsigned char seenBy )
{
	Add( features, lmb_featureSine, angles, seenBy );
	Add( features, lmb_featureCosine, angles, seenBy );
}

static void AddLinear( lmbFeatures *features, const lmbEquationsDef *def, int dof, unsigned char seenBy )
{
	int32_t angles[lmbLimbMaxDofs] = { 0 };
	angles[dof] = 1;
	Add( features, lmb_featureLinear, angles, seenBy );
	features->shift[features->count - 1] = def->positionMean[dof];
	features->scale[features->count - 1] = 1.0 / fmax( def->positionSpread[dof], 1e-6 );
}

/* Differences of absolute angles, on which alone a planar chain's inertia depends. */
static void AddDifferences( lmbFeatures *features, const lmbEquationsDef *def )
{
	for ( int i = 1; i < def->dofCount; ++i )
		for ( int k = 0; k < i; ++k )
		{
			if ( def->slides[i] || def->slides[k] || ( i - k > 1 && def->dofCount > pairsUpTo ) )
				continue;
			int32_t angles[lmbLimbMaxDofs] = { 0 };
			angles[i] = 1;
			angles[k] = -1;
			AddTurn( features, angles, lmbSeenByAll );
		}
}

/* Angles against the world of a planar chain: its gravity is linear in their sines and cosines. */
static void AddSums( lmbFeatures *features, const lmbEquationsDef *def )
{
	int32_t angles[lmbLimbMaxDofs] = { 0 };
	int hinges = 0;
	for ( int i = 0; i < def->dofCount; ++i )
	{
		if ( def->slides[i] )
			continue;
		angles[i] = 1;
		if ( ++hinges > 1 )
			AddTurn( features, angles, lmbSeenByPotential );
	}
}

lmbStatus lmbEquations_ChooseFeatures( const lmbEquationsDef *def, lmbFeatures *features, lmbError *error )
{
	int n = def->dofCount;
	if ( n < 1 || n > lmbLimbMaxDofs || def->inputCount < 0 || def->inputCount > lmbLimbMaxInputs )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "a limb of %d degrees of freedom and %d inputs; 1 to %d and 0 to %d are possible", n,
		    def->inputCount, lmbLimbMaxDofs, lmbLimbMaxInputs );
	memset( features, 0, sizeof( *features ) );
	features->dofCount = n;
	for ( int i = 0; i < n; ++i )
	{
		bool turnsWithWorld = i == 0 || ( def->absoluteAngles && !def->slides[i] );
		if ( def->invariantBase && turnsWithWorld )
			continue;
		unsigned char seenBy = turnsWithWorld ? lmbSeenByPotential | lmbSeenByForces : lmbSeenByAll;
		int32_t angles[lmbLimbMaxDofs] = { 0 };
		angles[i] = 1;
		if ( def->slides[i] )
			AddLinear( features, def, i, seenBy );
		else
			AddTurn( features, angles, seenBy );
		if ( !def->slides[i] && !def->turns[i] )
			AddLinear( features, def, i, seenBy & (unsigned char)~lmbSeenByMass );
	}
	if ( def->absoluteAngles )
		AddDifferences( features, def );
	else if ( !def->invariantBase && n <= pairsUpTo )
		AddSums( features, def );
	if ( features->count == 0 )
	{
		/* One free turning axis: nothing depends on anything, yet a network wants an input. */
		int32_t angles[lmbLimbMaxDofs] = { 0 };
		Add( features, lmb_featureCosine, angles, lmbSeenByAll );
	}
	return lmb_statusOk;
}

/* Which entries of the list a network looks at. */
static int ListInputs( const lmbEquations *equations, unsigned char seenBy, bool velocities, bool inputs,
                       int32_t *list )
{
	int count = 0, features = equations->features.count;
	for ( int f = 0; f < features; ++f )
		if ( equations->features.seenBy[f] & seenBy )
			list[count++] = f;
	for ( int i = 0; i < equations->dofCount && velocities; ++i )
		list[count++] = features + i;
	for ( int i = 0; i < equations->inputCount && inputs; ++i )
		list[count++] = features + equations->dofCount + i;
	/* Inertia that depends on no angle (a single hinge): the first feature stands in. */
	if ( count == 0 )
		list[count++] = 0;
	return count;
}

static bool AllocateScales( lmbScaledNetwork *part, lmbArena *arena )
{
	int in = part->mlp.sizes[0], out = part->mlp.sizes[part->mlp.layerCount];
	part->inputs = LMB_NEW( arena, int32_t, in );
	part->inputShift = LMB_NEW( arena, double, in );
	part->inputScale = LMB_NEW( arena, double, in );
	part->outputShift = LMB_NEW( arena, double, out );
	part->outputScale = LMB_NEW( arena, double, out );
	return part->inputs != NULL && part->inputShift != NULL && part->inputScale != NULL &&
	       part->outputShift != NULL && part->outputScale != NULL;
}

static void FindTangents( const lmbEquations *equations, lmbScaledNetwork *part )
{
	const lmbFeatures *features = &equations->features;
	for ( int i = 0; i < equations->dofCount; ++i )
	{
		bool moves = false;
		for ( int k = 0; k < part->mlp.sizes[0]; ++k )
			moves = moves || features->angles[part->inputs[k] * equations->dofCount + i] != 0;
		if ( moves )
			part->tangentDofs[part->tangentCount++] = i;
	}
}

static lmbStatus AddPart( const lmbEquationsDef *def, lmbEquations *equations, lmbEquationsPart which,
                          int outputs, lmbError *error )
{
	lmbScaledNetwork *part = &equations->parts[which];
	bool others = which == lmb_partAffine || which == lmb_partPlain;
	bool velocities = which == lmb_partDamping || which == lmb_partDrive || which == lmb_partPlain;
	unsigned char seenBy = which == lmb_partMass        ? lmbSeenByMass
	                       : which == lmb_partPotential ? lmbSeenByPotential
	                                                    : lmbSeenByForces;
	if ( others ) /* they stand for gravity as well */
		seenBy |= lmbSeenByPotential;
	int32_t list[lmbListMax];
	int sizes[lmbMlpMaxLayers + 1],
	    count = ListInputs( equations, seenBy, velocities, which == lmb_partPlain, list );
	sizes[0] = count;
	int hidden = which == lmb_partPotential && def->linearPotential ? 0 : def->hiddenLayers;
	for ( int l = 1; l <= hidden; ++l )
		sizes[l] = def->width;
	sizes[hidden + 1] = outputs;
	if ( outputs > mostOutputs || count > widestNetwork )
		return lmbError_Set(
		    error, lmb_statusUnsupported,
		    "a network from %d to %d numbers is wider than a model file holds (%d and %d); leave "
		    "some degrees of freedom or inputs out, or choose the kind \"%s\"",
		    count, outputs, widestNetwork, mostOutputs, which == lmb_partAffine ? "lagrangian" : "plain" );
	LMB_TRY( lmbMlp_Make( &part->mlp, sizes, hidden + 1, error ) );
	if ( !AllocateScales( part, &equations->arena ) )
		return lmbError_Memory( error );
	part->used = true;
	part->offset = equations->parameterCount;
	equations->parameterCount += part->mlp.parameterCount;
	memcpy( part->inputs, list, (size_t)count * sizeof( int32_t ) );
	for ( int k = 0; k < count; ++k )
	{
		int at = list[k] - equations->features.count;
		part->inputScale[k] = 1.0;
		if ( at >= equations->dofCount )
		{
			part->inputShift[k] = def->inputMean[at - equations->dofCount];
			part->inputScale[k] = 1.0 / def->inputSpread[at - equations->dofCount];
		}
		else if ( at >= 0 )
			part->inputScale[k] = 1.0 / def->velocitySpread[at];
	}
	for ( int k = 0; k < outputs; ++k )
		part->outputScale[k] = 1.0;
	if ( which == lmb_partMass || which == lmb_partPotential )
		FindTangents( equations, part );
	return lmb_statusOk;
}

/* The size of generalised torques: of the inputs where they are known as torques; else inertia counts as
 * about 1, because without known torques only ratios can be learned. */
static void TorqueSpread( const lmbEquationsDef *def, const lmbEquations *equations, double *spread )
{
	for ( int i = 0; i < def->dofCount; ++i )
	{
		double sum = 0.0;
		for ( int j = 0; j < def->inputCount && equations->driveMatrix != NULL; ++j )
			sum += pow( equations->driveMatrix[i * def->inputCount + j] * def->inputSpread[j], 2.0 );
		spread[i] = equations->identityDrive ? def->inputSpread[i] : sqrt( sum );
		if ( spread[i] < 1e-9 * def->accelerationSpread[i] || def->driveNetwork )
			spread[i] = def->accelerationSpread[i];
	}
}

static void ScaleMass( lmbEquations *equations, const double *inertia )
{
	lmbScaledNetwork *mass = &equations->parts[lmb_partMass];
	double least = HUGE_VAL;
	for ( int i = 0, k = 0; i < equations->dofCount; ++i )
		for ( int j = 0; j <= i; ++j, ++k )
		{
			double l = sqrt( inertia[i] );
			least = fmin( least, l );
			mass->outputScale[k] = l;
			if ( i != j )
				continue;
			/* softplus( shift ) = l, and a network of order 1 changes it by its own size. */
			mass->outputShift[k] = l > 30.0 ? l : log( expm1( l ) );
			mass->outputScale[k] = l / -expm1( -l );
		}
	equations->massFloor = 1e-3 * least;
}

static lmbStatus MakeLagrangian( const lmbEquationsDef *def, lmbEquations *equations, lmbError *error )
{
	int n = def->dofCount, m = def->inputCount, triangle = n * ( n + 1 ) / 2;
	equations->identityDrive = def->driveMatrix == NULL && !def->driveNetwork && m > 0;
	if ( equations->identityDrive && m != n )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%d inputs cannot be the torques of %d degrees of freedom; give the drive matrix "
		    "or let a network learn it (drive: learned)",
		    m, n );
	if ( def->driveMatrix != NULL && m > 0 )
	{
		equations->driveMatrix = LMB_NEW( &equations->arena, double, n *m );
		if ( equations->driveMatrix == NULL )
			return lmbError_Memory( error );
		memcpy( equations->driveMatrix, def->driveMatrix, (size_t)n * (size_t)m * sizeof( double ) );
	}
	double torque[lmbLimbMaxDofs] = { 0 }, inertia[lmbLimbMaxDofs] = { 0 }, mean = 0.0;
	TorqueSpread( def, equations, torque );
	for ( int i = 0; i < n; ++i )
	{
		inertia[i] = fmin( fmax( torque[i] / def->accelerationSpread[i], 1e-6 ), 1e6 );
		mean += torque[i] / n;
		equations->dampingScale[i] = sqrt( torque[i] / def->velocitySpread[i] );
	}
	LMB_TRY( AddPart( def, equations, lmb_partMass, triangle, error ) );
	ScaleMass( equations, inertia );
	bool seesPotential = false;
	for ( int f = 0; f < equations->features.count; ++f )
		seesPotential = seesPotential || ( equations->features.seenBy[f] & lmbSeenByPotential );
	if ( def->potential && seesPotential )
	{
		LMB_TRY( AddPart( def, equations, lmb_partPotential, 1, error ) );
		equations->parts[lmb_partPotential].outputScale[0] = mean;
	}
	if ( def->frictionNetwork )
	{
		LMB_TRY( AddPart( def, equations, lmb_partDamping, triangle, error ) );
		for ( int i = 0, k = 0; i < n; ++i )
			for ( int j = 0; j <= i; ++j, ++k )
				equations->parts[lmb_partDamping].outputScale[k] = equations->dampingScale[i];
	}
	if ( def->driveNetwork && m > 0 )
	{
		LMB_TRY( AddPart( def, equations, lmb_partDrive, n * m, error ) );
		for ( int k = 0; k < n * m; ++k )
			equations->parts[lmb_partDrive].outputScale[k] = torque[k / m] / def->inputSpread[k % m];
	}
	equations->constantDamping = true;
	equations->dampingOffset = equations->parameterCount;
	equations->parameterCount += (size_t)triangle;
	return lmb_statusOk;
}

static lmbStatus MakeAffine( const lmbEquationsDef *def, lmbEquations *equations, lmbError *error )
{
	int n = def->dofCount, m = def->inputCount;
	LMB_TRY( AddPart( def, equations, lmb_partAffine, n * m + n * n * ( n + 1 ) / 2 + n * n + n, error ) );
	double *scale = equations->parts[lmb_partAffine].outputScale;
	const double *a = def->accelerationSpread, *v = def->velocitySpread;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < m; ++j )
			*scale++ = a[i] / def->inputSpread[j];
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			for ( int k = 0; k <= j; ++k )
				*scale++ = a[i] / ( v[j] * v[k] );
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			*scale++ = a[i] / v[j];
	for ( int i = 0; i < n; ++i )
		*scale++ = a[i];
	return lmb_statusOk;
}

lmbStatus lmbEquations_Make( const lmbEquationsDef *given, lmbEquations *equations, lmbError *error )
{
	lmbEquationsDef def = *given;
	memset( equations, 0, sizeof( *equations ) );
	if ( def.hiddenLayers < 0 || def.hiddenLayers > lmbMlpMaxLayers - 1 || def.width < 1 ||
	     def.width > widestNetwork )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "networks of %d hidden layers %d wide; 0 to %d layers, 1 to %d wide are possible",
		    def.hiddenLayers, def.width, lmbMlpMaxLayers - 1, widestNetwork );
	/* What never moves still gets a scale. */
	for ( int i = 0; i < lmbLimbMaxDofs; ++i )
	{
		def.velocitySpread[i] = def.velocitySpread[i] > 1e-9 ? def.velocitySpread[i] : 1.0;
		def.accelerationSpread[i] = def.accelerationSpread[i] > 1e-9 ? def.accelerationSpread[i] : 1.0;
	}
	for ( int i = 0; i < lmbLimbMaxInputs; ++i )
		def.inputSpread[i] = def.inputSpread[i] > 1e-12 ? def.inputSpread[i] : 1.0;
	equations->kind = def.kind;
	equations->dofCount = def.dofCount;
	equations->inputCount = def.inputCount;
	LMB_TRY( lmbEquations_ChooseFeatures( &def, &equations->features, error ) );
	if ( def.kind == lmb_limbLagrangian )
		return MakeLagrangian( &def, equations, error );
	if ( def.kind == lmb_limbAffine )
		return MakeAffine( &def, equations, error );
	LMB_TRY( AddPart( &def, equations, lmb_partPlain, def.dofCount, error ) );
	for ( int i = 0; i < def.dofCount; ++i )
		equations->parts[lmb_partPlain].outputScale[i] = def.accelerationSpread[i];
	return lmb_statusOk;
}

void lmbEquations_Free( lmbEquations *equations )
{
	lmbArena_Free( &equations->arena );
}

void lmbEquations_Init( const lmbEquations *equations, lmbRandom *random, double *parameters )
{
	static const double outputScale[lmb_partCount] = { 0.1, 0.1, 0.3, 1.0, 0.3, 0.3 };
	for ( int p = 0; p < lmb_partCount; ++p )
		if ( equations->parts[p].used )
			lmbMlp_Init( &equations->parts[p].mlp, outputScale[p], random,
			             parameters + equations->parts[p].offset );
	/* K = 0 would be a stationary point of K K^T. */
	for ( int i = 0, k = 0; i < equations->dofCount && equations->constantDamping; ++i )
		for ( int j = 0; j <= i; ++j, ++k )
			parameters[equations->dampingOffset + (size_t)k] = i == j ? 0.3 : 0.0;
}
