/* Which columns of a table are time, positions, velocities, accelerations and inputs, and their units. */
#include "limb/recording_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

lmbRecordingDef lmbDefaultRecordingDef( void )
{
	return ( lmbRecordingDef ){ .fewestSamples = 16, .window = 4.0, .unwrap = true, .hold = lmb_inputLinear };
}

const char *lmbRecordingRole_Name( lmbRecordingRole role )
{
	static const char *const names[] = { "other", "time", "position", "velocity", "acceleration", "input" };
	return names[role];
}

static const char *RoleKey( lmbRecordingRole role )
{
	static const char *const names[] = { "", "time", "positions", "velocities", "accelerations", "inputs" };
	return names[role];
}

/* * and ? as in a shell, letters in any case. Linear in practice: only the last star is tried again. */
static bool Matches( const char *pattern, const char *name )
{
	const char *star = NULL, *again = NULL;
	while ( *name != 0 )
	{
		if ( *pattern == '*' )
		{
			star = pattern++;
			again = name;
		}
		else if ( *pattern == '?' || tolower( (unsigned char)*pattern ) == tolower( (unsigned char)*name ) )
		{
			pattern += 1;
			name += 1;
		}
		else if ( star != NULL )
		{
			pattern = star + 1;
			name = ++again;
		}
		else
			return false;
	}
	while ( *pattern == '*' )
		pattern += 1;
	return *pattern == 0;
}

/* The next item of a list, trimmed; false at the end. */
static bool NextItem( const char **list, char *out, size_t size )
{
	while ( **list == ' ' || **list == ',' )
		*list += 1;
	size_t length = strcspn( *list, "," );
	const char *start = *list;
	*list += length;
	while ( length > 0 && start[length - 1] == ' ' )
		length -= 1;
	snprintf( out, size, "%.*s", (int)( length < size ? length : size - 1 ), start );
	return length > 0;
}

/* Calls the columns of a list one by one through `mark`, (columnCount), which gets 1, 2, .. in the list's
 * order. */
static lmbStatus MarkList( const lmbTable *table, const char *key, const char *list, int *marks,
                           lmbError *error )
{
	char item[512];
	int next = 1;
	while ( NextItem( &list, item, sizeof( item ) ) )
	{
		int column = lmbTable_Column( table, item ), found = column >= 0;
		if ( found && marks[column] == 0 )
			marks[column] = next++;
		for ( int c = 0; c < table->columnCount && column < 0; ++c )
			if ( strpbrk( item, "*?" ) != NULL && Matches( item, table->names[c] ) )
			{
				found = 1;
				if ( marks[c] == 0 )
					marks[c] = next++;
			}
		if ( !found )
		{
			lmbStatus status = lmbTable_Need( table, item, &column, error );
			char prefix[64];
			snprintf( prefix, sizeof( prefix ), "%s", key );
			lmbError_Prefix( error, prefix );
			return status;
		}
	}
	return lmb_statusOk;
}

/* Units that we know, and what one is in SI. */
static const struct
{
	const char *text;
	double factor;
} units[] = {
    { "s", 1 },
    { "sec", 1 },
    { "seconds", 1 },
    { "ms", 1e-3 },
    { "msec", 1e-3 },
    { "us", 1e-6 },
    { "ns", 1e-9 },
    { "min", 60 },
    { "rad", 1 },
    { "radians", 1 },
    { "rad/s", 1 },
    { "rad/s^2", 1 },
    { "rad/s2", 1 },
    { "m", 1 },
    { "cm", 0.01 },
    { "mm", 1e-3 },
    { "m/s", 1 },
    { "mm/s", 1e-3 },
    { "m/s^2", 1 },
    { "m/s2", 1 },
    { "n", 1 },
    { "nm", 1 },
    { "n m", 1 },
    { "n*m", 1 },
    { "n.m", 1 },
    { "nmm", 1e-3 },
    { "n mm", 1e-3 },
    { "n*mm", 1e-3 },
    { "mnm", 1e-3 },
    { "knm", 1e3 },
    { "deg", -1 },
    { "degree", -1 },
    { "degrees", -1 },
    { "deg/s", -1 },
    { "deg/s^2", -1 },
    { "deg/s2", -1 },
    { "deg/sec", -1 },
    { "\xc2\xb0", -1 },
    { "\xc2\xb0/s", -1 },
    { "\xc2\xb0/s^2", -1 },
    { "\xc2\xb0/s2", -1 },
    { "\xc2\xb0/s\xc2\xb2", -1 },
};

static double UnitFactor( const char *unit, size_t length )
{
	for ( size_t i = 0; i < sizeof( units ) / sizeof( units[0] ); ++i )
		if ( strlen( units[i].text ) == length && strncasecmp( units[i].text, unit, length ) == 0 )
			return units[i].factor < 0 ? acos( -1.0 ) / 180.0 : units[i].factor;
	return 0.0;
}

/* The unit that the file gives to a column: a row of units, "name (deg)", "name [deg]", "name_deg". */
static const char *FindUnit( lmbTable *table, int column, double *factor )
{
	const char *row = table->units[column], *name = table->names[column];
	const char *start = row != NULL ? row : strpbrk( name, "([" );
	size_t length = start != NULL ? strlen( start ) : 0;
	if ( start == NULL )
	{
		start = strrchr( name, '_' );
		start = start != NULL ? start + 1 : name + strlen( name );
		length = strlen( start );
	}
	else
	{
		while ( length > 0 && strchr( "([ ", *start ) != NULL )
		{
			start += 1;
			length -= 1;
		}
		while ( length > 0 && strchr( ")] ", start[length - 1] ) != NULL )
			length -= 1;
	}
	*factor = UnitFactor( start, length );
	/* "r_elbow_m" is hardly in metres. */
	bool suffix = row == NULL && strpbrk( name, "([" ) == NULL;
	if ( *factor == 0.0 ||
	     ( suffix && length < 2 && strcasecmp( name, "time_s" ) != 0 && strcasecmp( name, "t_s" ) != 0 ) )
	{
		*factor = 1.0;
		return "";
	}
	char *copy = lmbArena_New( &table->arena, length + 1, 1 );
	if ( copy != NULL )
		snprintf( copy, length + 1, "%s", start );
	return copy;
}

/* The name in small letters, without unit and path, for guessing. */
static void PlainName( const char *name, char *out, size_t size )
{
	const char *bracket = strpbrk( name, "([" );
	size_t length = bracket != NULL && bracket > name ? (size_t)( bracket - name ) : strlen( name );
	length = length < size ? length : size - 1;
	for ( size_t i = 0; i < length; ++i )
		out[i] = (char)tolower( (unsigned char)name[i] );
	while ( length > 0 && ( out[length - 1] == ' ' || out[length - 1] == '_' ) )
		length -= 1;
	out[length] = 0;
}

/* Names from papers, textbooks, OpenSim, MuJoCo and Simscape; the first that matches decides. N: a digit, or
 * nothing more. */
static const struct
{
	const char *pattern;
	lmbRecordingRole role;
} guesses[] = {
    { "time", lmb_recordingTime },
    { "t", lmb_recordingTime },
    { "times", lmb_recordingTime },
    { "time_*", lmb_recordingTime },
    { "timestamp*", lmb_recordingTime },
    { "t_s", lmb_recordingTime },
    { "t_ms", lmb_recordingTime },
    { "seconds", lmb_recordingTime },
    { "zeit", lmb_recordingTime },
    { "temps", lmb_recordingTime },
    { "qddN", lmb_recordingAcceleration },
    { "ddqN", lmb_recordingAcceleration },
    { "ddphiN", lmb_recordingAcceleration },
    { "ddthetaN", lmb_recordingAcceleration },
    { "qaccN", lmb_recordingAcceleration },
    { "accN", lmb_recordingAcceleration },
    { "qddotN", lmb_recordingAcceleration },
    { "*acceleration*", lmb_recordingAcceleration },
    { "*_acc", lmb_recordingAcceleration },
    { "*_udot", lmb_recordingAcceleration },
    { "qdN", lmb_recordingVelocity },
    { "dqN", lmb_recordingVelocity },
    { "dphiN", lmb_recordingVelocity },
    { "dthetaN", lmb_recordingVelocity },
    { "qvelN", lmb_recordingVelocity },
    { "velN", lmb_recordingVelocity },
    { "qdotN", lmb_recordingVelocity },
    { "omegaN", lmb_recordingVelocity },
    { "vN", lmb_recordingVelocity },
    { "wN", lmb_recordingVelocity },
    { "*velocity*", lmb_recordingVelocity },
    { "*speed*", lmb_recordingVelocity },
    { "*_vel", lmb_recordingVelocity },
    { "*_dot", lmb_recordingVelocity },
    { "*_u", lmb_recordingVelocity },
    { "tauN", lmb_recordingInput },
    { "torqueN", lmb_recordingInput },
    { "trqN", lmb_recordingInput },
    { "uN", lmb_recordingInput },
    { "ctrlN", lmb_recordingInput },
    { "inputN", lmb_recordingInput },
    { "*torque*", lmb_recordingInput },
    { "*moment", lmb_recordingInput },
    { "*_tau", lmb_recordingInput },
    { "*activation*", lmb_recordingInput },
    { "*_act", lmb_recordingInput },
    { "*emg*", lmb_recordingInput },
    { "*excitation*", lmb_recordingInput },
    { "qN", lmb_recordingPosition },
    { "phiN", lmb_recordingPosition },
    { "thetaN", lmb_recordingPosition },
    { "qposN", lmb_recordingPosition },
    { "thN", lmb_recordingPosition },
    { "angleN", lmb_recordingPosition },
    { "posN", lmb_recordingPosition },
    { "*angle*", lmb_recordingPosition },
    { "*position*", lmb_recordingPosition },
    { "*/value", lmb_recordingPosition },
    { "*_flex*", lmb_recordingPosition },
    { "*_elev*", lmb_recordingPosition },
    { "*_add*", lmb_recordingPosition },
    { "*_rot*", lmb_recordingPosition },
    { "shoulder*", lmb_recordingPosition },
    { "elbow*", lmb_recordingPosition },
    { "wrist*", lmb_recordingPosition },
    { "hip*", lmb_recordingPosition },
    { "knee*", lmb_recordingPosition },
    { "ankle*", lmb_recordingPosition },
};

static bool MatchesGuess( const char *pattern, const char *name )
{
	size_t length = strlen( pattern );
	if ( pattern[length - 1] != 'N' )
		return Matches( pattern, name );
	if ( strncmp( pattern, name, length - 1 ) != 0 )
		return false;
	const char *rest = name + length - 1;
	/* q, q1, q_1, q_deg, q1_deg; not "quality". */
	return *rest == 0 || *rest == '_' || *rest == '[' || isdigit( (unsigned char)*rest );
}

static lmbRecordingRole GuessRole( const lmbTable *table, int column )
{
	char name[256];
	PlainName( table->names[column], name, sizeof( name ) );
	for ( size_t i = 0; i < sizeof( guesses ) / sizeof( guesses[0] ); ++i )
		if ( MatchesGuess( guesses[i].pattern, name ) )
		{
			const char *title = table->format == lmb_tableOpenSim ? lmbTable_Fact( table, "name" ) : NULL;
			/* OpenSim writes speeds and accelerations under the coordinates' own names. */
			if ( title != NULL && guesses[i].role == lmb_recordingPosition &&
			     strcasecmp( title, "Speeds" ) == 0 )
				return lmb_recordingVelocity;
			if ( title != NULL && guesses[i].role == lmb_recordingPosition &&
			     strcasecmp( title, "Accelerations" ) == 0 )
				return lmb_recordingAcceleration;
			return guesses[i].role;
		}
	const char *title = table->format == lmb_tableOpenSim ? lmbTable_Fact( table, "name" ) : NULL;
	return title != NULL && strcasecmp( title, "Coordinates" ) == 0 ? lmb_recordingPosition
	                                                                : lmb_recordingOther;
}

/* The list of one role as told, or guessed. roles (columnCount). */
static lmbStatus TakeRole( lmbTable *table, const char *list, lmbRecordingRole role,
                           const lmbRecordingRole *guessed, lmbRecordingColumns *out, lmbError *error )
{
	int *marks = LMB_NEW( &table->arena, int, table->columnCount );
	out->items[role] = LMB_NEW( &table->arena, int, table->columnCount );
	if ( marks == NULL || out->items[role] == NULL )
		return lmbError_Memory( error );
	if ( list != NULL )
	{
		LMB_TRY( MarkList( table, RoleKey( role ), list, marks, error ) );
		for ( int c = 0; c < table->columnCount; ++c )
			if ( marks[c] > 0 )
			{
				out->items[role][marks[c] - 1] = c;
				out->counts[role] += 1;
			}
		return lmb_statusOk;
	}
	char names[400] = "";
	for ( int c = 0; c < table->columnCount; ++c )
		if ( guessed[c] == role && !table->text[c] )
		{
			out->items[role][out->counts[role]++] = c;
			size_t used = strlen( names );
			snprintf( names + used, sizeof( names ) - used, "%s%s", used > 0 ? ", " : "", table->names[c] );
			if ( role == lmb_recordingTime )
				break;
		}
	if ( out->counts[role] == 0 )
		return lmb_statusOk;
	return lmbTable_Note( table, error, "guessed %s: %s", RoleKey( role ), names );
}

/* What cannot be used is dropped when it was guessed and an error when it was told. */
static lmbStatus CheckRole( lmbTable *table, const lmbRecordingDef *def, const char *told,
                            lmbRecordingRole role, lmbRecordingColumns *out, lmbError *error )
{
	(void)def;
	int need = out->counts[lmb_recordingPosition], have = out->counts[role];
	if ( have == 0 || have == need )
		return lmb_statusOk;
	if ( told != NULL )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: %d columns of %s for %d of positions; name one for each position, in the same order",
		    table->path, have, RoleKey( role ), need );
	out->counts[role] = 0;
	return lmbTable_Note( table, error, "%d columns look like %s, but there are %d positions: left out", have,
	                      RoleKey( role ), need );
}

static lmbStatus CheckStrictly( lmbTable *table, const lmbRecordingDef *def, lmbRecordingColumns *out,
                                lmbError *error )
{
	int dofs = out->counts[lmb_recordingPosition], inputs = out->counts[lmb_recordingInput];
	if ( dofs == 0 )
	{
		int column;
		lmbError list = { 0 };
		lmbTable_Need( table, "", &column, &list );
		const char *names = strstr( list.message, "name one of " );
		return lmbError_Set(
		    error, lmb_statusNotFound,
		    "%s: no column looks like a joint's position; say which are (positions): the columns are %s",
		    table->path, names != NULL ? names + 12 : "" );
	}
	if ( dofs > lmbLimbMaxDofs || inputs > lmbLimbMaxInputs )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: %d positions and %d inputs; at most %d and %d: name the ones to use",
		                     table->path, dofs, inputs, lmbLimbMaxDofs, lmbLimbMaxInputs );
	LMB_TRY( CheckRole( table, def, def->velocities, lmb_recordingVelocity, out, error ) );
	LMB_TRY( CheckRole( table, def, def->accelerations, lmb_recordingAcceleration, out, error ) );
	for ( int c = 0; c < table->columnCount && out->time < 0 && def->time == NULL; ++c )
		if ( table->text[c] && GuessRole( table, c ) == lmb_recordingTime )
			return lmbError_Set(
			    error, lmb_statusUnsupported,
			    "%s: the time in column \"%.200s\" is written as words (a date or a clock?); write it as "
			    "seconds, or give no time (\"\") and the rate of the samples",
			    table->path, table->names[c] );
	if ( out->time < 0 && !( def->rate > 0.0 ) )
		return lmbError_Set(
		    error, lmb_statusNotFound,
		    "%s: no column looks like the time; say which is (time), or the rate of the samples in Hz "
		    "(rate)",
		    table->path );
	for ( int role = lmb_recordingTime; role < lmb_recordingRoleCount; ++role )
		for ( int i = 0; i < out->counts[role]; ++i )
			if ( table->text[out->items[role][i]] )
				return lmbError_Set( error, lmb_statusCorrupt,
				                     "%s: column \"%s\" holds words, not numbers; name another", table->path,
				                     table->names[out->items[role][i]] );
	return lmb_statusOk;
}

static bool EndsWith( const char *text, const char *end )
{
	size_t length = strlen( text ), need = strlen( end );
	return length >= need && strcasecmp( text + length - need, end ) == 0;
}

/* Metres: told, or by the unit, or as OpenSim names translations. */
static lmbStatus FindSlides( lmbTable *table, const lmbRecordingDef *def, lmbRecordingColumns *out,
                             lmbError *error )
{
	int *told = LMB_NEW( &table->arena, int, table->columnCount );
	out->slides = LMB_NEW( &table->arena, bool, out->counts[lmb_recordingPosition] );
	if ( told == NULL || out->slides == NULL )
		return lmbError_Memory( error );
	LMB_TRY( MarkList( table, "slides", def->slides != NULL ? def->slides : "", told, error ) );
	for ( int i = 0; i < out->counts[lmb_recordingPosition]; ++i )
	{
		int c = out->items[lmb_recordingPosition][i];
		const char *name = table->names[c], *unit = out->units[c];
		bool metres = EndsWith( unit, "m" ) && strlen( unit ) <= 2;
		bool translation = EndsWith( name, "_tx" ) || EndsWith( name, "_ty" ) || EndsWith( name, "_tz" );
		out->slides[i] = told[c] != 0 || ( def->slides == NULL && ( metres || translation ) );
		if ( out->slides[i] && told[c] == 0 )
			LMB_TRY( lmbTable_Note( table, error, "guessed that \"%.100s\" is in metres", name ) );
	}
	return lmb_statusOk;
}

/* The unit of one column of angles: told, else what the column says, else what the header says of all. */
static void SetAngles( const lmbTable *table, int c, int role, bool degrees, bool radians,
                       lmbRecordingColumns *out )
{
	static const char *const angular[] = { "", "", "deg", "deg/s", "deg/s^2" };
	static const char *const plain[] = { "", "", "rad", "rad/s", "rad/s^2" };
	bool said = out->units[c][0] != 0, told = degrees || radians;
	if ( degrees || ( !said && !told && table->angles == lmb_tableAnglesDegrees ) )
	{
		out->factors[c] = acos( -1.0 ) / 180.0;
		out->units[c] = angular[role];
	}
	else if ( radians || ( !said && !told && table->angles == lmb_tableAnglesRadians ) )
	{
		out->factors[c] = 1.0;
		out->units[c] = plain[role];
	}
}

static lmbStatus TakeUnits( lmbTable *table, const lmbRecordingDef *def, lmbRecordingColumns *out,
                            lmbError *error )
{
	int count = table->columnCount;
	out->factors = LMB_NEW( &table->arena, double, count );
	out->units = LMB_NEW( &table->arena, const char *, count );
	int *degrees = LMB_NEW( &table->arena, int, count ), *radians = LMB_NEW( &table->arena, int, count );
	if ( out->factors == NULL || out->units == NULL || degrees == NULL || radians == NULL )
		return lmbError_Memory( error );
	LMB_TRY( MarkList( table, "degrees", def->degrees != NULL ? def->degrees : "", degrees, error ) );
	LMB_TRY( MarkList( table, "radians", def->radians != NULL ? def->radians : "", radians, error ) );
	for ( int c = 0; c < count; ++c )
	{
		if ( degrees[c] != 0 && radians[c] != 0 )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s: column \"%.200s\" is named in degrees and in radians; name it in one",
			                     table->path, table->names[c] );
		out->units[c] = FindUnit( table, c, &out->factors[c] );
		if ( out->units[c] == NULL )
			return lmbError_Memory( error );
	}
	LMB_TRY( FindSlides( table, def, out, error ) );
	for ( int role = lmb_recordingPosition; role <= lmb_recordingAcceleration; ++role )
		for ( int i = 0; i < out->counts[role]; ++i )
		{
			int c = out->items[role][i];
			if ( i >= out->counts[lmb_recordingPosition] || !out->slides[i] )
				SetAngles( table, c, role, degrees[c] != 0, radians[c] != 0, out );
		}
	if ( out->time >= 0 && def->timeUnit > 0.0 )
		out->factors[out->time] = def->timeUnit;
	return lmb_statusOk;
}

/* Without a name: the first column if it increases all the way. */
static bool FirstIncreases( const lmbTable *table )
{
	for ( int r = 0; r < table->rowCount; ++r )
		if ( r > 0 ? !( table->columns[0][r] > table->columns[0][r - 1] )
		           : !isfinite( table->columns[0][0] ) )
			return false;
	return table->rowCount > 2;
}

lmbStatus lmbRecordingColumns_Find( lmbTable *table, const lmbRecordingDef *def, bool strict,
                                    lmbRecordingColumns *out, lmbError *error )
{
	const char *lists[] = { NULL,       def->time, def->positions, def->velocities, def->accelerations,
	                        def->inputs };
	*out = ( lmbRecordingColumns ){ .time = -1 };
	lmbRecordingRole *guessed = LMB_NEW( &table->arena, lmbRecordingRole, table->columnCount );
	int *told = LMB_NEW( &table->arena, int, table->columnCount );
	if ( guessed == NULL || told == NULL )
		return lmbError_Memory( error );
	for ( int role = lmb_recordingTime; role < lmb_recordingRoleCount; ++role )
		LMB_TRY( MarkList( table, RoleKey( (lmbRecordingRole)role ), lists[role] != NULL ? lists[role] : "",
		                   told, error ) );
	bool anyTime = false;
	for ( int c = 0; c < table->columnCount; ++c )
	{
		guessed[c] = told[c] != 0 ? lmb_recordingOther : GuessRole( table, c );
		anyTime = anyTime || guessed[c] == lmb_recordingTime;
	}
	if ( !anyTime && told[0] == 0 && table->columnCount > 1 && guessed[0] == lmb_recordingOther &&
	     FirstIncreases( table ) )
		guessed[0] = lmb_recordingTime;
	for ( int role = lmb_recordingTime; role < lmb_recordingRoleCount; ++role )
		LMB_TRY( TakeRole( table, lists[role], (lmbRecordingRole)role, guessed, out, error ) );
	if ( out->counts[lmb_recordingTime] > 1 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: time: %d columns; name one", table->path,
		                     out->counts[lmb_recordingTime] );
	out->time = out->counts[lmb_recordingTime] == 1 ? out->items[lmb_recordingTime][0] : -1;
	if ( strict )
		LMB_TRY( CheckStrictly( table, def, out, error ) );
	return TakeUnits( table, def, out, error );
}
