#include "cli/project_verb.h"

#include "evaluate/limb_report.h"
#include "evaluate/report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool EndsWith( const char *text, const char *end )
{
	size_t length = strlen( text ), need = strlen( end );
	return length >= need && strcasecmp( text + length - need, end ) == 0;
}

static double Number( const json_t *facts, const char *key )
{
	return json_number_value( json_object_get( facts, key ) );
}

static void PrintTissue( lmbCommand *command, const json_t *facts )
{
	double volume = Number( facts, "volume_m3" ), surface = Number( facts, "surface_volume_m3" );
	lmbCommand_Print( command, "  %.0f nodes (%.0f in bones), %.0f tetrahedra of %.4g m cells, %.4g kg\n",
	                  Number( facts, "nodes" ), Number( facts, "held_nodes" ), Number( facts, "tetrahedra" ),
	                  Number( facts, "cell_m" ), Number( facts, "mass_kg" ) );
	lmbCommand_Print( command, "  volume %.6g m^3, the skin's own %.6g m^3 (%+.2f %%, %s, %.0f parts)\n",
	                  volume, surface, surface != 0.0 ? 100.0 * ( volume / surface - 1.0 ) : 0.0,
	                  json_is_true( json_object_get( facts, "closed" ) ) ? "closed" : "open",
	                  Number( facts, "components" ) );
	lmbCommand_Print( command, "  %.0f soft vertices, %.0f cells split between parts\n",
	                  Number( facts, "soft_vertices" ), Number( facts, "split_cells" ) );
}

static void PrintBakes( lmbCommand *command, const json_t *facts )
{
	const char *name;
	json_t *bake;
	json_object_foreach( (json_t *)facts, name, bake )
	{
		const char *file = json_string_value( json_object_get( bake, "file" ) );
		if ( file != NULL )
			lmbCommand_Print( command,
			                  "  %s: %.0f morph targets, dynamics %.2f mm, lost by truncation %.2f mm\n",
			                  file, Number( bake, "targets" ), Number( bake, "dynamics_rms_mm" ),
			                  Number( bake, "truncation_rms_mm" ) );
	}
}

static void PrintModes( lmbCommand *command, const json_t *facts )
{
	lmbCommand_Print( command, "  %.0f modes, %.2f to %.2f Hz\n", Number( facts, "count" ),
	                  Number( facts, "lowest_hz" ), Number( facts, "highest_hz" ) );
}

static void PrintSimulate( lmbCommand *command, const json_t *facts )
{
	lmbCommand_Print( command, "  %.0f poses (%.0f not converged), %.0f frames (%.0f not converged)\n",
	                  Number( facts, "poses" ), Number( facts, "poses_not_converged" ),
	                  Number( facts, "frames" ), Number( facts, "frames_not_converged" ) );
}

static void PrintTrain( lmbCommand *command, const json_t *facts )
{
	lmbCommand_Print( command, "  unseen poses: network %.2f mm, skinning %.2f mm\n",
	                  Number( facts, "rms_mm_unseen_poses" ),
	                  Number( facts, "skinning_rms_mm_unseen_poses" ) );
}

static void PrintModel( lmbCommand *command, const json_t *facts )
{
	lmbCommand_Print( command, "  %.1f KiB, an instance %.1f KiB\n", Number( facts, "bytes" ) / 1024.0,
	                  Number( facts, "instance_bytes" ) / 1024.0 );
}

static void PrintLimbSimulate( lmbCommand *command, const json_t *facts )
{
	lmbCommand_Print( command, "  %.0f motions of %.0f samples in all to learn from, %.0f to judge by\n",
	                  Number( facts, "motions" ), Number( facts, "samples" ),
	                  Number( facts, "test_motions" ) );
}

static void PrintLimbTrain( lmbCommand *command, const json_t *facts )
{
	const char *name;
	json_t *model;
	json_object_foreach( (json_t *)facts, name, model ) lmbCommand_Print(
	    command, "  %s: %.0f parameters, error %.3g, on motions that stopped it %.3g\n", name,
	    Number( model, "parameters" ), Number( model, "train_loss" ), Number( model, "stop_loss" ) );
}

static void PrintFacts( lmbCommand *command, bool limb, const char *stage, const json_t *facts )
{
	static const struct
	{
		bool limb;
		const char *stage;
		void ( *print )( lmbCommand *command, const json_t *facts );
	} printers[] = { { false, "tissue", PrintTissue },        { false, "modes", PrintModes },
	                 { false, "simulate", PrintSimulate },    { false, "train", PrintTrain },
	                 { false, "model", PrintModel },          { false, "bake", PrintBakes },
	                 { true, "simulate", PrintLimbSimulate }, { true, "train", PrintLimbTrain } };
	for ( size_t i = 0; i < sizeof( printers ) / sizeof( printers[0] ); ++i )
		if ( printers[i].limb == limb && strcmp( printers[i].stage, stage ) == 0 )
			printers[i].print( command, facts );
}

static void OnStage( void *context, const char *name, lmbStageEvent event, double seconds, json_t *facts )
{
	lmbProjectVerb *verb = context;
	lmbCommand *command = &verb->command;
	lmbProgress_Title( &command->progress, name );
	if ( event == lmb_stageStarted )
	{
		char line[64];
		snprintf( line, sizeof( line ), "%s ...", name );
		if ( !command->progress.terminal )
			lmbProgress_Line( &command->progress, line );
		return;
	}
	if ( event == lmb_stageSkipped )
		lmbCommand_Print( command, "%s: up to date\n", name );
	else
		lmbCommand_Print( command, "%s: %.1f s\n", name, seconds );
	PrintFacts( command, verb->limb != NULL, name, facts );
	fflush( stdout );
	json_array_append_new( verb->stageList,
	                       json_pack( "{s:s, s:b, s:f, s:O}", "stage", name, "up_to_date",
	                                  event == lmb_stageSkipped, "seconds", seconds, "facts", facts ) );
}

/* What is for characters only. */
static lmbStatus RefuseForLimb( const lmbProjectVerb *verb, const char *path, lmbError *error )
{
	const char *name = verb->command.verb->name;
	if ( verb->limbStages == 0 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: this is a limb's project, and %s is for characters; a limb has simulate, "
		                     "train, evaluate and run",
		                     path, name );
	if ( verb->instant || verb->shard != NULL )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: this is a limb's project, and --%s is for characters; leave it out", path,
		                     verb->instant ? "instant" : "shard" );
	return lmb_statusOk;
}

static lmbStatus OpenProject( lmbProjectVerb *verb, lmbError *error )
{
	static const lmbProjectTable *const kinds[] = { &lmbFleshProjectTable, &lmbLimbProjectTable };
	const char *path = verb->command.arguments[0];
	if ( EndsWith( path, ".glb" ) || EndsWith( path, ".gltf" ) )
		LMB_TRY( lmbProject_ForCharacter( path, &verb->project, error ) );
	else if ( lmbProjectFile_Kind( path, kinds, 2 ) == 1 )
	{
		LMB_TRY( RefuseForLimb( verb, path, error ) );
		LMB_TRY( lmbLimbProject_Load( path, &verb->limb, error ) );
	}
	else
		LMB_TRY( lmbProject_Load( path, &verb->project, error ) );
	lmbProjectFile *file = verb->limb != NULL ? &verb->limb->file : &verb->project->file;
	for ( int i = 0; verb->settings != NULL && verb->settings[i] != NULL; ++i )
		LMB_TRY( lmbProjectFile_Set( file, verb->settings[i], error ) );
	if ( verb->command.seed >= 0 )
		*( verb->limb != NULL ? &verb->limb->seed : &verb->project->seed ) = verb->command.seed;
	return lmb_statusOk;
}

/* "2/8" is index 1 of 8. */
static lmbStatus ReadShard( const char *text, lmbPipelineDef *def, lmbError *error )
{
	char end;
	if ( sscanf( text, "%d/%d%c", &def->shardIndex, &def->shardCount, &end ) != 2 || def->shardIndex < 1 ||
	     def->shardCount < def->shardIndex )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "--shard must be I/N with I in 1 to N, not \"%s\"", text );
	def->shardIndex -= 1;
	return lmb_statusOk;
}

/* Runs the stages of either kind. judged: whether the report is wanted. */
static lmbStatus RunPipeline( lmbProjectVerb *verb, lmbPipelineDef *def, json_t **metrics, bool *judged,
                              lmbError *error )
{
	const lmbJob *job = &verb->command.job;
	if ( verb->limb != NULL )
	{
		def->stages = verb->limbStages;
		*judged = ( def->stages & 1u << lmb_limbStageEvaluate ) != 0;
		return lmbLimbPipeline_Run( verb->limb, def, job, metrics, error );
	}
	def->stages = verb->stages;
	def->instant = verb->instant != 0 || verb->project->instant;
	if ( verb->shard != NULL )
		LMB_TRY( ReadShard( verb->shard, def, error ) );
	*judged = ( def->stages & 1u << lmb_stageEvaluate ) != 0;
	return lmbPipeline_Run( verb->project, def, job, metrics, error );
}

/* The default folder for results, out/NAME: a name must not lead out of out. */
static lmbStatus DefaultFolder( const lmbProjectVerb *verb, bool instant, char *out, size_t size,
                                lmbError *error )
{
	const lmbProjectFile *file = verb->limb != NULL ? &verb->limb->file : &verb->project->file;
	const char *name = verb->limb != NULL ? verb->limb->name : verb->project->name;
	if ( name[0] == '\0' || name[0] == '.' || strchr( name, '/' ) != NULL || strlen( name ) > 200 )
	{
		int line, column;
		lmbProjectFile_Place( file, name, &line, &column );
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s:%d:%d: \"%.60s\" cannot be a folder in out/; give a name of 1 to 200 "
		                     "characters without '/' that does not begin with '.', or a folder by --out",
		                     file->path, line, column, name );
	}
	snprintf( out, size, "out/%s%s", name, instant ? "-instant" : "" );
	return lmb_statusOk;
}

static lmbStatus Work( lmbProjectVerb *verb, lmbError *error )
{
	LMB_TRY( OpenProject( verb, error ) );
	bool instant = verb->project != NULL && ( verb->instant != 0 || verb->project->instant ), judged = false;
	bool reports = verb->report.page != NULL || verb->report.svg != NULL || verb->report.png != NULL;
	if ( reports && instant )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "an instant model has no simulation to be judged by: leave --report, --svg and --png "
		    "out, or --instant" );
	LMB_TRY( lmbReportFiles_Check( &verb->report, error ) );
	char folder[512] = { 0 };
	if ( verb->out == NULL )
		LMB_TRY( DefaultFolder( verb, instant, folder, sizeof( folder ), error ) );
	lmbPipelineDef def = {
	    .folder = verb->out != NULL ? verb->out : folder, .event = OnStage, .context = verb };
	json_t *metrics = NULL;
	LMB_TRY( RunPipeline( verb, &def, &metrics, &judged, error ) );
	if ( !verb->command.json && judged )
	{
		printf( "\n" );
		if ( verb->limb != NULL )
			lmbLimbReport_Print( metrics, stdout );
		else
			lmbReport_Print( metrics, stdout );
	}
	lmbCommand_Print( &verb->command, "\nresults: %s\n", def.folder );
	json_object_set_new( verb->command.document, "out", json_string( def.folder ) );
	if ( metrics != NULL )
		json_object_set_new( verb->command.document, "metrics", metrics );
	return reports ? lmbReportFiles_Write( &verb->report, def.folder, &verb->command, error ) : lmb_statusOk;
}

int lmbProjectVerb_Run( lmbProjectVerb *verb )
{
	lmbError error = { 0 };
	verb->stageList = json_array();
	json_object_set( verb->command.document, "stages", verb->stageList );
	lmbStatus status = Work( verb, &error );
	json_decref( verb->stageList );
	lmbProject_Free( verb->project );
	lmbLimbProject_Free( verb->limb );
	return lmbCommand_End( &verb->command, status, &error );
}

int lmbProjectVerb_Main( const lmbVerb *verb, int argc, const char **argv, unsigned stages,
                         unsigned limbStages )
{
	lmbProjectVerb project = { .stages = stages, .limbStages = limbStages };
	const struct poptOption options[] = { LMB_PROJECT_OPTIONS( project ),
	                                      LMB_COMMAND_OPTIONS( project.command ) };
	int code = lmbCommand_Begin( &project.command, verb, argc, argv, options );
	return code >= 0 ? code : lmbProjectVerb_Run( &project );
}
