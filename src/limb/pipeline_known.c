/* The row of reference of a report: the arm's own equations with numbers found from the same data. */
#include "limb/pipeline_private.h"

#include "limb/known_terms.h"

#include <math.h>

static const double radiansPerDegree = 3.14159265358979323846 / 180.0;

/* The convention of the recordings' angles is what their models say. */
static bool IsAbsolute( const lmbLimbProject *project )
{
	bool absolute = false;
	for ( int i = 0; i < project->modelCount; ++i )
		absolute = absolute || project->models[i].absoluteAngles;
	return absolute;
}

bool lmbLimbPipeline_KnownAcceleration( void *context, const double *q, const double *v, const double *u,
                                        double *a )
{
	const lmbLimbKnown *known = context;
	static const double none[lmbLimbMaxInputs] = { 0 };
	u = known->free ? none : u;
	return known->absolute ? lmbKnownTerms_Absolute( known->plant, q, v, u, a )
	                       : lmbPlant_Acceleration( known->plant, q, v, u, a );
}

static lmbStatus Fit( lmbLimbPipeline *pipeline, const lmbLimbTask *variant, lmbLimbKnown *out,
                      lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	const lmbJob *job = &pipeline->stages.job;
	double added = variant != NULL ? variant->noise : 0.0;
	double noise = radiansPerDegree * sqrt( project->noise * project->noise + added * added );
	lmbTrajectories *set = NULL;
	LMB_TRY( lmbLimbPipeline_NeedTraining( pipeline, error ) );
	lmbStatus status = lmbLimbPipeline_CopyTraining( pipeline, variant != NULL ? variant->sampleCount : 0,
	                                                 added, &set, error );
	if ( status == lmb_statusOk && project->source == lmb_limbSourceArm )
	{
		lmbArmDef arm = lmbLimbProject_ArmDef( project );
		status = lmbKnownTerms_Fit( &arm, set, noise, job, &out->plant, NULL, error );
	}
	else if ( status == lmb_statusOk )
	{
		out->absolute = IsAbsolute( project );
		out->free = set->inputCount == 0;
		status = lmbKnownTerms_FitSegments( set, out->absolute, noise, job, &out->plant, NULL, error );
	}
	lmbTrajectories_Free( set );
	return status;
}

lmbStatus lmbLimbPipeline_FitKnownTerms( lmbLimbPipeline *pipeline, const lmbLimbTask *variant,
                                         lmbLimbKnown **out, lmbError *error )
{
	int threads = lmbLimbPipeline_Threads( pipeline );
	const lmbLimbProject *project = pipeline->project;
	*out = NULL;
	if ( project->source != lmb_limbSourceArm &&
	     !( project->source == lmb_limbSourceRecordings && project->twoSegments ) )
		return lmb_statusOk;
	lmbLimbKnown fitted = { 0 }, *all = LMB_NEW( &pipeline->stages.arena, lmbLimbKnown, threads );
	if ( all == NULL )
		return lmbError_Memory( error );
	lmbStatus status = Fit( pipeline, variant, &fitted, error );
	if ( status == lmb_statusNumerical )
	{
		lmbJob_Note( &pipeline->stages.job, "No row of known terms: %s", error->message );
		*error = ( lmbError ){ 0 };
		return lmb_statusOk;
	}
	for ( int i = 0; i < threads && status == lmb_statusOk; ++i )
	{
		all[i] = fitted;
		all[i].plant = NULL;
		status = lmbPlant_Copy( fitted.plant, &all[i].plant, error );
	}
	lmbPlant_Free( fitted.plant );
	*out = all;
	return status;
}

void lmbLimbPipeline_FreeKnownTerms( const lmbLimbPipeline *pipeline, lmbLimbKnown *known )
{
	for ( int i = 0; known != NULL && i < lmbLimbPipeline_Threads( pipeline ); ++i )
		lmbPlant_Free( known[i].plant );
}
