#include "evaluate/evaluate.h"

#include "flesh/model.h"

lmbStatus lmbPlayer_Open( lmbPlayer *player, const lmbModel *model, const lmbSequence *sequence,
                          lmbLayer layer, bool network, lmbTargetInterpolation interpolation,
                          lmbError *error )
{
	*player = ( lmbPlayer ){ .sequence = sequence };
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.layer = layer;
	def.network = network;
	def.interpolation = interpolation;
	def.normals = false;
	def.poseStiffness = def.poseStiffness && network; /* what no simulation taught knows rest alone */
	player->bones = LMB_NEW( &player->arena, float, 12 * (size_t)sequence->boneCount );
	if ( player->bones == NULL )
		return lmbError_Memory( error );
	return lmbModel_Body( model, &def, &player->arena, &player->body, error );
}

lmbStatus lmbPlayer_Frame( lmbPlayer *player, int frame, const float **positions, lmbError *error )
{
	const lmbSequence *sequence = player->sequence;
	size_t count = 12 * (size_t)sequence->boneCount;
	for ( size_t i = 0; i < count; ++i )
		player->bones[i] = (float)sequence->bones[(size_t)frame * count + i];
	lmbFleshPose pose = { .bones = player->bones, .rotation = { 0.0f, 0.0f, 0.0f, 1.0f } };
	lmbFleshShape shape;
	lmbStatus status = lmbFleshBody_Step( player->body, &pose, 1.0 / sequence->rate, &shape );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "motion \"%s\", frame %d: the runtime refused the step: %s",
		                     sequence->name, frame, lmbStatus_Text( status ) );
	*positions = shape.positions;
	return lmb_statusOk;
}

void lmbPlayer_Close( lmbPlayer *player )
{
	lmbArena_Free( &player->arena );
}

void lmbSequence_Skin( const lmbSequence *sequence, const lmbTissue *tissue, const lmbCharacter *character,
                       int frame, const float *nodes, double *scratch, float *out )
{
	size_t nodeNumbers = 3 * (size_t)tissue->nodeCount, skinNumbers = 3 * (size_t)tissue->vertexCount;
	double *skin = scratch + nodeNumbers;
	for ( size_t i = 0; i < nodeNumbers; ++i )
		scratch[i] = nodes[i];
	lmbTissue_Skin( tissue, character, sequence->bones + (size_t)frame * 12 * (size_t)sequence->boneCount,
	                scratch, skin );
	for ( size_t i = 0; i < skinNumbers; ++i )
		out[i] = (float)skin[i];
}
