/* The row of reference of a report: the arm's own equations with numbers found from the same data. */
#include "limb/pipeline_private.h"

#include "limb/known_terms.h"

#include <math.h>

static const double radiansPerDegree = 3.14159265358979323846 / 180.0;

static lmbStatus Fit( lmbLimbPipeline *pipeline, const lmbLimbTask *variant, lmbPlant **out, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	lmbArmDef arm = lmbLimbProject_ArmDef( project );
	double added = variant != NULL ? variant->noise : 0.0;
	double noise = radiansPerDegree * sqrt( project->noise * project->noise + added * added );
	lmbTrajectories *set = NULL;
	LMB_TRY( lmbLimbPipeline_NeedTraining( pipeline, error ) );
	lmbStatus status = lmbLimbPipeline_CopyTraining( pipeline, variant != NULL ? variant->sampleCount : 0,
	                                                 added, &set, error );
	if ( status == lmb_statusOk )
		status = lmbKnownTerms_Fit( &arm, set, noise, &pipeline->stages.job, out, NULL, error );
	lmbTrajectories_Free( set );
	return status;
}

lmbStatus lmbLimbPipeline_FitKnownTerms( lmbLimbPipeline *pipeline, const lmbLimbTask *variant,
                                         lmbPlant ***out, lmbError *error )
{
	int threads = lmbLimbPipeline_Threads( pipeline );
	*out = NULL;
	if ( pipeline->project->source != lmb_limbSourceArm )
		return lmb_statusOk;
	lmbPlant *fitted = NULL, **plants = LMB_NEW( &pipeline->stages.arena, lmbPlant *, threads );
	if ( plants == NULL )
		return lmbError_Memory( error );
	lmbStatus status = Fit( pipeline, variant, &fitted, error );
	if ( status == lmb_statusNumerical )
	{
		lmbJob_Note( &pipeline->stages.job, "No row of known terms: %s", error->message );
		*error = ( lmbError ){ 0 };
		return lmb_statusOk;
	}
	for ( int i = 0; i < threads && status == lmb_statusOk; ++i )
		status = lmbPlant_Copy( fitted, &plants[i], error );
	lmbPlant_Free( fitted );
	*out = plants;
	return status;
}

void lmbLimbPipeline_FreeKnownTerms( const lmbLimbPipeline *pipeline, lmbPlant **plants )
{
	for ( int i = 0; plants != NULL && i < lmbLimbPipeline_Threads( pipeline ); ++i )
		lmbPlant_Free( plants[i] );
}
