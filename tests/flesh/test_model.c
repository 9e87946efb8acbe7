/* The model file and the runtime against the stages' own reference run (lmbSprings_Replay, full forcing),
 * on a beam whose lattice follows its bones as the skin does. */
#include "check.h"

#include "base/files.h"
#include "flesh/box_tissue.h"
#include "flesh/model.h"
#include "flesh/skinning.h"
#include "formats/safetensors.h"

#include <stdlib.h>
#include <unistd.h>

enum
{
	frameCount = 90
};

typedef struct Beam
{
	BoxDef def;
	lmbTissue tissue;
	lmbCharacter character;
	lmbModes *modes;
	lmbSprings *springs;
	lmbSequence sequence;
	lmbArena arena;
	char path[64];
} Beam;

/* Shakes and turns the whole beam, bends it where it has joints. */
static void FillPose( const Beam *beam, double time, double *bones )
{
	int count = beam->def.boneCount;
	double bent[8 * 12], root[12] = { 0 }, turn[9], q[4] = { 0.0, sin( 0.4 * time ), 0.0, cos( 0.4 * time ) };
	Box_BendPose( &beam->def, 0.5 * sin( 7.0 * time ), bent );
	lmbQuat_ToMat33( turn, q );
	for ( int i = 0; i < 3; ++i )
		memcpy( root + 4 * i, turn + 3 * i, 3 * sizeof( double ) );
	root[3] = 0.8 * time;
	root[7] = 0.06 * sin( 11.0 * time );
	root[11] = 0.04 * cos( 5.0 * time );
	for ( int j = 0; j < count; ++j )
		lmbMat34_Multiply( bones + 12 * j, root, bent + 12 * j );
}

static double *Constant( lmbArena *arena, int count, double value )
{
	double *numbers = LMB_NEW( arena, double, count );
	for ( int i = 0; i < count; ++i )
		numbers[i] = value * ( 1.0 + 0.5 * i / count );
	return numbers;
}

static void MakeBeam( Beam *beam, int boneCount )
{
	memset( beam, 0, sizeof( *beam ) );
	beam->def = Box_DefaultDef();
	beam->def.boneCount = boneCount;
	Box_MakeTissue( &beam->def, &beam->tissue );
	Box_MakeCharacter( &beam->tissue, &beam->def, &beam->character );
	lmbError error = { 0 };
	lmbFitDef def = lmbDefaultFitDef();
	lmbDataset nothing = { 0 };
	lmbJob job = { 0 };
	CHECK_INT( lmbModes_Compute( &beam->tissue, 8, &job, &beam->modes, &error ), lmb_statusOk );
	CHECK_INT( lmbSprings_Fit( &beam->character, &beam->tissue, beam->modes, NULL, &nothing, &def, &job,
	                           &beam->springs, &error ),
	           lmb_statusOk );
	CHECK_OR_STOP( beam->springs != NULL );
	/* Nothing was fitted, so let there be something. */
	beam->springs->vertexStiffness = Constant( &beam->arena, beam->tissue.vertexCount, 600.0 );
	beam->springs->vertexDamping = Constant( &beam->arena, beam->tissue.vertexCount, 9.0 );
	beam->springs->remainderStiffness = Constant( &beam->arena, beam->tissue.vertexCount, 3000.0 );
	beam->springs->remainderDamping = Constant( &beam->arena, beam->tissue.vertexCount, 30.0 );
	beam->springs->modeStiffness = beam->springs->modeStiffnessUnfitted;
	beam->springs->modeDamping = beam->springs->modeDampingUnfitted;

	size_t bones = 12 * (size_t)boneCount, nodes = 3 * (size_t)beam->tissue.nodeCount;
	beam->sequence = ( lmbSequence ){ .name = "shake",
	                                  .frameCount = frameCount,
	                                  .boneCount = boneCount,
	                                  .nodeCount = beam->tissue.nodeCount,
	                                  .rate = 60.0,
	                                  .bones = LMB_NEW( &beam->arena, double, bones *frameCount ),
	                                  .still = LMB_NEW( &beam->arena, float, nodes *frameCount ),
	                                  .converged = LMB_NEW( &beam->arena, uint8_t, frameCount ) };
	double *points = LMB_NEW( &beam->arena, double, nodes );
	lmbWeights weights = { beam->tissue.nodeCount, beam->tissue.influenceCount, beam->tissue.nodeBones,
	                       beam->tissue.nodeWeights };
	for ( int n = 0; n < frameCount; ++n )
	{
		FillPose( beam, n / 60.0, beam->sequence.bones + bones * n );
		for ( size_t i = 0; i < bones; ++i ) /* the runtime reads floats; both shall see the same */
			beam->sequence.bones[bones * n + i] = (float)beam->sequence.bones[bones * n + i];
		lmbSkin_Points( &weights, beam->sequence.bones + bones * n, beam->tissue.nodes, points );
		for ( size_t i = 0; i < nodes; ++i )
			beam->sequence.still[nodes * n + i] = (float)points[i];
	}
	strcpy( beam->path, "/tmp/limber-model-XXXXXX" );
	close( mkstemp( beam->path ) );
}

static void FreeBeam( Beam *beam )
{
	beam->springs->modeStiffness = beam->springs->modeDamping = NULL;
	lmbSprings_Free( beam->springs );
	lmbModes_Free( beam->modes );
	Box_Free( &beam->tissue, &beam->character );
	lmbArena_Free( &beam->arena );
	unlink( beam->path );
}

/* RMS of the runtime's displacement against the reference's, and the reference's own RMS. */
static void CompareLayer( Beam *beam, const lmbModel *model, lmbLayer layer,
                          lmbTargetInterpolation interpolation, double *off, double *swing )
{
	static const lmbSpringLayer names[] = { lmb_springsVertex, lmb_springsVertex, lmb_springsModalUnfitted,
	                                        lmb_springsModal, lmb_springsHybrid };
	size_t numbers = 3 * (size_t)beam->tissue.vertexCount;
	lmbArena arena = { 0 };
	float *reference = LMB_NEW( &arena, float, numbers *frameCount );
	lmbError error = { 0 };
	CHECK_INT( lmbSprings_Replay( &beam->character, &beam->tissue, beam->modes, beam->springs, names[layer],
	                              interpolation, &beam->sequence, reference, &error ),
	           lmb_statusOk );
	lmbFleshDef def = { .layer = layer, .interpolation = interpolation }, stillDef = { 0 };
	lmbFleshBody *body, *still;
	CHECK_INT( lmbModel_Body( model, &def, &arena, &body, &error ), lmb_statusOk );
	CHECK_INT( lmbModel_Body( model, &stillDef, &arena, &still, &error ), lmb_statusOk );
	double sum = 0.0, all = 0.0;
	for ( int n = 0; n < frameCount; ++n )
	{
		float bones[8 * 12];
		for ( int i = 0; i < 12 * beam->def.boneCount; ++i )
			bones[i] = (float)beam->sequence.bones[12 * beam->def.boneCount * n + i];
		lmbFleshPose pose = { .bones = bones };
		lmbFleshShape shape, rest;
		CHECK_INT( lmbFleshBody_Step( body, &pose, 1.0 / 60.0, &shape ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Step( still, &pose, 1.0 / 60.0, &rest ), lmb_statusOk );
		for ( size_t i = 0; i < numbers; ++i )
		{
			double u = reference[numbers * n + i], difference = shape.positions[i] - rest.positions[i] - u;
			sum += difference * difference;
			all += u * u;
		}
	}
	*off = sqrt( sum / ( (double)numbers * frameCount ) );
	*swing = sqrt( all / ( (double)numbers * frameCount ) );
	lmbArena_Free( &arena );
}

/* One bone: the reduced forcing is exact, so only roundings differ. Three bones: the rotation of a node is
 * a blend of quaternions, and the reduced form blends the forces instead; measured. */
static void RuntimeAgreesWithReplay( void **state )
{
	(void)state;
	static const char *const names[] = { "", "vertex", "modal unfitted", "modal", "hybrid" };
	for ( int boneCount = 1; boneCount <= 3; boneCount += 2 )
	{
		Beam beam;
		lmbModel model;
		lmbError error = { 0 };
		MakeBeam( &beam, boneCount );
		CHECK_INT( lmbModel_Write( &beam.character, &beam.tissue, NULL, beam.springs, beam.path, &error ),
		           lmb_statusOk );
		CHECK_OR_STOP( lmbModel_Open( &model, beam.path, &error ) == lmb_statusOk );
		for ( int layer = lmb_layerVertex; layer <= lmb_layerHybrid; ++layer )
			for ( int interpolation = 0; interpolation < 2; ++interpolation )
			{
				double off, swing;
				CompareLayer( &beam, &model, (lmbLayer)layer, (lmbTargetInterpolation)interpolation, &off,
				              &swing );
				printf( "%d bones, %s, interpolation %d: %.3g mm RMS, off by %.2g mm\n", boneCount,
				        names[layer], interpolation, 1e3 * swing, 1e3 * off );
				CHECK( swing > 1e-3 );
				/* Floats of nodes half a metre out, with 1 / dt^2 = 3600 and springs of 1 / k = 1 / 600, in
				 * both; the second bound is what was measured, with half as much again. */
				bool exact = boneCount == 1 || layer == lmb_layerVertex;
				CHECK_NEAR( off / swing, 0.0, exact ? 1e-5 : 0.008 );
			}
		lmbModel_Close( &model );
		FreeBeam( &beam );
	}
}

static void PartsThatDoNotBelongTogether( void **state )
{
	(void)state;
	Beam one, three;
	lmbError error = { 0 };
	MakeBeam( &one, 1 );
	MakeBeam( &three, 3 );
	lmbTissue other = one.tissue;
	other.vertexCount -= 1;
	CHECK_INT( lmbModel_Write( &one.character, &other, NULL, NULL, one.path, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "vertices in the tissue" );
	CHECK_INT( lmbModel_Write( &one.character, &one.tissue, NULL, three.springs, one.path, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "3 bones in the springs, 1 in the character" );
	CHECK_INT( lmbModel_Write( &one.character, &one.tissue, NULL, one.springs, "/nowhere/model", &error ),
	           lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/model" );
	lmbModel model;
	CHECK_INT( lmbFile_Write( one.path, "no model", 8, &error ), lmb_statusOk );
	CHECK_INT( lmbModel_Open( &model, one.path, &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, one.path );
	lmbModel_Close( &model );
	FreeBeam( &one );
	FreeBeam( &three );
}

/* The same parts give the same bytes; seams share a normal. */
static void FileIsReproducible( void **state )
{
	(void)state;
	Beam beam;
	MakeBeam( &beam, 3 );
	lmbArena arena = { 0 };
	char *data[2];
	size_t size[2];
	memcpy( beam.character.bind + 3 * 20, beam.character.bind + 3 * 10, 3 * sizeof( double ) ); /* a seam */
	for ( int i = 0; i < 2; ++i )
	{
		CHECK_INT( lmbModel_Write( &beam.character, &beam.tissue, NULL, beam.springs, beam.path, NULL ),
		           lmb_statusOk );
		CHECK_INT( lmbFile_Read( beam.path, &arena, &data[i], &size[i], NULL ), lmb_statusOk );
	}
	CHECK( size[0] == size[1] && memcmp( data[0], data[1], size[0] ) == 0 );
	lmbTensorFile file;
	CHECK_INT( lmbTensorFile_Open( &file, beam.path, "limber.flesh", 1, NULL ), lmb_statusOk );
	int64_t shape[1] = { beam.character.vertexCount };
	const void *groups;
	CHECK_INT( lmbTensorFile_Get( &file, "normal_groups", lmb_dataI32, 1, shape, &groups, NULL ),
	           lmb_statusOk );
	CHECK_INT( ( (const int32_t *)groups )[20], 10 );
	CHECK_INT( ( (const int32_t *)groups )[10], 10 );
	CHECK_INT( ( (const int32_t *)groups )[21], 21 );
	lmbTensorFile_Close( &file );
	lmbArena_Free( &arena );
	FreeBeam( &beam );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RuntimeAgreesWithReplay ),
	    CHECK_TEST( PartsThatDoNotBelongTogether ),
	    CHECK_TEST( FileIsReproducible ),
	};
	return CHECK_RUN( tests );
}
