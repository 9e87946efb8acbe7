/* A limb at one instant, and over steps of recurrent models, against the equations of
 * docs/formats/limb-model.md in long double (limb_fixture.h). */
#include "check.h"

#include "runtime/limb_core.h"
#include "runtime/limb_fixture.h"

static const LimbDef instants[] = {
    { .kind = lmb_limbLagrangian,
      .n = 2,
      .m = 2,
      .style = styleNoBase,
      .hiddenLayers = 2,
      .width = 32,
      .dampingConstant = true,
      .trust = true,
      .seed = 1 },
    { .kind = lmb_limbLagrangian,
      .n = 1,
      .m = 1,
      .style = styleAll,
      .hiddenLayers = 1,
      .width = 7,
      .potential = true,
      .seed = 2 },
    { .kind = lmb_limbLagrangian,
      .n = 2,
      .m = 6,
      .style = styleAll,
      .hiddenLayers = 2,
      .width = 20,
      .potential = true,
      .dampingNet = true,
      .driveNet = true,
      .driveMatrix = true,
      .trust = true,
      .seed = 3 },
    { .kind = lmb_limbLagrangian,
      .n = 3,
      .m = 3,
      .style = styleDifferences,
      .hiddenLayers = 2,
      .width = 18,
      .potential = true,
      .dampingConstant = true,
      .dampingNet = true,
      .seed = 4 },
    { .kind = lmb_limbLagrangian,
      .n = 3,
      .m = 2,
      .style = styleLinear,
      .hiddenLayers = 1,
      .width = 33,
      .potential = true,
      .driveMatrix = true,
      .seed = 5 },
    { .kind = lmb_limbLagrangian,
      .n = 7,
      .m = 7,
      .style = styleAll,
      .hiddenLayers = 3,
      .width = 24,
      .potential = true,
      .dampingConstant = true,
      .seed = 6 },
    { .kind = lmb_limbLagrangian,
      .n = 16,
      .m = 3,
      .style = styleAll,
      .hiddenLayers = 1,
      .width = 16,
      .driveNet = true,
      .seed = 7 },
    { .kind = lmb_limbLagrangian,
      .n = 1,
      .m = 1,
      .style = styleNoBase,
      .hiddenLayers = 1,
      .width = 4,
      .dampingConstant = true,
      .seed = 8 }, /* no feature: a constant mass */
    { .kind = lmb_limbAffine,
      .n = 2,
      .m = 2,
      .style = styleNoBase,
      .hiddenLayers = 2,
      .width = 32,
      .trust = true,
      .seed = 9 },
    { .kind = lmb_limbAffine,
      .n = 4,
      .m = 9,
      .style = styleLinear,
      .hiddenLayers = 1,
      .width = 21,
      .seed = 10 },
    { .kind = lmb_limbPlain,
      .n = 2,
      .m = 2,
      .style = styleAll,
      .hiddenLayers = 2,
      .width = 64,
      .trust = true,
      .seed = 11 },
    { .kind = lmb_limbPlain, .n = 5, .m = 0, .style = styleAll, .hiddenLayers = 1, .width = 9, .seed = 12 },
};

enum
{
	instantCount = sizeof( instants ) / sizeof( instants[0] )
};

typedef struct Moment
{
	double q[16], v[16], u[64], a[16];
	Real trueQ[16], trueV[16], trueU[64], trueA[16];
} Moment;

static void DrawMoment( LimbFixture *f, Moment *out )
{
	for ( int i = 0; i < f->def.n; ++i )
	{
		out->trueQ[i] = out->q[i] = Drawn( f, 2.0 );
		out->trueV[i] = out->v[i] = Drawn( f, 2.0 );
		out->trueA[i] = out->a[i] = Drawn( f, 5.0 );
	}
	for ( int i = 0; i < f->def.m; ++i )
		out->trueU[i] = out->u[i] = Drawn( f, 3.0 );
}

static double Largest( const Real *numbers, int count )
{
	Real largest = 1.0L;
	for ( int i = 0; i < count; ++i )
		largest = fabsl( numbers[i] ) > largest ? fabsl( numbers[i] ) : largest;
	return (double)largest;
}

/* Networks are float with a tanh that is 4e-7 off: sums over two or three layers of up to 64 come out within
 * about 2e-6 of their size; products with speeds squared and the solve with M raise that. */
static const double floatTolerance = 1e-5;

static void AccelerationsAreTheFormats( void **state )
{
	(void)state;
	for ( int d = 0; d < instantCount; ++d )
	{
		double worst = 0.0;
		LimbFixture *f = LimbFixture_Make( &instants[d] );
		CHECK_OR_STOP( f != NULL );
		lmbLimb *model = LimbFixture_Load( f );
		CHECK_OR_STOP( model != NULL );
		lmbLimbDef def = lmbDefaultLimbDef( model );
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		for ( int round = 0; round < 50; ++round )
		{
			Moment at;
			double a[16];
			Real expected[16];
			DrawMoment( f, &at );
			CHECK_INT( lmbLimbBody_Acceleration( body, at.q, at.v, at.u, a ), lmb_statusOk );
			TrueAcceleration( f, at.trueQ, at.trueV, at.trueU, expected );
			for ( int i = 0; i < f->def.n; ++i )
			{
				double error = fabs( a[i] - (double)expected[i] ) / Largest( expected, f->def.n );
				worst = error > worst ? error : worst;
				CHECK( error < floatTolerance );
			}
		}
		printf( "model %d: accelerations within %.1e\n", d, worst );
		LimbFixture_Free( f );
	}
}

static void InverseIsTheFormats( void **state )
{
	(void)state;
	for ( int d = 0; d < instantCount && instants[d].kind == lmb_limbLagrangian; ++d )
	{
		LimbFixture *f = LimbFixture_Make( &instants[d] );
		lmbLimb *model = LimbFixture_Load( f );
		lmbLimbDef def = lmbDefaultLimbDef( model );
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		int n = f->def.n;
		for ( int round = 0; round < 20; ++round )
		{
			Moment at;
			TrueTerms terms;
			lmbLimbTorques parts;
			DrawMoment( f, &at );
			CHECK_INT( lmbLimbBody_Inverse( body, at.q, at.v, at.a, &parts ), lmb_statusOk );
			TrueLagrangian( f, at.trueQ, at.trueV, at.trueU, &terms );
			double size = Largest( terms.bias, n ) + 30.0 * Largest( terms.mass, n * n );
			for ( int i = 0; i < n; ++i )
			{
				Real inertial = terms.mass[i * n + i] * at.trueA[i], interaction = terms.bias[i];
				for ( int j = 0; j < n; ++j )
					interaction += j == i ? 0.0L : terms.mass[i * n + j] * at.trueA[j];
				CHECK_NEAR( parts.inertial[i], (double)inertial, floatTolerance * size );
				CHECK_NEAR( parts.interaction[i], (double)interaction, floatTolerance * size );
				CHECK_NEAR( parts.gravity[i], (double)terms.gravity[i], floatTolerance * size );
				CHECK_NEAR( parts.viscous[i], (double)terms.viscous[i], floatTolerance * size );
				/* The sum is the runtime's own: rounding of doubles. */
				CHECK_NEAR( parts.input[i],
				            parts.inertial[i] + parts.interaction[i] + parts.gravity[i] + parts.viscous[i],
				            1e-12 * size );
			}
		}
		LimbFixture_Free( f );
	}
}

/* The torques of a motion give that motion back, to the rounding of doubles. */
static void InverseUndoesForward( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &instants[3] );
	lmbLimb *model = LimbFixture_Load( f );
	lmbLimbDef def = lmbDefaultLimbDef( model );
	lmbLimbBody *body = LimbFixture_Body( f, model, &def );
	for ( int round = 0; round < 100; ++round )
	{
		Moment at;
		lmbLimbTorques parts;
		double a[16];
		DrawMoment( f, &at );
		CHECK_INT( lmbLimbBody_Inverse( body, at.q, at.v, at.a, &parts ), lmb_statusOk );
		CHECK_INT( lmbLimbBody_Acceleration( body, at.q, at.v, parts.input, a ), lmb_statusOk );
		for ( int i = 0; i < f->def.n; ++i )
			CHECK_NEAR( a[i], at.a[i], 1e-9 ); /* M is conditioned below 1e4 here */
	}
	LimbFixture_Free( f );
}

/* ---- Recurrent models ---- */

typedef struct TrueState
{
	Real h[8][256], c[8][256], base[16], q[16], v[16];
} TrueState;

static Real Sigmoid( Real x )
{
	return 1.0L / ( 1.0L + expl( -x ) );
}

static void TrueStart( const LimbFixture *f, const Real *q, const Real *v, TrueState *out )
{
	Real list[256], raw[8192], none[64] = { 0 };
	TrueList( f, q, v, none, list );
	TrueNet( &f->start, list, raw );
	for ( int l = 0; l < f->cells; ++l )
		for ( int i = 0; i < f->hidden; ++i )
		{
			out->h[l][i] = raw[l * f->hidden + i];
			out->c[l][i] = f->def.kind == lmb_limbLstm ? raw[( f->cells + l ) * f->hidden + i] : 0.0L;
		}
	memcpy( out->base, q, (size_t)f->def.n * sizeof( Real ) );
}

static void TrueCell( const LimbFixture *f, int l, const Real *x, int inputs, TrueState *s )
{
	int h = f->hidden, gates = f->def.kind == lmb_limbLstm ? 4 : 3;
	Real in[1024], back[1024];
	for ( int g = 0; g < gates * h; ++g )
	{
		in[g] = f->cellBias[l][g];
		back[g] = f->cellBias[l][gates * h + g];
		for ( int i = 0; i < inputs; ++i )
			in[g] += f->cellInput[l][g * inputs + i] * x[i];
		for ( int i = 0; i < h; ++i )
			back[g] += f->cellHidden[l][g * h + i] * s->h[l][i];
	}
	for ( int i = 0; i < h; ++i )
		if ( gates == 3 )
		{
			Real r = Sigmoid( in[i] + back[i] ), z = Sigmoid( in[h + i] + back[h + i] );
			Real n = tanhl( in[2 * h + i] + r * back[2 * h + i] );
			s->h[l][i] = ( 1.0L - z ) * n + z * s->h[l][i];
		}
		else
		{
			Real forget = Sigmoid( in[h + i] + back[h + i] ), enter = Sigmoid( in[i] + back[i] );
			s->c[l][i] = forget * s->c[l][i] + enter * tanhl( in[2 * h + i] + back[2 * h + i] );
			s->h[l][i] = Sigmoid( in[3 * h + i] + back[3 * h + i] ) * tanhl( s->c[l][i] );
		}
}

static void TrueRecurrentStep( const LimbFixture *f, const Real *mean, Real dt, TrueState *s )
{
	Real x[65], raw[8192];
	for ( int i = 0; i <= f->def.m; ++i )
		x[i] = ( ( i < f->def.m ? mean[i] : dt ) - f->stepShift[i] ) * f->stepScale[i];
	for ( int l = 0; l < f->cells; ++l )
		TrueCell( f, l, l == 0 ? x : s->h[l - 1], l == 0 ? f->def.m + 1 : f->hidden, s );
	TrueNet( &f->read, s->h[f->cells - 1], raw );
	for ( int i = 0; i < f->def.n; ++i )
	{
		s->v[i] = raw[i];
		s->q[i] = raw[f->def.n + i] + f->base[i] * s->base[i];
	}
}

static const LimbDef recurrents[] = {
    { .kind = lmb_limbGru, .n = 2, .m = 2, .style = styleAll, .hiddenLayers = 1, .width = 30, .seed = 20 },
    { .kind = lmb_limbGru,
      .n = 2,
      .m = 2,
      .style = styleNoBase,
      .hiddenLayers = 2,
      .width = 16,
      .trust = true,
      .seed = 21 },
    { .kind = lmb_limbLstm, .n = 3, .m = 1, .style = styleAll, .hiddenLayers = 2, .width = 13, .seed = 22 },
    { .kind = lmb_limbLstm,
      .n = 1,
      .m = 4,
      .style = styleAll,
      .hiddenLayers = 1,
      .width = 8,
      .linear = true,
      .seed = 23 },
};

static void RecurrentStepsAreTheFormats( void **state )
{
	(void)state;
	for ( size_t d = 0; d < sizeof( recurrents ) / sizeof( recurrents[0] ); ++d )
	{
		LimbFixture *f = LimbFixture_Make( &recurrents[d] );
		lmbLimb *model = LimbFixture_Load( f );
		CHECK_OR_STOP( model != NULL );
		lmbLimbDef def = lmbDefaultLimbDef( model );
		CHECK_NEAR( def.maxStep, 0.01, 0.0 );
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		Moment at;
		static TrueState truth;
		DrawMoment( f, &at );
		CHECK_INT( lmbLimbBody_Start( body, at.q, at.v ), lmb_statusOk );
		TrueStart( f, at.trueQ, at.trueV, &truth );
		for ( int step = 0; step < 100; ++step )
		{
			/* Every other step is longer than the model's and is split into two. */
			int parts = step % 2 + 1;
			double end[64], q[16], v[16];
			Real mean[64];
			DrawMoment( f, &at );
			for ( int i = 0; i < f->def.m; ++i )
				end[i] = at.u[i] + Drawn( f, 1.0 );
			CHECK_INT( lmbLimbBody_Step( body, at.u, end, 0.008 * parts ), lmb_statusOk );
			for ( int p = 0; p < parts; ++p )
			{
				for ( int i = 0; i < f->def.m; ++i )
					mean[i] = at.u[i] + ( p + 0.5L ) / parts * ( end[i] - at.u[i] );
				TrueRecurrentStep( f, mean, 0.008L, &truth );
			}
			lmbLimbBody_State( body, q, v );
			for ( int i = 0; i < f->def.n; ++i )
			{
				/* Float rounding, fed back through at most 150 steps of a map that contracts. */
				CHECK_NEAR( q[i], (double)truth.q[i], 2e-5 );
				CHECK_NEAR( v[i], (double)truth.v[i], 2e-5 );
			}
		}
		double a[16];
		CHECK_INT( lmbLimbBody_Acceleration( body, at.q, at.v, at.u, a ), lmb_statusUnsupported );
		LimbFixture_Free( f );
	}
}

/* ---- Trust ---- */

static Real TrueTrust( const LimbFixture *f, const Moment *at )
{
	Real list[256], z[64], least = INFINITY;
	int d = f->trustCount;
	TrueList( f, at->trueQ, at->trueV, at->trueU, list );
	for ( int i = 0; i < d; ++i )
	{
		z[i] = 0.0L;
		for ( int j = 0; j < d; ++j )
			z[i] += f->whiten[i * d + j] * ( list[f->trustInputs[j]] - f->mean[j] );
	}
	for ( int c = 0; c < f->centreCount; ++c )
	{
		Real sum = 0.0L;
		for ( int i = 0; i < d; ++i )
			sum += ( z[i] - f->centres[c * d + i] ) * ( z[i] - f->centres[c * d + i] );
		least = sum < least ? sum : least;
	}
	const double *velocities = f->growth, *inputs = velocities + f->def.n, *changes = inputs + f->def.m,
	             *share = changes + f->def.n;
	Real speed = 0.0L, drive = 0.0L, change = 0.0L, a[16];
	TrueAcceleration( f, at->trueQ, at->trueV, at->trueU, a );
	for ( int i = 0; i < f->def.n; ++i )
	{
		speed += velocities[i] * at->trueV[i] * velocities[i] * at->trueV[i];
		change += changes[i] * a[i] * changes[i] * a[i];
	}
	for ( int j = 0; j < f->def.m; ++j )
		drive += inputs[j] * at->trueU[j] * inputs[j] * at->trueU[j];
	least *= sqrtl( share[0] + share[1] * speed + share[2] * speed * speed + share[3] * drive +
	                share[4] * change );
	return sqrtl( least ) / f->trustScale;
}

static void TrustIsTheFormats( void **state )
{
	(void)state;
	for ( int d = 0; d < instantCount; ++d )
	{
		LimbFixture *f = LimbFixture_Make( &instants[d] );
		lmbLimb *model = LimbFixture_Load( f );
		lmbLimbDef def = lmbDefaultLimbDef( model );
		CHECK_INT( def.trust, instants[d].trust );
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		for ( int round = 0; round < 20; ++round )
		{
			Moment at;
			DrawMoment( f, &at );
			lmbLimbBody_Start( body, at.q, at.v );
			lmbLimbBody_Step( body, at.u, NULL, 1e-9 );
			if ( !instants[d].trust )
				CHECK_NEAR( lmbLimbBody_Trust( body ), -1.0, 0.0 );
			else
				/* whitened entries and centres are float */
				CHECK_NEAR( lmbLimbBody_Trust( body ), (double)TrueTrust( f, &at ),
				            1e-5 * ( 1.0 + (double)TrueTrust( f, &at ) ) );
		}
		LimbFixture_Free( f );
	}
}

/* ---- Contracts ---- */

static void NamesAndNumbers( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &instants[2] );
	lmbLimb *model = LimbFixture_Load( f );
	lmbLimbInfo info = lmbLimb_Info( model );
	CHECK_INT( info.kind, lmb_limbLagrangian );
	CHECK_INT( info.dofCount, 2 );
	CHECK_INT( info.inputCount, 6 );
	CHECK( info.hasTrust && !info.linearInput );
	CHECK_NEAR( info.step, 0.01, 1e-17 );
	CHECK_INT( info.parameterCount, NetNumbers( &f->mass ) + NetNumbers( &f->potential ) +
	                                    NetNumbers( &f->damping ) + NetNumbers( &f->drive ) );
	CHECK( strcmp( lmbLimb_DofName( model, 1 ), "qb" ) == 0 );
	CHECK( strcmp( lmbLimb_InputName( model, 5 ), "ua5" ) == 0 );
	CHECK( lmbLimb_DofName( model, 2 ) == NULL && lmbLimb_InputName( model, -1 ) == NULL );
	/* The core spells the public enumerators again, so that an export needs no public header. */
	CHECK_INT( lmbCoreLagrangian, lmb_limbLagrangian );
	CHECK_INT( lmbCoreAffine, lmb_limbAffine );
	CHECK_INT( lmbCorePlain, lmb_limbPlain );
	CHECK_INT( lmbCoreGru, lmb_limbGru );
	CHECK_INT( lmbCoreLstm, lmb_limbLstm );
	CHECK_INT( lmbCoreSemiImplicitEuler, lmb_integratorSemiImplicitEuler );
	CHECK_INT( lmbCoreRk4, lmb_integratorRk4 );
	CHECK_INT( lmbCoreImplicitMidpoint, lmb_integratorImplicitMidpoint );
	CHECK_INT( lmbCoreDormandPrince, lmb_integratorDormandPrince );
	CHECK_INT( lmbCoreMaxDofs, lmb_limbMaxDofs );
	CHECK_INT( lmbCoreMaxInputs, lmb_limbMaxInputs );
	LimbFixture_Free( f );
}

static void RefusesBadArguments( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &instants[0] );
	lmbLimb *model = LimbFixture_Load( f );
	lmbLimbDef def = lmbDefaultLimbDef( model ), bad = def;
	bad.integrator = (lmbIntegrator)4;
	CHECK_INT( lmbLimbBody_Size( model, &bad ), 0 );
	bad = def;
	bad.maxStep = 0.0;
	CHECK_INT( lmbLimbBody_Size( model, &bad ), 0 );
	bad = def;
	bad.tolerance = 1e-9;
	CHECK_INT( lmbLimbBody_Size( model, &bad ), 0 );
	lmbLimbBody *body = LimbFixture_Body( f, model, &def );
	double q[2] = { 0.1, 0.2 }, v[2] = { 0.3, 0.4 }, u[2] = { 0.0, NAN }, a[2], got[2], speed[2];
	CHECK_INT( lmbLimbBody_Start( body, q, v ), lmb_statusOk );
	CHECK_INT( lmbLimbBody_Start( body, q, u ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, u, NULL, 0.01 ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, v, u, 0.01 ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, v, NULL, -0.01 ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, v, NULL, INFINITY ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, v, NULL, NAN ), lmb_statusInvalidArgument );
	CHECK_INT( lmbLimbBody_Step( body, v, NULL, 0.0 ), lmb_statusOk );
	CHECK_INT( lmbLimbBody_Acceleration( body, q, u, v, a ), lmb_statusInvalidArgument );
	lmbLimbBody_State( body, got, speed );
	CHECK( memcmp( got, q, sizeof( q ) ) == 0 && memcmp( speed, v, sizeof( v ) ) == 0 );
	LimbFixture_Free( f );
	f = LimbFixture_Make( &instants[8] );
	model = LimbFixture_Load( f );
	def = lmbDefaultLimbDef( model );
	lmbLimbTorques torques;
	CHECK_INT( lmbLimbBody_Inverse( LimbFixture_Body( f, model, &def ), q, v, q, &torques ),
	           lmb_statusUnsupported );
	LimbFixture_Free( f );
}

static void SaveAndRestoreGoOnBitForBit( void **state )
{
	(void)state;
	const LimbDef *defs[] = { &instants[0], &recurrents[1], &recurrents[2] };
	for ( int d = 0; d < 3; ++d )
		for ( int integrator = 0; integrator < 4; ++integrator )
		{
			LimbFixture *f = LimbFixture_Make( defs[d] );
			lmbLimb *model = LimbFixture_Load( f );
			lmbLimbDef def = lmbDefaultLimbDef( model );
			def.integrator = (lmbIntegrator)integrator;
			lmbLimbBody *one = LimbFixture_Body( f, model, &def ), *two = LimbFixture_Body( f, model, &def );
			Moment at;
			char saved[8192];
			double q[2][16], v[2][16];
			DrawMoment( f, &at );
			lmbLimbBody_Start( one, at.q, at.v );
			for ( int i = 0; i < 10; ++i )
				lmbLimbBody_Step( one, at.u, NULL, 0.013 );
			size_t size = lmbLimbBody_StateSize( one );
			CHECK_OR_STOP( size <= sizeof( saved ) );
			CHECK_INT( lmbLimbBody_Save( one, saved, size - 1 ), lmb_statusInvalidArgument );
			CHECK_INT( lmbLimbBody_Save( one, saved, size ), lmb_statusOk );
			CHECK_INT( lmbLimbBody_Restore( two, saved, size ), lmb_statusOk );
			for ( int i = 0; i < 10; ++i )
			{
				lmbLimbBody_Step( one, at.u, NULL, 0.013 );
				lmbLimbBody_Step( two, at.u, NULL, 0.013 );
			}
			lmbLimbBody_State( one, q[0], v[0] );
			lmbLimbBody_State( two, q[1], v[1] );
			size_t bytes = (size_t)f->def.n * sizeof( double );
			CHECK( memcmp( q[0], q[1], bytes ) == 0 && memcmp( v[0], v[1], bytes ) == 0 );
			CHECK_NEAR( lmbLimbBody_Trust( one ), lmbLimbBody_Trust( two ), 0.0 );
			double nan = NAN;
			memcpy( saved + size - 8, &nan, 8 );
			CHECK_INT( lmbLimbBody_Restore( two, saved, size ), lmb_statusCorrupt );
			saved[8] ^= 1; /* another model's key */
			CHECK_INT( lmbLimbBody_Restore( two, saved, size ), lmb_statusInvalidArgument );
			LimbFixture_Free( f );
		}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AccelerationsAreTheFormats ), CHECK_TEST( InverseIsTheFormats ),
	    CHECK_TEST( InverseUndoesForward ),       CHECK_TEST( RecurrentStepsAreTheFormats ),
	    CHECK_TEST( TrustIsTheFormats ),          CHECK_TEST( NamesAndNumbers ),
	    CHECK_TEST( RefusesBadArguments ),        CHECK_TEST( SaveAndRestoreGoOnBitForBit ),
	};
	return CHECK_RUN( tests );
}
