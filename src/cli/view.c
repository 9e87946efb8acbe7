/* limber view: a model in the browser. */
#include "cli/project_verb.h"
#include "cli/verbs.h"
#include "cli/view_limb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
	defaultPort = 8130
};

typedef struct View
{
	lmbCommand command;
	const char *character, *html, *out;
	const char **motions;
	int port, noBrowser, instant;
	lmbProject *project;
	lmbShow show;
	lmbLimbProject *limb;
	lmbViewPage page;
	char *text; /* the page without its data, for the server */
	size_t textSize;
	int listening; /* the port */
} View;

static bool EndsWith( const char *text, const char *end )
{
	size_t length = strlen( text ), need = strlen( end );
	return length >= need && strcasecmp( text + length - need, end ) == 0;
}

/* --- what is shown --- */

static lmbStatus OpenModelFile( View *view, const char *path, lmbViewDef *def, lmbError *error )
{
	if ( view->character == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: a model does not know its motions: add --character FILE.glb, or give the "
		                     "project instead",
		                     path );
	LMB_TRY( lmbProject_ForCharacter( view->character, &view->project, error ) );
	def->model = path;
	return lmbShow_Open( view->project, NULL, &view->command.job, &view->show, error );
}

/* The project's model in its output folder. */
static lmbStatus FindModel( View *view, const char *path, const char *name, bool instant, const char **folder,
                            const char **out, lmbError *error )
{
	char usual[4096], model[4096];
	snprintf( usual, sizeof( usual ), "out/%s%s", name, instant ? "-instant" : "" );
	*folder = lmbArena_String( &view->page.arena, view->out != NULL ? view->out : usual );
	if ( *folder == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbPath_Join( model, sizeof( model ), *folder, "model.safetensors", error ) );
	if ( !lmbFile_Exists( model ) )
		return lmbError_Set( error, lmb_statusNotFound, "%s: is not there yet: run limber run %s%s%s%s",
		                     model, instant ? "--instant " : "", path, view->out != NULL ? " --out " : "",
		                     view->out != NULL ? view->out : "" );
	*out = lmbArena_String( &view->page.arena, model );
	return *out != NULL ? lmb_statusOk : lmbError_Memory( error );
}

static lmbStatus OpenProject( View *view, const char *path, lmbViewDef *def, lmbError *error )
{
	if ( view->character != NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "--character: the project names its character already" );
	if ( EndsWith( path, ".glb" ) || EndsWith( path, ".gltf" ) )
		LMB_TRY( lmbProject_ForCharacter( path, &view->project, error ) );
	else
		LMB_TRY( lmbProject_Load( path, &view->project, error ) );
	bool instant = view->instant != 0 || view->project->instant;
	const char *folder;
	LMB_TRY( FindModel( view, path, view->project->name, instant, &folder, &def->model, error ) );
	return lmbShow_Open( view->project, folder, &view->command.job, &view->show, error );
}

static bool IsLimbProject( const char *path )
{
	static const lmbProjectTable *const kinds[] = { &lmbFleshProjectTable, &lmbLimbProjectTable };
	return !EndsWith( path, ".glb" ) && !EndsWith( path, ".gltf" ) &&
	       lmbProjectFile_Kind( path, kinds, 2 ) == 1;
}

static lmbStatus MakeLimbPage( View *view, const char *path, bool isModel, lmbError *error )
{
	lmbViewLimbDef def = { .name = path, .model = path, .motions = (const char *const *)view->motions };
	if ( view->character != NULL || view->instant )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: is of a limb, which has no %s", path,
		                     view->character != NULL ? "character" : "instant model" );
	if ( isModel && view->motions != NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "--motion: a limb's model has no motions; give its project" );
	if ( !isModel )
	{
		LMB_TRY( lmbLimbProject_Load( path, &view->limb, error ) );
		def.name = view->limb->name;
		def.project = view->limb;
		LMB_TRY( FindModel( view, path, def.name, false, &def.folder, &def.model, error ) );
	}
	return lmbViewLimb_Make( &def, &view->page, error );
}

static lmbStatus MakeFleshPage( View *view, const char *path, bool isModel, lmbError *error )
{
	lmbViewDef def = { .motions = (const char *const *)view->motions };
	LMB_TRY( isModel ? OpenModelFile( view, path, &def, error ) : OpenProject( view, path, &def, error ) );
	def.name = view->project->name;
	def.interpolation = view->project->fit.interpolation;
	return lmbViewPage_Make( &def, &view->show, &view->page, error );
}

/* --- one file --- */

static lmbStatus WriteHtml( View *view, lmbError *error )
{
	lmbFileWriter writer;
	LMB_TRY( lmbFileWriter_Open( &writer, view->html, error ) );
	lmbStatus status = lmbViewPage_Write( &view->page, true, writer.stream, error );
	long size = status == lmb_statusOk ? ftell( writer.stream ) : 0;
	if ( status == lmb_statusOk )
		status = lmbFileWriter_Commit( &writer, error );
	else
		lmbFileWriter_Abort( &writer );
	LMB_TRY( status );
	json_t *parts = json_object();
	lmbCommand_Print( &view->command, "%s: %.1f MB, of which (before base64, which adds a third)\n",
	                  view->html, (double)size / 1e6 );
	for ( int i = 0; i < view->page.blobCount; ++i )
	{
		const lmbViewBlob *blob = &view->page.blobs[i];
		lmbCommand_Print( &view->command, "  %-12s %8.2f MB\n", blob->name, (double)blob->size / 1e6 );
		json_object_set_new( parts, blob->name, json_integer( (json_int_t)blob->size ) );
	}
	json_object_set_new( view->command.document, "html", json_string( view->html ) );
	json_object_set_new( view->command.document, "bytes", json_integer( size ) );
	json_object_set_new( view->command.document, "parts", parts );
	return lmb_statusOk;
}

/* --- the server --- */

static enum MHD_Result Answer( struct MHD_Connection *connection, unsigned status, const char *type,
                               const void *data, size_t size )
{
	/* The data outlive the server. */
	struct MHD_Response *response =
	    MHD_create_response_from_buffer( size, (void *)data, MHD_RESPMEM_PERSISTENT );
	if ( response == NULL )
		return MHD_NO;
	MHD_add_response_header( response, "Content-Type", type );
	MHD_add_response_header( response, "Cache-Control", "no-store" );
	MHD_add_response_header( response, "X-Content-Type-Options", "nosniff" );
	/* The page may read from this server and from nowhere else. */
	MHD_add_response_header( response, "Content-Security-Policy",
	                         "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src "
	                         "'unsafe-inline'; connect-src 'self' data: blob:; img-src data: blob:" );
	enum MHD_Result result = MHD_queue_response( connection, status, response );
	MHD_destroy_response( response );
	return result;
}

/* A page elsewhere whose name was made to point to 127.0.0.1 must not read what is served here. */
static bool IsForUs( const View *view, const char *host )
{
	char numeric[32], named[32];
	snprintf( numeric, sizeof( numeric ), "127.0.0.1:%d", view->listening );
	snprintf( named, sizeof( named ), "localhost:%d", view->listening );
	return host != NULL && ( strcmp( host, numeric ) == 0 || strcmp( host, named ) == 0 );
}

static enum MHD_Result OnRequest( void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *uploadSize, void **state )
{
	const View *view = context;
	static const char prefix[] = "/data/", nothing[] = "nothing here\n", refused[] = "refused\n";
	(void)version, (void)upload, (void)uploadSize, (void)state;
	if ( ( strcmp( method, "GET" ) != 0 && strcmp( method, "HEAD" ) != 0 ) ||
	     !IsForUs( view, MHD_lookup_connection_value( connection, MHD_HEADER_KIND, "Host" ) ) )
		return Answer( connection, MHD_HTTP_FORBIDDEN, "text/plain", refused, strlen( refused ) );
	if ( strcmp( url, "/" ) == 0 )
		return Answer( connection, MHD_HTTP_OK, "text/html; charset=utf-8", view->text, view->textSize );
	const lmbViewBlob *blob = strncmp( url, prefix, strlen( prefix ) ) == 0
	                              ? lmbViewPage_Blob( &view->page, url + strlen( prefix ) )
	                              : NULL;
	if ( blob == NULL )
		return Answer( connection, MHD_HTTP_NOT_FOUND, "text/plain", nothing, strlen( nothing ) );
	return Answer( connection, MHD_HTTP_OK, "application/octet-stream", blob->data, blob->size );
}

static struct MHD_Daemon *Listen( View *view, int port )
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons( (uint16_t)port ) };
	address.sin_addr.s_addr = htonl( INADDR_LOOPBACK );
	struct MHD_Daemon *daemon = MHD_start_daemon( MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL,
	                                              OnRequest, view, MHD_OPTION_SOCK_ADDR, &address,
	                                              MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END );
	if ( daemon != NULL )
		view->listening = MHD_get_daemon_info( daemon, MHD_DAEMON_INFO_BIND_PORT )->port;
	return daemon;
}

/* Asks the desktop to show it. Two forks, so that nobody waits for the browser. */
static void OpenBrowser( const char *url )
{
	pid_t child = fork();
	if ( child == 0 )
	{
		if ( fork() == 0 )
		{
			if ( freopen( "/dev/null", "w", stdout ) != NULL && freopen( "/dev/null", "w", stderr ) != NULL )
				execlp( "xdg-open", "xdg-open", url, (char *)NULL );
		}
		_exit( 0 );
	}
	if ( child > 0 )
		waitpid( child, NULL, 0 );
}

static lmbStatus Serve( View *view, lmbError *error )
{
	FILE *stream = open_memstream( &view->text, &view->textSize );
	if ( stream == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbViewPage_Write( &view->page, false, stream, error );
	if ( fclose( stream ) != 0 && status == lmb_statusOk )
		status = lmbError_Memory( error );
	LMB_TRY( status );
	struct MHD_Daemon *daemon = Listen( view, view->port >= 0 ? view->port : defaultPort );
	if ( daemon == NULL && view->port < 0 )
		daemon = Listen( view, 0 );
	if ( daemon == NULL )
		return lmbError_Set( error, lmb_statusIo,
		                     "--port %d: cannot listen there (%s); another number may do, 0 takes a free one",
		                     view->port, strerror( errno ) );
	char url[64];
	snprintf( url, sizeof( url ), "http://127.0.0.1:%d/", view->listening );
	lmbCommand_Print( &view->command, "%s    Ctrl-C ends\n", url );
	fflush( stdout );
	if ( !view->noBrowser && isatty( STDOUT_FILENO ) == 1 )
		OpenBrowser( url );
	while ( !lmbJob_Cancelled( &view->command.job ) )
	{
		const struct timespec moment = { .tv_nsec = 50000000 };
		nanosleep( &moment, NULL );
	}
	MHD_stop_daemon( daemon );
	return lmb_statusOk;
}

static lmbStatus Work( View *view, lmbError *error )
{
	const char *path = view->command.arguments[0];
	if ( view->port > 65535 || view->port < -1 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "--port must be in 0 to 65535" );
	bool isModel = EndsWith( path, ".safetensors" );
	bool isLimb = isModel ? lmbViewLimb_IsModel( path ) : IsLimbProject( path );
	LMB_TRY( isLimb ? MakeLimbPage( view, path, isModel, error )
	                : MakeFleshPage( view, path, isModel, error ) );
	return view->html != NULL ? WriteHtml( view, error ) : Serve( view, error );
}

int lmbVerb_View( const lmbVerb *verb, int argc, const char **argv )
{
	View view = { .port = -1 };
	const struct poptOption options[] = {
	    { "character", 0, POPT_ARG_STRING, &view.character, 0, "The character of a character's MODEL",
	      "FILE" },
	    { "motion", 0, POPT_ARG_ARGV, &view.motions, 0, "Show this motion only; may be repeated", "NAME" },
	    { "html", 0, POPT_ARG_STRING, &view.html, 0, "Write one file with everything in it, and do not serve",
	      "FILE" },
	    { "port", 0, POPT_ARG_INT, &view.port, 0, "Port on 127.0.0.1 (default: 8130, or any that is free)",
	      "N" },
	    { "no-browser", 0, POPT_ARG_NONE, &view.noBrowser, 0, "Only say the address", NULL },
	    { "out", 'o', POPT_ARG_STRING, &view.out, 0, "The project's output folder (default: out/NAME)",
	      "DIR" },
	    { "instant", 0, POPT_ARG_NONE, &view.instant, 0, "Show the project's instant model", NULL },
	    LMB_COMMAND_OPTIONS( view.command ) };
	int code = lmbCommand_Begin( &view.command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	lmbError error = { 0 };
	lmbStatus status = Work( &view, &error );
	free( view.text );
	lmbViewPage_Close( &view.page );
	lmbShow_Close( &view.show );
	lmbProject_Free( view.project );
	lmbLimbProject_Free( view.limb );
	return lmbCommand_End( &view.command, status, &error );
}
