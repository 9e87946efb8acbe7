#include "limb_file.h"

#include "tensors.h"

#include <math.h>
#include <string.h>

enum
{
	widthLimit = 256,      /* of a hidden layer, and of recurrent units */
	outputLimit = 1 << 13, /* of a last layer: an affine model's is wide */
	centreLimit = 64,
	turnLimit = 1000 /* |k| of a feature: a phase must stay within what sine and cosine take */
};

static const double numberLimit = 1e9; /* larger numbers are damage, not data */

typedef struct Reader
{
	const void *data;
	size_t size;
	lmbStatus status;
	const char *problem; /* NULL while all is well */
	int64_t parameters;
} Reader;

static bool Fail( Reader *reader, lmbStatus status, const char *problem )
{
	if ( reader->problem == NULL )
	{
		reader->status = status;
		reader->problem = problem;
	}
	return false;
}

static bool Corrupt( Reader *reader, const char *problem )
{
	return Fail( reader, lmb_statusCorrupt, problem );
}

static bool Has( const Reader *reader, const char *name )
{
	lmbTensor tensor;
	return reader->problem == NULL &&
	       lmbTensors_Find( reader->data, reader->size, name, &tensor ) == lmb_statusOk;
}

/* The array's data; its shape must be shape[], where -1 takes what the file says. Numbers are finite. */
static const void *Get( Reader *reader, const char *name, lmbDataType type, int rank, int64_t *shape,
                        const char *problem )
{
	lmbTensor tensor;
	if ( reader->problem != NULL )
		return NULL;
	bool matches = lmbTensors_Find( reader->data, reader->size, name, &tensor ) == lmb_statusOk &&
	               tensor.type == type && tensor.rank == rank;
	int64_t count = 1;
	for ( int i = 0; matches && i < rank; ++i )
	{
		matches = shape[i] == -1 || shape[i] == tensor.shape[i];
		shape[i] = tensor.shape[i];
		count *= tensor.shape[i];
	}
	if ( !matches )
	{
		Corrupt( reader, problem );
		return NULL;
	}
	for ( int64_t i = 0; i < count && ( type == lmb_dataF32 || type == lmb_dataF64 ); ++i )
	{
		double number =
		    type == lmb_dataF32 ? ( (const float *)tensor.data )[i] : ( (const double *)tensor.data )[i];
		if ( !( fabs( number ) <= numberLimit ) )
		{
			Fail( reader, lmb_statusNumerical, "an array holds a number that is not finite or above 1e9" );
			return NULL;
		}
	}
	return tensor.data;
}

/* Names, types and shapes as in docs/formats/limb-model.md. */
#define GET( reader, name, type, rank, shape )                                                               \
	Get( reader, name, type, rank, shape,                                                                    \
	     "array \"" name "\" is missing or has another type or shape than needed" )

/* A vector of the length given. */
#define GET_VECTOR( reader, name, type, length ) GET( reader, name, type, 1, ( ( int64_t[] ){ ( length ) } ) )

static bool CheckRange( Reader *reader, const int32_t *numbers, int64_t count, int32_t low, int32_t high,
                        const char *problem )
{
	for ( int64_t i = 0; reader->problem == NULL && i < count; ++i )
		if ( numbers[i] < low || numbers[i] > high )
			Corrupt( reader, problem );
	return reader->problem == NULL;
}

static bool CheckFormat( Reader *reader )
{
	char text[32];
	if ( lmbTensors_Metadata( reader->data, reader->size, "format", text, sizeof( text ) ) != lmb_statusOk ||
	     strcmp( text, "limber.limb" ) != 0 )
		return Corrupt( reader,
		                "not a model of a limb: the file's metadata lacks \"format\": \"limber.limb\"" );
	if ( lmbTensors_Metadata( reader->data, reader->size, "version", text, sizeof( text ) ) != lmb_statusOk )
		return Corrupt( reader, "the file's metadata lacks \"version\"" );
	if ( strcmp( text, "1" ) != 0 )
		return Fail( reader, lmb_statusUnsupported,
		             "the model's version is not 1, the one that this library reads" );
	return true;
}

/* Index of the metadata string among names, or -1. */
static int Choice( const Reader *reader, const char *key, const char *const *names, int count )
{
	char text[32];
	if ( lmbTensors_Metadata( reader->data, reader->size, key, text, sizeof( text ) ) != lmb_statusOk )
		return -1;
	for ( int i = 0; i < count; ++i )
		if ( strcmp( text, names[i] ) == 0 )
			return i;
	return -1;
}

/* A positive decimal number such as 0.01, 1e-2 or 12.5e-3, within what 19 digits give; 0 when it is none. The
 * C library's own reading depends on the program's locale. */
static double ParseNumber( const char *text )
{
	double value = 0.0, power = 1.0;
	int digits = 0, exponent = 0, sign = 1;
	for ( ; *text >= '0' && *text <= '9'; ++text, ++digits )
		value = 10.0 * value + ( *text - '0' );
	if ( *text == '.' )
		for ( ++text; *text >= '0' && *text <= '9'; ++text, ++digits, --exponent )
			value = 10.0 * value + ( *text - '0' );
	if ( digits == 0 || digits > 30 )
		return 0.0;
	if ( *text == 'e' || *text == 'E' )
	{
		int written = 0;
		++text;
		if ( *text == '-' || *text == '+' )
			sign = *text++ == '-' ? -1 : 1;
		for ( digits = 0; *text >= '0' && *text <= '9' && digits < 3; ++text, ++digits )
			written = 10 * written + ( *text - '0' );
		exponent += sign * written;
	}
	if ( *text != 0 || exponent < -100 || exponent > 100 )
		return 0.0;
	for ( int i = exponent < 0 ? -exponent : exponent; i > 0; --i )
		power *= 10.0;
	return exponent < 0 ? value / power : value * power;
}

static int ReadWhole( Reader *reader, const char *key, int most, const char *problem )
{
	char text[32] = "";
	double value = 0.0;
	if ( lmbTensors_Metadata( reader->data, reader->size, key, text, sizeof( text ) ) == lmb_statusOk )
		value = ParseNumber( text );
	if ( !( value >= 1.0 && value <= most && value == floor( value ) ) )
	{
		Corrupt( reader, problem );
		return 0;
	}
	return (int)value;
}

static void ReadMetadata( Reader *reader, lmbLimbFile *file )
{
	static const char *const kinds[] = { "lagrangian", "affine", "plain", "gru", "lstm" };
	static const char *const holds[] = { "held", "linear" };
	char text[32] = "";
	int kind = Choice( reader, "kind", kinds, 5 ), hold = Choice( reader, "hold", holds, 2 );
	if ( kind < 0 )
		Fail( reader, lmb_statusUnsupported,
		      "the metadata \"kind\" is none of lagrangian, affine, plain, gru, lstm" );
	if ( hold < 0 )
		Corrupt( reader, "the metadata \"hold\" is neither held nor linear" );
	if ( lmbTensors_Metadata( reader->data, reader->size, "step", text, sizeof( text ) ) == lmb_statusOk )
		file->step = ParseNumber( text );
	if ( !( file->step >= 1e-9 && file->step <= 1e3 ) )
		Corrupt( reader, "the metadata \"step\" is not a number of seconds from 1e-9 to 1e3" );
	if ( reader->problem != NULL )
		return;
	file->kind = (lmbLimbKind)kind;
	file->linear = hold == 1;
}

/* Strings of UTF-8, each ending in a zero; returns how many. */
static int CountNames( Reader *reader, const char *names, int64_t bytes )
{
	const uint8_t *at = (const uint8_t *)names, *end = at + bytes;
	int64_t count = 0;
	for ( int length = 0; reader->problem == NULL && at < end; at += length )
	{
		length = lmbUtf8_Length( at, end );
		count += *at == 0;
		if ( length == 0 )
			Corrupt( reader, "dofs.names or inputs.names is not UTF-8" );
	}
	if ( reader->problem == NULL && bytes > 0 && end[-1] != 0 )
		Corrupt( reader, "dofs.names or inputs.names does not end with a zero" );
	if ( reader->problem == NULL && count > lmb_limbMaxInputs )
		Fail( reader, lmb_statusUnsupported, "the model has more than 64 inputs or degrees of freedom" );
	return reader->problem == NULL ? (int)count : 0;
}

static void ReadNames( Reader *reader, lmbLimbFile *file )
{
	int64_t dofBytes[1] = { -1 }, inputBytes[1] = { -1 };
	file->dofNames = GET( reader, "dofs.names", lmb_dataU8, 1, dofBytes );
	file->inputNames = GET( reader, "inputs.names", lmb_dataU8, 1, inputBytes );
	if ( reader->problem != NULL )
		return;
	file->dofCount = CountNames( reader, file->dofNames, dofBytes[0] );
	file->inputCount = CountNames( reader, file->inputNames, inputBytes[0] );
	if ( reader->problem == NULL && file->dofCount > lmb_limbMaxDofs )
		Fail( reader, lmb_statusUnsupported, "the model has more than 16 degrees of freedom" );
	if ( reader->problem == NULL && file->dofCount < 1 )
		Corrupt( reader, "the model has no degree of freedom" );
	const int32_t *slides = GET_VECTOR( reader, "dofs.slides", lmb_dataI32, file->dofCount );
	CheckRange( reader, slides, file->dofCount, 0, 1, "dofs.slides holds another number than 0 and 1" );
}

static void ReadFeatures( Reader *reader, lmbLimbFile *file )
{
	int64_t shape[2] = { -1, file->dofCount };
	file->angles = GET( reader, "features.angles", lmb_dataI32, 2, shape );
	if ( reader->problem == NULL && shape[0] > lmbCoreMaxFeatures )
		Fail( reader, lmb_statusUnsupported, "the model has more than 128 features" );
	if ( reader->problem != NULL )
		return;
	file->featureCount = (int)shape[0];
	file->featureKinds = GET_VECTOR( reader, "features.kinds", lmb_dataI32, shape[0] );
	file->featureShifts = GET_VECTOR( reader, "features.shift", lmb_dataF64, shape[0] );
	file->featureScales = GET_VECTOR( reader, "features.scale", lmb_dataF64, shape[0] );
	CheckRange( reader, file->angles, shape[0] * shape[1], -turnLimit, turnLimit,
	            "features.angles has a number beyond +-1000" );
	CheckRange( reader, file->featureKinds, shape[0], 0, 2,
	            "features.kinds holds another number than 0 to 2" );
}

/* Joins NAME and what of it; both are ours and short. */
static const char *Name( char out[64], const char *name, const char *part )
{
	size_t length = 0;
	for ( ; *name != 0; ++name )
		out[length++] = *name;
	out[length++] = '.';
	for ( ; *part != 0; ++part )
		out[length++] = *part;
	out[length] = 0;
	return out;
}

/* The network called name. Its inputs are below listCount, its outputs outputCount. */
static void ReadNet( Reader *reader, const char *name, int listCount, int64_t outputCount,
                     lmbLimbFileNet *net )
{
	char text[64];
	int64_t count[1] = { -1 }, total[1] = { 0 };
	const int32_t *sizes = Get( reader, Name( text, name, "sizes" ), lmb_dataI32, 1, count,
	                            "a network's array \"sizes\" is missing or has another type or shape" );
	if ( reader->problem != NULL )
		return;
	if ( count[0] < 2 || count[0] > lmbCoreMaxLayers + 1 )
	{
		Fail( reader, lmb_statusUnsupported, "a network has no layer, or more than 8" );
		return;
	}
	int last = (int)count[0] - 1;
	for ( int i = 0; i < last; ++i )
		CheckRange( reader, &sizes[i], 1, i == 0 ? 0 : 1, widthLimit,
		            "a network's width is outside its range" );
	if ( reader->problem == NULL && ( sizes[last] != outputCount || outputCount > outputLimit ) )
		Corrupt( reader, "a network does not have as many outputs as the model needs" );
	if ( reader->problem != NULL )
		return;
	for ( int i = 0; i < last; ++i )
		total[0] += ( (int64_t)sizes[i] + 1 ) * sizes[i + 1];
	memcpy( net->sizes, sizes, (size_t)count[0] * sizeof( *sizes ) );
	net->layers = Get( reader, Name( text, name, "layers" ), lmb_dataF32, 1, total,
	                   "a network's array \"layers\" is missing or does not fit its sizes" );
	if ( Has( reader, Name( text, name, "inputs" ) ) || strcmp( name, "read" ) != 0 )
		net->inputs = Get( reader, text, lmb_dataI32, 1, ( int64_t[] ){ sizes[0] },
		                   "a network's array \"inputs\" is missing or does not fit its sizes" );
	else if ( sizes[0] != listCount )
		Corrupt( reader, "the network \"read\" has another width than the recurrent layer" );
	if ( reader->problem == NULL && net->inputs != NULL )
		CheckRange( reader, net->inputs, sizes[0], 0, listCount - 1,
		            "a network's input is not there, or not one that this network may see" );
	net->layerCount = last;
	reader->parameters += total[0];
}

static void ReadLagrangian( Reader *reader, lmbLimbFile *file )
{
	int n = file->dofCount, m = file->inputCount, triangle = n * ( n + 1 ) / 2;
	int features = file->featureCount;
	ReadNet( reader, "mass", features, triangle, &file->mass );
	const double *floor = GET_VECTOR( reader, "mass.floor", lmb_dataF64, 1 );
	if ( floor != NULL )
		file->massFloor = floor[0];
	if ( reader->problem == NULL && !( file->massFloor > 0.0 ) )
		Fail( reader, lmb_statusNumerical, "mass.floor is not above 0" );
	if ( Has( reader, "potential.sizes" ) )
		ReadNet( reader, "potential", features, 1, &file->potential );
	if ( Has( reader, "damping.constant" ) )
	{
		file->dampingConstant = GET_VECTOR( reader, "damping.constant", lmb_dataF64, triangle );
		reader->parameters += triangle;
	}
	if ( Has( reader, "damping.sizes" ) )
		ReadNet( reader, "damping", features + n, triangle, &file->damping );
	if ( Has( reader, "drive.matrix" ) )
		file->driveMatrix = GET( reader, "drive.matrix", lmb_dataF64, 2, ( ( int64_t[] ){ n, m } ) );
	if ( Has( reader, "drive.sizes" ) )
		ReadNet( reader, "drive", features + n, (int64_t)n * m, &file->drive );
	if ( reader->problem == NULL && file->driveMatrix == NULL && file->drive.layerCount == 0 && n != m )
		Corrupt( reader, "without drive.matrix the model needs an input for each degree of freedom" );
}

static void ReadCell( Reader *reader, lmbLimbFile *file, int index )
{
	int64_t h = file->hiddenCount, gates = file->kind == lmb_limbLstm ? 4 : 3;
	int64_t inputs = index == 0 ? file->inputCount + 1 : h;
	char name[8] = { 'c', 'e', 'l', 'l', (char)( '0' + index ), 0 }, text[64];
	lmbLimbFileCell *cell = &file->cells[index];
	const char *problem = "a recurrent layer's array is missing or has another type or shape than needed";
	cell->input = Get( reader, Name( text, name, "input" ), lmb_dataF32, 2,
	                   ( int64_t[] ){ gates * h, inputs }, problem );
	cell->hidden =
	    Get( reader, Name( text, name, "hidden" ), lmb_dataF32, 2, ( int64_t[] ){ gates * h, h }, problem );
	cell->bias =
	    Get( reader, Name( text, name, "bias" ), lmb_dataF32, 2, ( int64_t[] ){ 2, gates * h }, problem );
	reader->parameters += gates * h * ( inputs + h + 2 );
}

static void ReadRecurrent( Reader *reader, lmbLimbFile *file )
{
	int n = file->dofCount, states = file->kind == lmb_limbLstm ? 2 : 1;
	file->cellCount =
	    ReadWhole( reader, "layers", lmbCoreMaxLayers, "the metadata \"layers\" is not 1 to 8" );
	file->hiddenCount = ReadWhole( reader, "hidden", widthLimit, "the metadata \"hidden\" is not 1 to 256" );
	file->stepShift = GET_VECTOR( reader, "step.shift", lmb_dataF64, file->inputCount + 1 );
	file->stepScale = GET_VECTOR( reader, "step.scale", lmb_dataF64, file->inputCount + 1 );
	file->readBase = GET_VECTOR( reader, "read.base", lmb_dataF64, n );
	for ( int j = 0; file->readBase != NULL && j < n; ++j )
		if ( file->readBase[j] != 0.0 && file->readBase[j] != 1.0 )
			Corrupt( reader, "read.base holds another number than 0 and 1" );
	for ( int cell = 0; reader->problem == NULL && cell < file->cellCount; ++cell )
		ReadCell( reader, file, cell );
	ReadNet( reader, "start", file->featureCount + n, (int64_t)states * file->cellCount * file->hiddenCount,
	         &file->start );
	ReadNet( reader, "read", file->hiddenCount, 2 * (int64_t)n, &file->read );
}

static void ReadGrowth( Reader *reader, lmbLimbFile *file )
{
	int count = 2 * file->dofCount + file->inputCount + 5;
	file->trustGrowth = GET_VECTOR( reader, "trust.growth", lmb_dataF64, count );
	bool sound = reader->problem == NULL;
	for ( int i = 0; i < count && sound; ++i )
		sound = file->trustGrowth[i] >= 0.0 && file->trustGrowth[i] <= 1e30;
	if ( reader->problem == NULL && !sound )
		Fail( reader, lmb_statusNumerical, "trust.growth does not lie in 0 to 1e30" );
}

static void ReadTrust( Reader *reader, lmbLimbFile *file )
{
	int64_t count[1] = { -1 }, shape[2] = { -1, 0 };
	if ( !Has( reader, "trust.inputs" ) )
		return;
	file->trustInputs = GET( reader, "trust.inputs", lmb_dataI32, 1, count );
	if ( reader->problem == NULL && ( count[0] < 1 || count[0] > lmbCoreMaxTrust ) )
		Fail( reader, lmb_statusUnsupported, "trust.inputs holds none or more than 64" );
	if ( reader->problem != NULL )
		return;
	int d = (int)count[0];
	CheckRange( reader, file->trustInputs, d, 0, file->featureCount + file->dofCount + file->inputCount - 1,
	            "trust.inputs names an entry that is not there" );
	file->trustWhiten = GET( reader, "trust.whiten", lmb_dataF64, 2, ( ( int64_t[] ){ d, d } ) );
	file->trustMean = GET_VECTOR( reader, "trust.mean", lmb_dataF64, d );
	shape[1] = d;
	file->trustCentreList = GET( reader, "trust.centres", lmb_dataF32, 2, shape );
	const double *scale = GET_VECTOR( reader, "trust.scale", lmb_dataF64, 1 );
	if ( reader->problem != NULL )
		return;
	if ( shape[0] < 1 || shape[0] > centreLimit )
		Fail( reader, lmb_statusUnsupported, "trust.centres holds none or more than 64" );
	if ( !( scale[0] > 0.0 ) )
		Fail( reader, lmb_statusNumerical, "trust.scale is not above 0" );
	if ( Has( reader, "trust.growth" ) )
		ReadGrowth( reader, file );
	file->trustDimensions = d;
	file->trustCentres = (int)shape[0];
	file->trustScale = scale[0];
}

static void ReadKind( Reader *reader, lmbLimbFile *file )
{
	int n = file->dofCount, m = file->inputCount;
	int64_t affine = (int64_t)n * ( m + n * ( n + 1 ) / 2 + n + 1 );
	if ( file->kind == lmb_limbLagrangian )
		ReadLagrangian( reader, file );
	else if ( file->kind == lmb_limbAffine )
		ReadNet( reader, "affine", file->featureCount, affine, &file->acceleration );
	else if ( file->kind == lmb_limbPlain )
		ReadNet( reader, "plain", file->featureCount + n + m, n, &file->acceleration );
	else
		ReadRecurrent( reader, file );
}

lmbStatus lmbLimbFile_Read( const void *data, size_t size, lmbLimbFile *file, const char **problem )
{
	Reader reader = { data, size, lmb_statusOk, NULL, 0 };
	memset( file, 0, sizeof( *file ) );
	reader.status = lmbTensors_Check( data, size, &reader.problem );
	if ( reader.problem == NULL && CheckFormat( &reader ) )
	{
		ReadMetadata( &reader, file );
		ReadNames( &reader, file );
		ReadFeatures( &reader, file );
		if ( reader.problem == NULL )
			ReadKind( &reader, file );
		ReadTrust( &reader, file );
	}
	file->parameterCount = reader.parameters;
	*problem = reader.problem;
	return reader.status;
}
