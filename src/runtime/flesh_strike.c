/* A blow at a place: flesh within reach gains velocity at once, so a step stays exact. An impulse J spread
 * over skin by shares s_v (their sum 1) gives mode m the velocity sum s_v Phi_m(v) . R_v^T J, since the
 * shapes are those of unit modal mass. A vertex's own spring has no mass; the flesh under the skin is taken
 * to be half as deep as the blow is wide, of the density of water. */
#include "flesh_body.h"

#include "functions.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

static const double fleshDensity = 1000.0; /* kg/m^3 */
static const double fastestBlow = 1e4;     /* m/s; a stronger one is weakened to that */

/* A blow on the body's own scale and in its own time, world axes from the body's position. */
typedef struct Blow
{
	double point[3], impulse[3], radius;
	double speed; /* of a vertex at the point, for an impulse of 1 */
	double total; /* m^2: weight times area, all vertices */
} Blow;

static bool StrikeIsSound( const lmbFleshStrike *strike )
{
	bool sound = strike != NULL && strike->radius >= 1e-4 && strike->radius <= 1e3;
	for ( int i = 0; sound && i < 3; ++i )
		sound = fabs( strike->point[i] ) <= 1e12 && fabs( strike->impulse[i] ) <= 1e6;
	return sound;
}

/* Bones of the last frame as a palette of the world, for the kernel that skins. */
static void PlaceLastBones( lmbFleshBody *body )
{
	for ( int bone = 0; bone < body->model->info.boneCount; ++bone )
	{
		const double *matrix = body->bones + 12 * (size_t)bone;
		float *palette = body->palette + (size_t)bone * lmbBoneFloats;
		double quaternion[4];
		lmbQuaternion_Nearest( body->turns + 9 * (size_t)bone, quaternion );
		for ( int column = 0; column < 4; ++column )
		{
			for ( int row = 0; row < 3; ++row )
				palette[4 * column + row] = (float)matrix[4 * row + column];
			palette[4 * column + 3] = (float)quaternion[column];
			for ( int copy = 0; copy < 4; ++copy )
				palette[lmbBoneQuaternion + 4 * copy + column] = (float)quaternion[column];
		}
	}
}

/* Where a block's vertices were at the last frame, from the state alone, so that a restored body is struck
 * alike; and with modes how the skin lay. */
static void LocateBlock( const lmbFleshBody *body, int block, float *places, float *quaternions )
{
	lmbSkin skin = lmbFleshBody_Skin( body, block );
	if ( body->hasModes )
		body->kernels->skin( &skin, places, quaternions );
	if ( !body->hasVertexSprings )
		return;
	const float *state = body->vertices + (size_t)block * lmbVertexPlanes * lmbLanes;
	for ( int i = 0; i < 3 * lmbLanes; ++i )
		places[i] = state[lmbPlaneY * lmbLanes + i] + state[lmbPlaneU * lmbLanes + i];
}

static void WeighVertices( lmbFleshBody *body, const Blow *blow )
{
	const lmbFlesh *model = body->model;
	float places[3 * lmbLanes], quaternions[4 * lmbLanes];
	memset( body->struck, 0, 2 * (size_t)model->info.vertexCount * sizeof( float ) );
	for ( int block = 0; block < model->softBlockCount; ++block )
	{
		LocateBlock( body, block, places, quaternions );
		for ( int l = 0; l < lmbLanes; ++l )
		{
			int v = model->order[block * lmbLanes + l];
			double square = 0.0;
			for ( int axis = 0; axis < 3; ++axis )
			{
				double away = places[axis * lmbLanes + l] - blow->point[axis];
				square += away * away;
			}
			double left = 1.0 - square / ( blow->radius * blow->radius );
			if ( v >= 0 && left > 0.0 )
				body->struck[v] = (float)( left * left );
		}
	}
}

/* Each corner has a third of its triangle's area, in bind. Returns the sum of weight times area. */
static double WeighAreas( lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	const float *weights = body->struck;
	float *shares = body->struck + model->info.vertexCount;
	double total = 0.0;
	for ( int t = 0; t < model->info.triangleCount; ++t )
	{
		const int32_t *corners = model->triangles + 3 * (size_t)t;
		double e[2][3], cross[3];
		if ( weights[corners[0]] + weights[corners[1]] + weights[corners[2]] <= 0.0f )
			continue;
		for ( int i = 0; i < 6; ++i )
			e[i / 3][i % 3] = (double)model->bind[3 * (size_t)corners[1 + i / 3] + (size_t)( i % 3 )] -
			                  model->bind[3 * (size_t)corners[0] + (size_t)( i % 3 )];
		for ( int i = 0; i < 3; ++i )
			cross[i] = e[0][( i + 1 ) % 3] * e[1][( i + 2 ) % 3] - e[0][( i + 2 ) % 3] * e[1][( i + 1 ) % 3];
		double area = sqrt( cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2] ) / 6.0;
		for ( int i = 0; i < 3; ++i )
		{
			shares[corners[i]] += (float)( area * weights[corners[i]] );
			total += area * weights[corners[i]];
		}
	}
	return total;
}

/* The velocities that the blow gives the modes, in modeAmounts[0], as the state counts them and as they show.
 */
static void StrikeModes( lmbFleshBody *body, const Blow *blow )
{
	const lmbFlesh *model = body->model;
	const float *shares = body->struck + model->info.vertexCount;
	int modes = model->info.modeCount;
	double *gained = body->modes + modes;
	float places[3 * lmbLanes], quaternions[4 * lmbLanes];
	memset( body->modeAmounts[0], 0, (size_t)model->modePad * sizeof( float ) );
	for ( int block = 0; block < model->softBlockCount; ++block )
	{
		float pushes[3 * lmbLanes], shape[3 * lmbLanes];
		bool any = false;
		LocateBlock( body, block, places, quaternions );
		for ( int l = 0; l < lmbLanes; ++l )
		{
			int v = model->order[block * lmbLanes + l];
			double share = v < 0 ? 0.0 : shares[v] / blow->total;
			any = any || share > 0.0;
			/* The opposite turn: R^T J. */
			for ( int i = 0; i < 3; ++i )
			{
				quaternions[i * lmbLanes + l] = -quaternions[i * lmbLanes + l];
				places[i * lmbLanes + l] = (float)( share * blow->impulse[i] );
			}
		}
		if ( !any )
			continue;
		body->kernels->rotate( quaternions, places, pushes );
		for ( int m = 0; m < modes; ++m )
		{
			double sum = 0.0;
			lmbFleshBlock_Mode( model, block, m, shape );
			for ( int i = 0; i < 3 * lmbLanes; ++i )
				sum += (double)pushes[i] * shape[i];
			body->modeAmounts[0][m] += (float)sum;
		}
	}
	for ( int m = 0; m < modes; ++m )
		gained[m] +=
		    body->modeAmounts[0][m] * ( body->followsPose ? lmbExp( -0.25 * body->modeLogs[m] ) : 1.0 );
}

/* What the modes' gain moves at a block's vertices, world axes. */
static void SumGain( const lmbFleshBody *body, int block, const float *quaternions, float *out )
{
	float shape[3 * lmbLanes], sum[3 * lmbLanes];
	memset( sum, 0, sizeof( sum ) );
	for ( int m = 0; m < body->model->info.modeCount; ++m )
	{
		lmbFleshBlock_Mode( body->model, block, m, shape );
		for ( int i = 0; i < 3 * lmbLanes; ++i )
			sum[i] += body->modeAmounts[0][m] * shape[i];
	}
	body->kernels->rotate( quaternions, sum, out );
}

/* A vertex gains what the blow gives it, less what the modes have of that. */
static void StrikeVertices( lmbFleshBody *body, const Blow *blow )
{
	const lmbFlesh *model = body->model;
	float places[3 * lmbLanes], quaternions[4 * lmbLanes], taken[3 * lmbLanes] = { 0.0f };
	for ( int block = 0; block < model->softBlockCount; ++block )
	{
		float *velocity = body->vertices + ( (size_t)block * lmbVertexPlanes + lmbPlaneV ) * lmbLanes;
		if ( body->hasModes )
		{
			LocateBlock( body, block, places, quaternions );
			SumGain( body, block, quaternions, taken );
		}
		for ( int i = 0; i < 3 * lmbLanes; ++i )
		{
			int v = model->order[block * lmbLanes + i % lmbLanes];
			if ( v >= 0 )
				velocity[i] +=
				    (float)( blow->speed * body->struck[v] * blow->impulse[i / lmbLanes] ) - taken[i];
		}
	}
}

/* A body of another size weighs as the cube of it. */
static void ScaleBlow( const lmbFleshBody *body, const lmbFleshStrike *strike, Blow *blow )
{
	const lmbFleshClock *clock = body->clock;
	double scale = clock->scale, mass = scale * scale * scale;
	for ( int i = 0; i < 3; ++i )
	{
		blow->point[i] = ( strike->point[i] - clock->position[i] ) / scale;
		blow->impulse[i] = strike->impulse[i] * lmbFleshBody_SpeedScale( body, scale ) / mass;
	}
	blow->radius = strike->radius / scale;
}

/* Weakens a blow that would make a vertex faster than fastestBlow. */
static void LimitBlow( Blow *blow )
{
	double largest = 0.0;
	for ( int i = 0; i < 3; ++i )
		largest = fabs( blow->impulse[i] ) > largest ? fabs( blow->impulse[i] ) : largest;
	double speed = blow->speed * largest;
	for ( int i = 0; i < 3 && speed > fastestBlow; ++i )
		blow->impulse[i] *= fastestBlow / speed;
}

lmbStatus lmbFleshBody_Strike( lmbFleshBody *body, const lmbFleshStrike *strike )
{
	Blow blow = { .total = 0.0 };
	if ( !StrikeIsSound( strike ) || body->clock->known == 0 )
		return lmb_statusInvalidArgument;
	if ( !body->hasModes && !body->hasVertexSprings )
		return lmb_statusOk;
	ScaleBlow( body, strike, &blow );
	if ( body->hasModes )
		PlaceLastBones( body );
	WeighVertices( body, &blow );
	blow.total = WeighAreas( body );
	if ( !( blow.total > 1e-12 ) ) /* nothing soft within reach */
		return lmb_statusOk;
	blow.speed = 1.0 / ( fleshDensity * 0.5 * blow.radius * blow.total );
	LimitBlow( &blow );
	if ( body->hasModes )
		StrikeModes( body, &blow );
	if ( body->hasVertexSprings )
		StrikeVertices( body, &blow );
	return lmb_statusOk;
}
