#include "limb/export_c.h"

#include "base/files.h"
#include "limb/load.h"
#include "runtime/limb_model.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum
{
	nameSize = 64
};

typedef struct Export
{
	const lmbLimb *model;
	const lmbCoreModel *core;
	lmbLimbDef defaults;
	char name[nameSize];
	unsigned integrators;
	FILE *out; /* of one of the two writers; a failure shows when it is committed */
} Export;

static void Print( Export *export, const char *format, ... ) __attribute__( ( format( printf, 2, 3 ) ) );

static void Print( Export *export, const char *format, ... )
{
	va_list arguments;
	va_start( arguments, format );
	vfprintf( export->out, format, arguments );
	va_end( arguments );
}

/* ---- The model's numbers ---- */

static void PrintInts( Export *export, const char *name, const int32_t *numbers, int count )
{
	if ( numbers == NULL || count == 0 )
		return;
	Print( export, "static const int32_t %s[%d] = {", name, count );
	for ( int i = 0; i < count; ++i )
		Print( export, "%s%" PRId32 ",", i % 20 == 0 ? "\n\t" : " ", numbers[i] );
	Print( export, "\n};\n" );
}

/* Hexadecimal, so that each is exact. */
static void PrintDoubles( Export *export, const char *name, const double *numbers, int count )
{
	if ( numbers == NULL || count == 0 )
		return;
	Print( export, "static const double %s[%d] = {", name, count );
	for ( int i = 0; i < count; ++i )
		Print( export, "%s%a,", i % 4 == 0 ? "\n\t" : " ", numbers[i] );
	Print( export, "\n};\n" );
}

static void PrintFloats( Export *export, const char *name, const float *numbers, int count )
{
	if ( numbers == NULL || count == 0 )
		return;
	Print( export, "static const float %s[%d] = {", name, count );
	for ( int i = 0; i < count; ++i )
		Print( export, "%s%af,", i % 8 == 0 ? "\n\t" : " ", (double)numbers[i] );
	Print( export, "\n};\n" );
}

static void PrintNetNumbers( Export *export, const char *name, const lmbCoreNet *net )
{
	char text[64];
	if ( net->layerCount == 0 )
		return;
	snprintf( text, sizeof( text ), "%sInputs", name );
	PrintInts( export, text, net->inputs, net->sizes[0] );
	for ( int l = 0; l < net->layerCount; ++l )
	{
		int in = net->sizes[l], out = net->sizes[l + 1];
		bool last = l == net->layerCount - 1;
		snprintf( text, sizeof( text ), "%sWeights%d", name, l );
		PrintFloats( export, text, net->weights[l],
		             last ? out * lmbCore_Pad( in ) : in * lmbCore_Pad( out ) );
		snprintf( text, sizeof( text ), "%sBias%d", name, l );
		PrintFloats( export, text, net->biases[l], lmbCore_Pad( out ) );
	}
}

static int GateCount( const lmbCoreModel *core )
{
	return ( core->kind == lmbCoreLstm ? 4 : 3 ) * lmbCore_Pad( core->hiddenCount );
}

static void PrintCellNumbers( Export *export )
{
	const lmbCoreModel *core = export->core;
	int gates = GateCount( core );
	char text[64];
	for ( int l = 0; l < core->cellCount; ++l )
	{
		snprintf( text, sizeof( text ), "cell%dInput", l );
		PrintFloats( export, text, core->cells[l].input,
		             ( l == 0 ? core->inputCount + 1 : core->hiddenCount ) * gates );
		snprintf( text, sizeof( text ), "cell%dHidden", l );
		PrintFloats( export, text, core->cells[l].hidden, core->hiddenCount * gates );
		snprintf( text, sizeof( text ), "cell%dInputBias", l );
		PrintFloats( export, text, core->cells[l].inputBias, gates );
		snprintf( text, sizeof( text ), "cell%dHiddenBias", l );
		PrintFloats( export, text, core->cells[l].hiddenBias, gates );
	}
}

static void PrintNumbers( Export *export )
{
	const lmbCoreModel *core = export->core;
	int n = core->dofCount, m = core->inputCount, features = core->featureCount, d = core->trustDimensions;
	PrintInts( export, "phases", core->phases, core->phaseCount * n );
	PrintInts( export, "phaseTurns", core->phaseTurns, core->phaseCount );
	PrintInts( export, "directions", core->directions, core->directionCount * n );
	PrintInts( export, "featurePhases", core->featurePhases, features );
	PrintInts( export, "featureKinds", core->featureKinds, features );
	PrintDoubles( export, "featureShifts", core->featureShifts, features );
	PrintDoubles( export, "featureScales", core->featureScales, features );
	PrintInts( export, "featureDirections", core->featureDirections, features * core->directionCount );
	PrintNetNumbers( export, "mass", &core->mass );
	PrintNetNumbers( export, "potential", &core->potential );
	PrintNetNumbers( export, "damping", &core->damping );
	PrintNetNumbers( export, "drive", &core->drive );
	PrintNetNumbers( export, "acceleration", &core->acceleration );
	PrintNetNumbers( export, "start", &core->start );
	PrintNetNumbers( export, "read", &core->read );
	PrintDoubles( export, "dampingConstant", core->dampingConstant, n * ( n + 1 ) / 2 );
	PrintDoubles( export, "driveMatrix", core->driveMatrix, n * m );
	PrintCellNumbers( export );
	PrintDoubles( export, "stepShift", core->stepShift, m + 1 );
	PrintDoubles( export, "stepScale", core->stepScale, m + 1 );
	PrintDoubles( export, "readBase", core->readBase, n );
	PrintInts( export, "trustInputs", core->trustInputs, d );
	PrintDoubles( export, "trustWhiten", core->trustWhiten, d * d );
	PrintDoubles( export, "trustMean", core->trustMean, d );
	PrintFloats( export, "trustPlanes", core->trustPlanes, d * core->trustCentres );
	PrintDoubles( export, "trustGrowth", core->trustGrowth, 2 * n + m + 5 );
}

/* ---- The structure that holds them together ---- */

static void PrintNet( Export *export, const char *field, const lmbCoreNet *net )
{
	if ( net->layerCount == 0 )
		return;
	Print( export, "\t.%s = { .layerCount = %d,\n\t\t.sizes = {", field, net->layerCount );
	for ( int l = 0; l <= net->layerCount; ++l )
		Print( export, " %d,", net->sizes[l] );
	Print( export, " },\n\t\t.inputs = %s%s,\n\t\t.weights = {", net->sizes[0] > 0 ? field : "0",
	       net->sizes[0] > 0 ? "Inputs" : "" );
	for ( int l = 0; l < net->layerCount; ++l )
		if ( net->sizes[l] > 0 )
			Print( export, " %sWeights%d,", field, l );
		else
			Print( export, " 0," );
	Print( export, " },\n\t\t.biases = {" );
	for ( int l = 0; l < net->layerCount; ++l )
		Print( export, " %sBias%d,", field, l );
	Print( export, " } },\n" );
}

/* A field that is an array's name, left out (NULL) where there is none. */
static void PrintField( Export *export, const char *field, const void *array, int count )
{
	if ( array != NULL && count > 0 )
		Print( export, "\t.%s = %s,\n", field, field );
}

static void PrintModel( Export *export )
{
	const lmbCoreModel *core = export->core;
	int features = core->featureCount, d = core->trustDimensions;
	Print( export, "\nstatic const lmbCoreModel model = {\n\t.kind = %d, .dofCount = %d, .inputCount = %d,\n",
	       core->kind, core->dofCount, core->inputCount );
	Print( export, "\t.featureCount = %d, .phaseCount = %d, .directionCount = %d, .stride = %d,\n", features,
	       core->phaseCount, core->directionCount, core->stride );
	PrintField( export, "phases", core->phases, core->phaseCount );
	PrintField( export, "phaseTurns", core->phaseTurns, core->phaseCount );
	PrintField( export, "directions", core->directions, core->directionCount );
	PrintField( export, "featurePhases", core->featurePhases, features );
	PrintField( export, "featureKinds", core->featureKinds, features );
	PrintField( export, "featureShifts", core->featureShifts, features );
	PrintField( export, "featureScales", core->featureScales, features );
	PrintField( export, "featureDirections", core->featureDirections, features * core->directionCount );
	PrintNet( export, "mass", &core->mass );
	PrintNet( export, "potential", &core->potential );
	PrintNet( export, "damping", &core->damping );
	PrintNet( export, "drive", &core->drive );
	PrintNet( export, "acceleration", &core->acceleration );
	Print( export, "\t.massFloor = %a, .driveIdentity = %s,\n", core->massFloor,
	       core->driveIdentity ? "true" : "false" );
	PrintField( export, "dampingConstant", core->dampingConstant, 1 );
	PrintField( export, "driveMatrix", core->driveMatrix, core->inputCount );
	Print( export, "\t.cellCount = %d, .hiddenCount = %d,\n", core->cellCount, core->hiddenCount );
	if ( core->cellCount > 0 )
		Print( export, "\t.cells = {" );
	for ( int l = 0; l < core->cellCount; ++l )
		Print( export, " { cell%dInput, cell%dHidden, cell%dInputBias, cell%dHiddenBias },", l, l, l, l );
	if ( core->cellCount > 0 )
		Print( export, " },\n" );
	PrintField( export, "stepShift", core->stepShift, 1 );
	PrintField( export, "stepScale", core->stepScale, 1 );
	PrintField( export, "readBase", core->readBase, 1 );
	PrintNet( export, "start", &core->start );
	PrintNet( export, "read", &core->read );
	Print( export, "\t.trustDimensions = %d, .trustCentres = %d, .trustScale = %a,\n", d, core->trustCentres,
	       core->trustScale );
	PrintField( export, "trustInputs", core->trustInputs, d );
	PrintField( export, "trustWhiten", core->trustWhiten, d );
	PrintField( export, "trustMean", core->trustMean, d );
	PrintField( export, "trustPlanes", core->trustPlanes, d );
	PrintField( export, "trustGrowth", core->trustGrowth, 2 * core->dofCount + core->inputCount + 5 );
	Print( export, "};\n" );
}

/* ---- The runtime's text ---- */

/* Functions that several of the sources share get the export's name before theirs, so that two exports and
 * the library itself can be linked into one program. */
static const char *const shared[] = {
    "lmbCore_Lagrangian",
    "lmbTwofold_Sum",
    "lmbTwofold_Product",
    "lmbTwofold_Scale",
    "lmbTwofold_Sqrt",
    "lmbExp",
    "lmbSinCos",
    "lmbSin",
    "lmbCos",
    "lmbKernel_Layer",
    "lmbKernel_Hidden",
    "lmbKernel_Rows",
    "lmbKernel_Tanh",
    "lmbKernel_Nearest",
    "lmbSoftplus",
    "lmbPhase_SinCos",
    "lmbCore_See",
    "lmbCoreNet_Run",
    "lmbCoreNet_RunLayers",
    "lmbCore_Acceleration",
    "lmbCore_Inverse",
    "lmbCore_Trust",
    "lmbCore_StartRecurrent",
    "lmbCore_StepRecurrent",
    "lmbCore_Step",
};

static bool StartsWith( const char *text, const char *start )
{
	return strncmp( text, start, strlen( start ) ) == 0;
}

/* Without the lines that include another of the sources. */
static void PrintText( Export *export, const char *text )
{
	while ( *text != 0 )
	{
		size_t length = strcspn( text, "\n" );
		if ( !StartsWith( text, "#include \"" ) )
			Print( export, "%.*s\n", (int)length, text );
		text += length + ( text[length] == '\n' ? 1 : 0 );
	}
}

static int AtLeastOne( int count )
{
	return count > 0 ? count : 1;
}

static void PrintSwitches( Export *export )
{
	const lmbCoreModel *core = export->core;
	bool recurrent = core->kind >= lmbCoreGru;
	Print( export,
	       "/* Sums must be rounded as they are written, or the numbers differ from the runtime's. */\n"
	       "#if defined( __GNUC__ ) && !defined( __clang__ )\n"
	       "#pragma GCC optimize( \"fp-contract=off\" )\n#else\n#pragma STDC FP_CONTRACT OFF\n#endif\n"
	       "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wunused-function\"\n#endif\n\n"
	       "#if !defined( __SSE__ ) && !defined( __ARM_NEON )\n"
	       "#define LMB_PLAIN_KERNELS /* no vectors of four floats */\n#endif\n" );
	Print( export,
	       "#define LMB_CORE_EXPORT\n#define LMB_CORE_DOFS %d\n#define LMB_CORE_INPUTS %d\n"
	       "#define LMB_CORE_FEATURES %d\n#define LMB_CORE_TRUST %d\n#define LMB_CORE_DIRECTIONS %d\n",
	       core->dofCount, AtLeastOne( core->inputCount ), AtLeastOne( core->featureCount ),
	       AtLeastOne( core->trustDimensions ), AtLeastOne( core->directionCount ) );
	Print( export,
	       "#define LMB_CORE_INTEGRATORS %u\n#define LMB_CORE_RECURRENT %d\n#define LMB_CORE_LAGRANGIAN "
	       "%d\n#define LMB_CORE_FEATURE_COUNT %d\n",
	       recurrent ? 0u : export->integrators, recurrent, core->kind == lmbCoreLagrangian,
	       core->featureCount );
	for ( size_t i = 0; i < sizeof( shared ) / sizeof( shared[0] ); ++i )
		Print( export, "#define %s %s_%s\n", shared[i], export->name, shared[i] );
}

/* Which of the texts a model needs. */
static bool Needs( const lmbCoreModel *core, const char *name )
{
	bool recurrent = core->kind >= lmbCoreGru;
	if ( strcmp( name, "limb_terms.c" ) == 0 )
		return !recurrent;
	if ( strcmp( name, "limb_lagrangian.c" ) == 0 )
		return core->kind == lmbCoreLagrangian;
	if ( strcmp( name, "limb_recurrent.c" ) == 0 )
		return recurrent;
	return true;
}

static const char body[] =
    "\nstatic lmbCoreWork Work( NAME_Body *body )\n{\n"
    "\tlmbCoreWork work;\n\tmemset( &work, 0, sizeof( work ) );\n\twork.model = &model;\n"
    "\twork.layers[0] = body->layers[0];\n\twork.layers[1] = body->layers[1];\n\treturn work;\n}\n\n"
    "static bool AreSound( const double *numbers, int count )\n{\n"
    "\tfor ( int i = 0; i < count; ++i )\n\t\tif ( !( fabs( numbers[i] ) <= 1e9 ) )\n\t\t\treturn false;\n"
    "\treturn true;\n}\n\n"
    "static void Take( lmbCoreState *state, NAME_Body *body )\n{\n"
    "\tmemcpy( state->positions, body->positions, sizeof( state->positions ) );\n"
    "\tmemcpy( state->velocities, body->velocities, sizeof( state->velocities ) );\n"
    "\tmemcpy( state->base, body->base, sizeof( state->base ) );\n"
    "\tstate->trial = body->trial;\n\tstate->trust = body->trust;\n\tstate->hidden = body->hidden;\n}\n\n"
    "static void Give( const lmbCoreState *state, NAME_Body *body )\n{\n"
    "\tmemcpy( body->positions, state->positions, sizeof( state->positions ) );\n"
    "\tmemcpy( body->velocities, state->velocities, sizeof( state->velocities ) );\n"
    "\tmemcpy( body->base, state->base, sizeof( state->base ) );\n"
    "\tbody->trial = state->trial;\n\tbody->trust = state->trust;\n}\n\n"
    "int NAME_Start( NAME_Body *body, const double *positions, const double *velocities )\n{\n"
    "\tif ( !AreSound( positions, NAME_dofCount ) || !AreSound( velocities, NAME_dofCount ) )\n"
    "\t\treturn NAME_badArgument;\n"
    "\tmemset( body, 0, sizeof( *body ) );\n"
    "\tmemcpy( body->positions, positions, sizeof( body->positions ) );\n"
    "\tmemcpy( body->velocities, velocities, sizeof( body->velocities ) );\n"
    "\tbody->integrator = INTEGRATOR;\n\tbody->maxStep = MAXSTEP;\n\tbody->tolerance = 1e-5;\n"
    "#if LMB_CORE_RECURRENT\n\tlmbCoreWork work = Work( body );\n\tlmbCoreState state;\n"
    "\tTake( &state, body );\n\tlmbCore_StartRecurrent( &work, &state );\n\tGive( &state, body );\n#endif\n"
    "\treturn NAME_ok;\n}\n\n"
    "int NAME_Step( NAME_Body *body, const double *inputs, const double *inputsEnd, double dt )\n{\n"
    "\tconst double *end = inputsEnd != 0 ? inputsEnd : inputs;\n"
    "\tlmbCoreDef def = { body->integrator, body->maxStep, body->tolerance, TRUST };\n"
    "\tif ( !( dt >= 0.0 && dt <= 1e6 * def.maxStep ) || !AreSound( inputs, NAME_inputCount ) ||\n"
    "\t     !AreSound( end, NAME_inputCount ) )\n\t\treturn NAME_badArgument;\n"
    "\tif ( dt < 1e-300 )\n\t\treturn NAME_ok;\n"
    "\tlmbCoreWork work = Work( body );\n\tlmbCoreState state;\n\tTake( &state, body );\n"
    "\tlmbCoreResult result = lmbCore_Step( &work, &state, &def, inputs, end, dt );\n\tGive( &state, body "
    ");\n"
    "\treturn result == lmbCoreOk ? NAME_ok : result == lmbCoreDiverged ? NAME_diverged : "
    "NAME_notConverged;\n}\n\n"
    "double NAME_Trust( const NAME_Body *body )\n{\n\treturn TRUST ? body->trust : -1.0;\n}\n";

static const char instant[] =
    "\nvoid NAME_Acceleration( NAME_Body *body, const double *positions, const double *velocities,\n"
    "\tconst double *inputs, double *accelerations )\n{\n\tlmbCoreWork work = Work( body );\n"
    "\tlmbCore_Acceleration( &work, positions, velocities, inputs, accelerations );\n}\n";

static const char inverse[] =
    "\nvoid NAME_Inverse( NAME_Body *body, const double *positions, const double *velocities,\n"
    "\tconst double *accelerations, NAME_Torques *torques )\n{\n\tlmbCoreTorques found;\n"
    "\tlmbCoreWork work = Work( body );\n"
    "\tlmbCore_Inverse( &work, positions, velocities, accelerations, &found );\n"
    "\tmemcpy( torques->input, found.input, sizeof( found.input ) );\n"
    "\tmemcpy( torques->inertial, found.inertial, sizeof( found.inertial ) );\n"
    "\tmemcpy( torques->interaction, found.interaction, sizeof( found.interaction ) );\n"
    "\tmemcpy( torques->gravity, found.gravity, sizeof( found.gravity ) );\n"
    "\tmemcpy( torques->viscous, found.viscous, sizeof( found.viscous ) );\n}\n";

static const char headerStart[] =
    "/* Written by `limber export --c`: a model of a limb with NAME_dofCount degrees of freedom and\n"
    " * NAME_inputCount inputs. SI units, radians. No memory is taken, no file read, nothing global changes; "
    "a body\n"
    " * belongs to one thread at a time. What the calls do is what include/limber/limb.h says. */\n"
    "#ifndef NAME_LIMB_H\n#define NAME_LIMB_H\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    "enum { NAME_dofCount = DOFS, NAME_inputCount = INPUTS };\n"
    "enum { NAME_ok, NAME_badArgument, NAME_diverged, NAME_notConverged };\n\n"
    "typedef struct NAME_Body\n{\n"
    "\tdouble positions[DOFS], velocities[DOFS]; /* the state, to read */\n"
    "\tdouble maxStep, tolerance; /* s: longer steps are split; of Dormand-Prince. Start sets them */\n"
    "\tint integrator;            /* CHOICES */\n"
    "\t/* The rest is the model's own. */\n"
    "\tdouble base[DOFS], trial, trust;\n"
    "\tfloat hidden[HIDDEN], layers[2][LAYERS];\n} NAME_Body;\n\n"
    "/* Sets the whole body. positions, velocities: DOFS numbers each, finite. */\n"
    "int NAME_Start( NAME_Body *body, const double *positions, const double *velocities );\n"
    "/* INPUTS inputs held over dt seconds, or going straight to inputsEnd where that is not NULL. */\n"
    "int NAME_Step( NAME_Body *body, const double *inputs, const double *inputsEnd, double dt );\n"
    "/* 0 well inside what the model was trained on, 1 at the edge; -1: the model cannot tell. */\n"
    "double NAME_Trust( const NAME_Body *body );\n";

static const char headerInstant[] =
    "/* The equations at one instant; the body lends room, its state is not touched. */\n"
    "void NAME_Acceleration( NAME_Body *body, const double *positions, const double *velocities,\n"
    "\tconst double *inputs, double *accelerations );\n";

static const char headerInverse[] =
    "\n/* input = inertial + interaction + gravity + viscous, generalised torques. */\n"
    "typedef struct NAME_Torques\n{\n"
    "\tdouble input[DOFS], inertial[DOFS], interaction[DOFS], gravity[DOFS], viscous[DOFS];\n} "
    "NAME_Torques;\n\n"
    "void NAME_Inverse( NAME_Body *body, const double *positions, const double *velocities,\n"
    "\tconst double *accelerations, NAME_Torques *torques );\n";

static void DescribeIntegrators( const Export *export, char *out, size_t size )
{
	static const char *const names[] = { "semi-implicit Euler", "RK4", "implicit midpoint",
	                                     "Dormand-Prince" };
	size_t used = 0;
	out[0] = 0;
	for ( int i = 0; i < 4; ++i )
		if ( ( export->integrators & 1u << i ) != 0 && used < size )
			used += (size_t)snprintf( out + used, size - used, "%s%d %s", used > 0 ? ", " : "", i, names[i] );
}

/* Text with its capital words replaced. */
static void PrintTemplate( Export *export, const char *text )
{
	const lmbCoreModel *core = export->core;
	char numbers[7][128];
	int first = (int)export->defaults.integrator;
	while ( ( export->integrators & 1u << first ) == 0 )
		first = ( first + 1 ) % 4;
	int hidden = lmbCore_HiddenFloats( core );
	snprintf( numbers[0], sizeof( numbers[0] ), "%d", core->dofCount );
	snprintf( numbers[1], sizeof( numbers[1] ), "%d", core->inputCount );
	snprintf( numbers[2], sizeof( numbers[2] ), "%d", AtLeastOne( hidden ) );
	snprintf( numbers[3], sizeof( numbers[3] ), "%d", lmbCore_LayerFloats( core ) );
	snprintf( numbers[4], sizeof( numbers[4] ), "%d", first );
	snprintf( numbers[5], sizeof( numbers[5] ), "%a", export->defaults.maxStep );
	DescribeIntegrators( export, numbers[6], sizeof( numbers[6] ) );
	const char *const words[][2] = {
	    { "NAME", export->name },
	    { "DOFS", numbers[0] },
	    { "INPUTS", numbers[1] },
	    { "HIDDEN", numbers[2] },
	    { "LAYERS", numbers[3] },
	    { "INTEGRATOR", numbers[4] },
	    { "MAXSTEP", numbers[5] },
	    { "CHOICES", numbers[6] },
	    { "TRUST", core->trustDimensions > 0 ? "true" : "false" },
	};
	char before = 0;
	while ( *text != 0 )
	{
		size_t found = sizeof( words ) / sizeof( words[0] );
		for ( size_t w = 0; w < sizeof( words ) / sizeof( words[0] ) && before != '_'; ++w )
			if ( StartsWith( text, words[w][0] ) && !isupper( (unsigned char)text[strlen( words[w][0] )] ) )
				found = w;
		before = *text;
		if ( found < sizeof( words ) / sizeof( words[0] ) )
		{
			Print( export, "%s", words[found][1] );
			text += strlen( words[found][0] );
		}
		else
			Print( export, "%c", *text++ );
	}
}

static void PrintHeader( Export *export )
{
	PrintTemplate( export, headerStart );
	if ( export->core->kind < lmbCoreGru )
		PrintTemplate( export, headerInstant );
	if ( export->core->kind == lmbCoreLagrangian )
		PrintTemplate( export, headerInverse );
	Print( export, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n" );
}

static void PrintSource( Export *export )
{
	Print( export,
	       "/* Written by `limber export --c`: the runtime's own code, then the model's numbers, then the "
	       "calls of\n"
	       " * %s.h. C99; needs fabs, floor, sqrt, memcpy and memset. */\n#include \"%s.h\"\n\n",
	       export->name, export->name );
	PrintSwitches( export );
	for ( const lmbCoreText *text = lmbCoreTexts; text->name != NULL; ++text )
		if ( Needs( export->core, text->name ) )
		{
			Print( export, "\n/* ---- %s ---- */\n", text->name );
			PrintText( export, text->text );
		}
	Print( export, "\n/* ---- the model ---- */\n" );
	PrintNumbers( export );
	PrintModel( export );
	PrintTemplate( export, body );
	if ( export->core->kind < lmbCoreGru )
		PrintTemplate( export, instant );
	if ( export->core->kind == lmbCoreLagrangian )
		PrintTemplate( export, inverse );
}

static lmbStatus Write( Export *export, const char *folder, const char *ending, void ( *print )( Export * ),
                        lmbError *error )
{
	char file[nameSize + 8], path[4096];
	lmbFileWriter writer;
	snprintf( file, sizeof( file ), "%s%s", export->name, ending );
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, file, error ) );
	LMB_TRY( lmbFileWriter_Open( &writer, path, error ) );
	export->out = writer.stream;
	print( export );
	return lmbFileWriter_Commit( &writer, error );
}

/* A name as C takes it; false when it is none. */
static bool ChooseName( const char *path, const char *wanted, char out[nameSize] )
{
	const char *from = wanted;
	if ( wanted == NULL )
	{
		const char *slash = strrchr( path, '/' );
		from = slash != NULL ? slash + 1 : path;
	}
	size_t length = 0;
	for ( ; from[length] != 0 && length + 1 < nameSize; ++length )
	{
		if ( wanted == NULL && from[length] == '.' )
			break;
		bool fits = isalnum( (unsigned char)from[length] ) || from[length] == '_';
		if ( !fits && wanted != NULL )
			return false;
		out[length] = (char)( fits ? from[length] : '_' );
	}
	out[length] = 0;
	return length > 0 && length + 1 < nameSize && !isdigit( (unsigned char)out[0] );
}

lmbStatus lmbLimb_ExportC( const char *path, const lmbExportCDef *def, const char *folder, lmbError *error )
{
	const lmbExportCDef none = { 0 };
	Export export = { 0 };
	lmbArena arena = { 0 };
	lmbLimb *model = NULL;
	def = def != NULL ? def : &none;
	export.integrators = def->integrators != 0 ? def->integrators : 3;
	if ( export.integrators > 15 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "there are four integrators, bits 1 to 8" );
	if ( !ChooseName( path, def->name, export.name ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: \"%s\" cannot begin names in C; give one of letters, digits and _", path,
		                     def->name != NULL ? def->name : export.name );
	lmbStatus status = lmbLimb_LoadFile( path, &arena, &model, error );
	if ( status == lmb_statusOk )
		status = lmbFolder_Make( folder, error );
	if ( status == lmb_statusOk )
	{
		export.model = model;
		export.core = lmbLimb_Core( model );
		export.defaults = lmbDefaultLimbDef( model );
		status = Write( &export, folder, ".h", PrintHeader, error );
	}
	if ( status == lmb_statusOk )
		status = Write( &export, folder, ".c", PrintSource, error );
	lmbArena_Free( &arena );
	return status;
}
