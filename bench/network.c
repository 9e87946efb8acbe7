/* The network alone, and the same in onnxruntime on one thread. */
#include "base/files.h"
#include "formats/onnx.h"
#include "human.h"
#include "measure.h"
#include "runtime/flesh_body.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Times NETWORK.onnx and, for what a call from Python costs, IDENTITY.onnx; prints JSON. */
static const char script[] =
    "import json, sys, time\n"
    "import numpy as np\n"
    "import onnxruntime as ort\n"
    "ort.set_default_logger_severity(3)\n"
    "def session(path):\n"
    "    options = ort.SessionOptions()\n"
    "    options.intra_op_num_threads = options.inter_op_num_threads = 1\n"
    "    return ort.InferenceSession(path, options, providers=['CPUExecutionProvider'])\n"
    "def measure(path, x, repeats):\n"
    "    s = session(path)\n"
    "    b = s.io_binding()\n"
    "    value = ort.OrtValue.ortvalue_from_numpy(x)\n"
    "    out = ort.OrtValue.ortvalue_from_shape_and_type(s.get_outputs()[0].shape, np.float32)\n"
    "    b.bind_ortvalue_input(s.get_inputs()[0].name, value)\n"
    "    b.bind_ortvalue_output(s.get_outputs()[0].name, out)\n"
    "    times = []\n"
    "    for n in range(repeats):\n"
    "        begin = time.thread_time_ns()\n"
    "        for _ in range(20):\n"
    "            s.run_with_iobinding(b)\n"
    "        times.append((time.thread_time_ns() - begin) / 20e3)\n"
    "    times.sort()\n"
    "    return times, out.numpy()\n"
    "x = np.fromfile(sys.argv[3], np.float32).reshape(1, -1)\n"
    "n = int(sys.argv[4])\n"
    "times, y = measure(sys.argv[1], x, n)\n"
    "call, _ = measure(sys.argv[2], x, n)\n"
    "print(json.dumps({'version': ort.__version__, 'us': times[n // 10], 'us_least': times[0],\n"
    "    'us_median': times[n // 2], 'call_us': call[n // 10], 'outputs': y.ravel().tolist()}))\n";

typedef struct Folder
{
	char path[64];
	char network[96], identity[96], features[96], result[96];
} Folder;

static lmbStatus WriteIdentity( int features, const char *path, lmbError *error )
{
	lmbOnnx graph = { 0 };
	const int64_t row[2] = { 1, features };
	lmbOnnx_Output( &graph, lmbOnnx_Input( &graph, "features", 2, row ), "same", 2, row );
	lmbStatus status = lmbOnnx_Write( &graph, "identity", path, error );
	lmbOnnx_Free( &graph );
	return status;
}

static lmbStatus MakeFolder( Folder *folder, const lmbFleshBody *body, lmbError *error )
{
	int features = body->model->regions[0].featureCount;
	snprintf( folder->path, sizeof( folder->path ), "/tmp/limber-bench-XXXXXX" );
	if ( mkdtemp( folder->path ) == NULL )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot be made; is /tmp writable?", folder->path );
	snprintf( folder->network, sizeof( folder->network ), "%s/network.onnx", folder->path );
	snprintf( folder->identity, sizeof( folder->identity ), "%s/identity.onnx", folder->path );
	snprintf( folder->features, sizeof( folder->features ), "%s/features", folder->path );
	snprintf( folder->result, sizeof( folder->result ), "%s/result.json", folder->path );
	LMB_TRY( lmbHuman_WriteOnnx( &lmbHumanOfOne, folder->network, error ) );
	LMB_TRY( WriteIdentity( features, folder->identity, error ) );
	return lmbFile_Write( folder->features, body->features, (size_t)features * sizeof( float ), error );
}

static void RemoveFolder( const Folder *folder )
{
	unlink( folder->network );
	unlink( folder->identity );
	unlink( folder->features );
	unlink( folder->result );
	rmdir( folder->path );
}

/* What the script printed, or NULL. */
static json_t *RunScript( const lmbBench *bench, const Folder *folder )
{
	char samples[16];
	pid_t child;
	int state = 0;
	posix_spawn_file_actions_t actions;
	snprintf( samples, sizeof( samples ), "%d", lmbBench_Samples( bench, 200 ) );
	const char *arguments[] = { bench->def->python, "-c",    script, folder->network, folder->identity,
	                            folder->features,   samples, NULL };
	posix_spawn_file_actions_init( &actions );
	posix_spawn_file_actions_addopen( &actions, 1, folder->result, O_WRONLY | O_CREAT | O_TRUNC, 0600 );
	posix_spawn_file_actions_addopen( &actions, 2, "/dev/null", O_WRONLY, 0 );
	int failed =
	    posix_spawnp( &child, bench->def->python, &actions, NULL, (char *const *)arguments, environ );
	posix_spawn_file_actions_destroy( &actions );
	if ( failed != 0 || waitpid( child, &state, 0 ) != child || state != 0 )
		return NULL;
	return json_load_file( folder->result, 0, NULL );
}

static void RunNetwork( void *context )
{
	lmbFleshBody *body = context;
	lmbFleshBody_BeginNetwork( body );
	lmbFleshBody_RunRegion( body, 0 );
}

/* The largest difference of a coefficient, of the largest coefficient. */
static double Difference( const lmbFleshBody *body, const json_t *outputs )
{
	double most = 0.0, largest = 1e-30;
	for ( int c = 0; c < body->model->info.coefficientCount; ++c )
	{
		double theirs = json_number_value( json_array_get( outputs, (size_t)c ) );
		most = fmax( most, fabs( theirs - (double)body->amplitudes[c] ) );
		largest = fmax( largest, fabs( theirs ) );
	}
	return most / largest;
}

static void Compare( lmbBench *bench, const lmbFleshBody *body, const lmbBenchTimes *ours,
                     const lmbBenchCost *cost, const json_t *result )
{
	static const char *const title = "onnxruntime, of our time";
	char note[200], name[96];
	double call = json_number_value( json_object_get( result, "call_us" ) );
	if ( result == NULL )
	{
		snprintf( note, sizeof( note ),
		          "%.40s has no onnxruntime and numpy; install them with pip in a virtual environment and "
		          "give its python with --python",
		          bench->def->python );
		lmbBench_Compare( bench, title, 0.0, 2.0, note );
		return;
	}
	lmbBenchTimes theirs = { json_number_value( json_object_get( result, "us" ) ) - call,
	                         json_number_value( json_object_get( result, "us_least" ) ) - call,
	                         json_number_value( json_object_get( result, "us_median" ) ) - call,
	                         lmbBench_Samples( bench, 200 ) };
	lmbBenchCost floats = { .items = 1.0, .multiplyAdds = cost->multiplyAdds + cost->products };
	floats.bytes = 4.0 * floats.multiplyAdds;
	floats.workingSet = (size_t)floats.bytes;
	snprintf( name, sizeof( name ), "onnxruntime %.20s, hot",
	          json_string_value( json_object_get( result, "version" ) ) );
	lmbBench_Row( bench, name, &theirs, &floats );
	snprintf( note, sizeof( note ), "without the %.1f us of a call from Python; coefficients differ by %.1e",
	          call, Difference( body, json_object_get( result, "outputs" ) ) );
	lmbBench_Compare( bench, title, ours->typical > 0.0 ? theirs.typical / ours->typical : 0.0, 2.0, note );
}

static lmbStatus Measure( lmbBench *bench, lmbFleshBody *body, lmbError *error )
{
	Folder folder;
	lmbBenchTimes hot, cold;
	const lmbFleshRegion *region = &body->model->regions[0];
	bool words = region->linear.weights == NULL;
	double f = region->featureCount, h = region->hiddenCount, k = region->coefficientCount;
	double weights = f * k + f * h + ( region->layerCount - 2 ) * h * h + h * k;
	lmbBenchCost cost = { .items = 1.0,
	                      .bytes = weights * ( words ? 2.0 : 4.0 ),
	                      .multiplyAdds = words ? 0.0 : weights,
	                      .products = words ? weights : 0.0 };
	cost.workingSet = (size_t)cost.bytes;
	lmbBenchTask task = { .run = RunNetwork, .context = body, .samples = 200, .repeats = 20 };
	LMB_TRY( lmbBench_Time( bench, &task, &hot, error ) );
	lmbBench_Row( bench, "ours, hot", &hot, &cost );
	task = ( lmbBenchTask ){ .run = RunNetwork, .context = body, .samples = 50, .repeats = 1, .cold = true };
	LMB_TRY( lmbBench_Time( bench, &task, &cold, error ) );
	cost.cold = true;
	lmbBench_Row( bench, "ours, cold", &cold, &cost );
	lmbStatus status = MakeFolder( &folder, body, error );
	if ( status == lmb_statusOk )
	{
		json_t *result = RunScript( bench, &folder );
		Compare( bench, body, &hot, &cost, result );
		json_decref( result );
	}
	RemoveFolder( &folder );
	return status;
}

lmbStatus lmbBench_Network( lmbBench *bench, lmbError *error )
{
	lmbModel model;
	lmbArena arena = { 0 };
	lmbStatus status = lmbHuman_Open( &lmbHumanOfOne, &model, error );
	if ( status == lmb_statusOk )
	{
		lmbFleshBody *body = NULL;
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		float *bones = LMB_NEW( &arena, float, 12 * model.flesh->info.boneCount );
		def.kernels = bench->def->kernels;
		status =
		    bones == NULL ? lmbError_Memory( error ) : lmbModel_Body( &model, &def, &arena, &body, error );
		for ( int j = 0; bones != NULL && j < model.flesh->info.boneCount; ++j )
			for ( int i = 0; i < 3; ++i )
				bones[12 * j + 5 * i] = 1.0f;
		const lmbFleshPose pose = { .bones = bones, .rotation = { 0.3f, 0.1f, 0.0f, 1.0f } };
		if ( status == lmb_statusOk )
			status = lmbFleshBody_Step( body, &pose, 1.0 / 60.0, NULL );
		if ( status == lmb_statusOk )
			status = Measure( bench, body, error );
	}
	lmbArena_Free( &arena );
	lmbModel_Close( &model );
	return status;
}
