#include "limb/equations.h"

#include "check.h"

#include <stdlib.h>

enum
{
	n = 3,
	samples = 3
};

typedef struct Case
{
	const char *name;
	lmbLimbKind kind;
	int inputs;
	bool potential, friction, drive, matrix, absolute, invariant, slide;
} Case;

static const Case cases[] = {
    { .name = "torques alone", .kind = lmb_limbLagrangian, .inputs = 3, .invariant = true },
    { .name = "gravity", .kind = lmb_limbLagrangian, .inputs = 3, .potential = true },
    { .name = "all",
      .kind = lmb_limbLagrangian,
      .inputs = 5,
      .potential = true,
      .friction = true,
      .drive = true,
      .matrix = true,
      .slide = true },
    { .name = "free swing", .kind = lmb_limbLagrangian, .inputs = 0, .potential = true, .absolute = true },
    { .name = "affine", .kind = lmb_limbAffine, .inputs = 2 },
    { .name = "plain", .kind = lmb_limbPlain, .inputs = 2, .slide = true },
};

typedef struct Model
{
	lmbEquations equations;
	lmbEquationsPass pass;
	double *parameters, *gradient;
	double q[samples * n], v[samples * n], u[samples * 5], weights[samples * n];
	lmbArena arena;
} Model;

static Model *Make( const Case *c, uint64_t seed )
{
	static const bool turns[n] = { true, false, true };
	double matrix[n * 5];
	lmbRandom random = lmbRandom_Seed( seed, 1 );
	Model *model = calloc( 1, sizeof( *model ) );
	lmbEquationsDef def = { .kind = c->kind,
	                        .dofCount = n,
	                        .inputCount = c->inputs,
	                        .slides = ( bool[] ){ false, false, c->slide },
	                        .turns = turns,
	                        .hiddenLayers = 2,
	                        .width = 6,
	                        .potential = c->potential,
	                        .frictionNetwork = c->friction,
	                        .driveNetwork = c->drive,
	                        .absoluteAngles = c->absolute,
	                        .invariantBase = c->invariant,
	                        .driveMatrix = c->matrix ? matrix : NULL };
	for ( int i = 0; i < n * 5; ++i )
		matrix[i] = lmbRandom_Normal( &random );
	for ( int i = 0; i < n; ++i )
	{
		def.positionMean[i] = 0.2 * i;
		def.positionSpread[i] = 0.7;
		def.velocitySpread[i] = 2.0 + i;
		def.accelerationSpread[i] = 5.0 + 3.0 * i;
	}
	for ( int i = 0; i < 5; ++i )
	{
		def.inputMean[i] = 0.1 * i;
		def.inputSpread[i] = 1.0 + 0.3 * i;
	}
	lmbError error = { 0 };
	CHECK_INT( lmbEquations_Make( &def, &model->equations, &error ), lmb_statusOk );
	CHECK_OR_STOP( error.message[0] == '\0' );
	CHECK_INT( lmbEquationsPass_Make( &model->pass, &model->equations, samples, &model->arena, NULL ),
	           lmb_statusOk );
	model->parameters = LMB_NEW( &model->arena, double, model->equations.parameterCount );
	model->gradient = LMB_NEW( &model->arena, double, model->equations.parameterCount );
	lmbEquations_Init( &model->equations, &random, model->parameters );
	for ( size_t i = 0; i < model->equations.parameterCount; ++i )
		model->parameters[i] += 0.3 * lmbRandom_Normal( &random );
	for ( int i = 0; i < samples * n; ++i )
	{
		model->q[i] = lmbRandom_Normal( &random );
		model->v[i] = 2.0 * lmbRandom_Normal( &random );
		model->weights[i] = lmbRandom_Normal( &random );
	}
	for ( int i = 0; i < samples * 5; ++i )
		model->u[i] = lmbRandom_Normal( &random );
	return model;
}

static void Free( Model *model )
{
	lmbEquations_Free( &model->equations );
	lmbArena_Free( &model->arena );
	free( model );
}

static double Loss( Model *model )
{
	const double *a =
	    lmbEquations_Forward( &model->pass, model->parameters, model->q, model->v, model->u, samples );
	double sum = 0.0;
	for ( int i = 0; i < samples * n; ++i )
		sum += model->weights[i] * a[i];
	return sum;
}

static void CheckSlope( Model *model, const char *what, double *at, double exact )
{
	double keep = *at, h = 1e-5;
	*at = keep + h;
	double up = Loss( model );
	*at = keep - h;
	double down = Loss( model );
	*at = keep;
	double slope = ( up - down ) / ( 2.0 * h );
	/* Rounding: 1e-16 of a loss of order 100, over h; truncation: h^2 times a third derivative, which through
	 * M^-1 and the squares of speeds reaches 1e4 times the slope. */
	if ( !( fabs( exact - slope ) <= 1e-6 * fmax( 1.0, fabs( exact ) ) ) )
		CheckNear( __FILE__, __LINE__, what, exact, slope, 1e-6 * fmax( 1.0, fabs( exact ) ) );
}

static void CheckGradient( Model *model, const char *name )
{
	double byQ[samples * n], byV[samples * n];
	memset( model->gradient, 0, model->equations.parameterCount * sizeof( double ) );
	Loss( model );
	lmbEquations_Backward( &model->pass, model->parameters, model->weights, model->gradient, byQ, byV );
	for ( size_t i = 0; i < model->equations.parameterCount; ++i )
		CheckSlope( model, name, &model->parameters[i], model->gradient[i] );
	for ( int i = 0; i < samples * n; ++i )
	{
		CheckSlope( model, name, &model->q[i], byQ[i] );
		CheckSlope( model, name, &model->v[i], byV[i] );
	}
}

/* Every kind and part: the gradient by all parameters, positions and velocities; of accelerations, and of the
 * torques that are missing at given ones. */
static void GradientByDifferences( void **state )
{
	(void)state;
	for ( size_t c = 0; c < sizeof( cases ) / sizeof( cases[0] ); ++c )
	{
		checkSeed = 31 + c;
		Model *model = Make( &cases[c], checkSeed );
		CheckGradient( model, cases[c].name );
		if ( model->equations.kind == lmb_limbLagrangian )
		{
			double measured[samples * n];
			lmbRandom random = lmbRandom_Seed( 77, c );
			for ( int i = 0; i < samples * n; ++i )
				measured[i] = lmbRandom_Normal( &random );
			model->pass.measured = measured;
			CheckGradient( model, cases[c].name );
		}
		Free( model );
	}
}

/* No torque is missing where the accelerations are the model's own, and M times what is added to them then.
 */
static void MissingTorques( void **state )
{
	(void)state;
	for ( size_t c = 0; c < sizeof( cases ) / sizeof( cases[0] ); ++c )
	{
		Model *model = Make( &cases[c], 5 );
		double own[samples * n];
		if ( model->equations.kind == lmb_limbLagrangian )
		{
			memcpy( own,
			        lmbEquations_Forward( &model->pass, model->parameters, model->q, model->v, model->u,
			                              samples ),
			        sizeof( own ) );
			model->pass.measured = own;
			const double *missing = lmbEquations_Forward( &model->pass, model->parameters, model->q, model->v,
			                                              model->u, samples );
			/* Rounding of torques of order 100. */
			for ( int i = 0; i < samples * n; ++i )
				CHECK_NEAR( missing[i], 0.0, 1e-11 );
			/* A push of the first joint meets M_00 > 0. */
			own[0] += 1.0;
			missing = lmbEquations_Forward( &model->pass, model->parameters, model->q, model->v, model->u,
			                                samples );
			CHECK( missing[0] > 0.0 );
		}
		Free( model );
	}
}

/* Solves A x = b for 3 unknowns by Cramer's rule. */
static double Determinant( const double *a )
{
	return a[0] * ( a[4] * a[8] - a[5] * a[7] ) - a[1] * ( a[3] * a[8] - a[5] * a[6] ) +
	       a[2] * ( a[3] * a[7] - a[4] * a[6] );
}

static void Solve( const double *a, const double *b, double *x )
{
	for ( int k = 0; k < n; ++k )
	{
		double replaced[n * n];
		memcpy( replaced, a, sizeof( replaced ) );
		for ( int i = 0; i < n; ++i )
			replaced[i * n + k] = b[i];
		x[k] = Determinant( replaced ) / Determinant( a );
	}
}

static void Accelerate( Model *model, const double *q, const double *v, const double *u, double *a )
{
	memcpy( a, lmbEquations_Forward( &model->pass, model->parameters, q, v, u, 1 ), n * sizeof( double ) );
}

/* M^-1 from unit torques at rest; M by inverting it. */
static void MassByUnitTorques( Model *model, const double *q, double *mass )
{
	const double rest[n] = { 0 };
	double still[n], inverse[n * n];
	Accelerate( model, q, rest, rest, still );
	for ( int j = 0; j < n; ++j )
	{
		double unit[n] = { 0 }, a[n];
		unit[j] = 1.0;
		Accelerate( model, q, rest, unit, a );
		for ( int i = 0; i < n; ++i )
			inverse[i * n + j] = a[i] - still[i];
	}
	for ( int j = 0; j < n; ++j )
	{
		double unit[n] = { 0 }, x[n];
		unit[j] = 1.0;
		Solve( inverse, unit, x );
		for ( int i = 0; i < n; ++i )
			mass[i * n + j] = x[i];
	}
}

/* The equation of docs/formats/limb-model.md, its Coriolis term summed over differenced mass matrices,
 * against the code that never forms dM / dq. The damping is taken from the difference of two opposite speeds:
 * C v is even in v, D v odd. */
static void CoriolisByDifferences( void **state )
{
	(void)state;
	checkSeed = 41;
	Model *model = Make( &cases[1], checkSeed );
	const double *q = model->q, *v = model->v, rest[n] = { 0 };
	double mass[n * n], up[n * n], down[n * n], slope[n][n * n], h = 1e-5;
	MassByUnitTorques( model, q, mass );
	for ( int k = 0; k < n; ++k )
	{
		double moved[n] = { q[0], q[1], q[2] };
		moved[k] = q[k] + h;
		MassByUnitTorques( model, moved, up );
		moved[k] = q[k] - h;
		MassByUnitTorques( model, moved, down );
		for ( int i = 0; i < n * n; ++i )
			slope[k][i] = ( up[i] - down[i] ) / ( 2.0 * h );
	}
	double forwards[n], backwards[n], still[n], opposite[n] = { -v[0], -v[1], -v[2] };
	Accelerate( model, q, v, rest, forwards );
	Accelerate( model, q, opposite, rest, backwards );
	Accelerate( model, q, rest, rest, still );
	for ( int i = 0; i < n; ++i )
	{
		double coriolis = 0.0, expected = 0.0;
		for ( int j = 0; j < n; ++j )
		{
			/* M (still - even part of q'') = C v */
			expected += mass[i * n + j] * ( still[j] - 0.5 * ( forwards[j] + backwards[j] ) );
			for ( int k = 0; k < n; ++k )
				coriolis += ( slope[k][i * n + j] - 0.5 * slope[i][j * n + k] ) * v[j] * v[k];
		}
		/* Differences of M: 1e-10 truncation, 1e-11 rounding of entries of order 10; 27 terms. */
		CHECK_NEAR( coriolis, expected, 1e-6 );
	}
	/* The odd part takes energy: v . D v > 0. */
	double taken = 0.0;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			taken -= v[i] * mass[i * n + j] * 0.5 * ( forwards[j] - backwards[j] );
	CHECK( taken > 0.0 );
	Free( model );
}

/* Without gravity and with an invariant base, turning the whole limb changes nothing. */
static void BaseAngleDoesNotMatter( void **state )
{
	(void)state;
	checkSeed = 43;
	Model *model = Make( &cases[0], checkSeed );
	double a[n], b[n], turned[n] = { model->q[0] + 1.7, model->q[1], model->q[2] };
	Accelerate( model, model->q, model->v, model->u, a );
	Accelerate( model, turned, model->v, model->u, b );
	for ( int i = 0; i < n; ++i )
		CHECK_NEAR( b[i], a[i], 0.0 );
	Free( model );
}

static void WrongShapesAreRefused( void **state )
{
	(void)state;
	static const bool no[n] = { false };
	lmbEquationsDef def = {
	    .kind = lmb_limbLagrangian, .dofCount = n, .inputCount = 2, .slides = no, .turns = no, .width = 4 };
	lmbEquations equations;
	lmbError error = { 0 };
	CHECK_INT( lmbEquations_Make( &def, &equations, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "2 inputs cannot be the torques of 3 degrees of freedom" );
	lmbEquations_Free( &equations );
	def.inputCount = n;
	def.width = 257;
	CHECK_INT( lmbEquations_Make( &def, &equations, &error ), lmb_statusInvalidArgument );
	lmbEquations_Free( &equations );
	def.width = 4;
	def.dofCount = 17;
	CHECK_INT( lmbEquations_Make( &def, &equations, &error ), lmb_statusInvalidArgument );
	lmbEquations_Free( &equations );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( GradientByDifferences ), CHECK_TEST( MissingTorques ),
	    CHECK_TEST( CoriolisByDifferences ), CHECK_TEST( BaseAngleDoesNotMatter ),
	    CHECK_TEST( WrongShapesAreRefused ),
	};
	return CHECK_RUN( tests );
}
