#include "motion.h"

#include "base/math3.h"

static const double degree = 3.14159265358979323846 / 180.0;

double Puppet_Ramp( double t )
{
	t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
	return t * t * t * ( 10.0 + t * ( 6.0 * t - 15.0 ) );
}

double Puppet_Bump( double t )
{
	if ( t <= 0.0 || t >= 1.0 )
		return 0.0;
	double product = 4.0 * t * ( 1.0 - t );
	return product * product * product;
}

PuppetControls PuppetControls_Default( void )
{
	PuppetControls controls = { .pelvis = { 0.0, -0.035, 0.0 } };
	for ( int side = 0; side < 2; ++side )
	{
		controls.raise[side] = -52.0;
		controls.elbow[side] = 15.0;
		controls.foot[side][0] = 0.19;
		controls.knee[side] = 12.0;
	}
	return controls;
}

static void AxisTurn( double *q, double x, double y, double z, double degrees )
{
	double s = sin( 0.5 * degree * degrees );
	q[0] = x * s, q[1] = y * s, q[2] = z * s, q[3] = cos( 0.5 * degree * degrees );
}

/* Turn to the left about Y, then forwards about the turned X, then to the left side about the turned Z. */
static void BodyTurn( double *q, double twist, double bend, double side )
{
	double about[3][4], step[4];
	AxisTurn( about[0], 0, 1, 0, twist );
	AxisTurn( about[1], 1, 0, 0, bend );
	AxisTurn( about[2], 0, 0, 1, -side );
	lmbQuat_Multiply( step, about[0], about[1] );
	lmbQuat_Multiply( q, step, about[2] );
}

/* The same turn seen in a mirror at x = 0. */
static void MirrorTurn( double *q )
{
	q[1] = -q[1];
	q[2] = -q[2];
}

static void Conjugate( double *out, const double *q )
{
	for ( int i = 0; i < 4; ++i )
		out[i] = i < 3 ? -q[i] : q[i];
}

static void PoseArm( const PuppetControls *controls, int side, PuppetPose *pose )
{
	const PuppetBone *upper = &puppetBones[puppetUpperArmLeft], *lower = &puppetBones[puppetLowerArmLeft];
	double axis[3], forward[3] = { 0.0, 0.0, 1.0 }, hinge[3], about[4][4], step[4], turn[4];
	lmbSub( axis, lower->joint, upper->joint );
	double length = lmbLength( axis ), bind = atan2( axis[1], axis[0] ) / degree;
	for ( int i = 0; i < 3; ++i )
		axis[i] /= length;
	lmbCross( hinge, axis, forward ); /* turning about it brings the forearm forwards */
	AxisTurn( about[0], 0, 1, 0, -controls->inward[side] );
	AxisTurn( about[1], 1, 0, 0, -controls->flex[side] );
	AxisTurn( about[2], 0, 0, 1, controls->raise[side] - bind );
	AxisTurn( about[3], axis[0], axis[1], axis[2], -controls->roll[side] );
	lmbQuat_Multiply( step, about[0], about[1] );
	lmbQuat_Multiply( turn, step, about[2] );
	lmbQuat_Multiply( step, turn, about[3] );
	AxisTurn( turn, hinge[0], hinge[1], hinge[2], controls->elbow[side] );
	if ( side == 1 )
	{
		MirrorTurn( step );
		MirrorTurn( turn );
	}
	memcpy( pose->rotations[side == 0 ? puppetUpperArmLeft : puppetUpperArmRight], step, sizeof( step ) );
	memcpy( pose->rotations[side == 0 ? puppetLowerArmLeft : puppetLowerArmRight], turn, sizeof( turn ) );
}

/* Rotation matrix with columns along (unit), hinge made orthogonal to it, and their cross product. */
static void MakeFrame( double *m, const double *along, const double *hinge )
{
	double x[3], y[3], z[3], length = lmbLength( along );
	for ( int i = 0; i < 3; ++i )
		x[i] = along[i] / length;
	lmbAddScaled( y, hinge, -lmbDot( hinge, x ), x );
	length = lmbLength( y );
	for ( int i = 0; i < 3; ++i )
		y[i] /= length;
	lmbCross( z, x, y );
	for ( int i = 0; i < 3; ++i )
		m[3 * i] = x[i], m[3 * i + 1] = y[i], m[3 * i + 2] = z[i];
}

/* The turn that carries a bone from its bind direction and hinge to others. */
static void FrameTurn( double *q, const double *fromAlong, const double *fromHinge, const double *along,
                       const double *hinge )
{
	double from[9], to[9], inverse[9], turn[9];
	MakeFrame( from, fromAlong, fromHinge );
	MakeFrame( to, along, hinge );
	lmbMat33_Inverse( inverse, from );
	lmbMat33_Multiply( turn, to, inverse );
	lmbQuat_FromMat33( q, turn );
}

/* Distance from hip to ankle that the leg can take: smooth, and never quite stretched, where the knee
 * would snap. */
static double SoftReach( double reach, double longest )
{
	const double width = 0.012; /* m */
	return -width * log( exp( -reach / width ) + exp( -longest / width ) );
}

/* Two-bone inverse kinematics in the pelvis's frame, mirrored to the left for side 1. hip to ankle is
 * reach; pole is where the knee points. */
static void PoseLeg( const double *reach, const double *pole, double turns[2][4] )
{
	const double *hip = puppetBones[puppetUpperLegLeft].joint, *knee = puppetBones[puppetLowerLegLeft].joint;
	const double *ankle = puppetBones[puppetFootLeft].joint;
	double upper[3], lower[3], straight[3], bindHinge[3], hinge[3], forward[3] = { 0.0, 0.0, 1.0 };
	lmbSub( upper, knee, hip );
	lmbSub( lower, ankle, knee );
	lmbSub( straight, ankle, hip );
	lmbCross( bindHinge, straight, forward );

	double a = lmbLength( upper ), b = lmbLength( lower ), length = lmbLength( reach );
	double distance = SoftReach( length, 0.985 * ( a + b ) );
	double cosine = ( a * a + distance * distance - b * b ) / ( 2.0 * a * distance );
	double along[3], bent[3], thigh[3], shin[3];
	for ( int i = 0; i < 3; ++i )
		along[i] = reach[i] / length;
	lmbCross( hinge, along, pole );
	lmbCross( bent, hinge, along );
	double size = lmbLength( bent );
	for ( int i = 0; i < 3; ++i )
	{
		thigh[i] = a * ( cosine * along[i] + sqrt( 1.0 - cosine * cosine ) * bent[i] / size );
		shin[i] = distance * along[i] - thigh[i];
	}
	double shinTurn[4], inverse[4];
	FrameTurn( turns[0], upper, bindHinge, thigh, hinge );
	FrameTurn( shinTurn, lower, bindHinge, shin, hinge );
	Conjugate( inverse, turns[0] );
	lmbQuat_Multiply( turns[1], inverse, shinTurn );
}

/* The leg that stands where the controls say. pelvis: its turn in the frame of place and heading. All
 * is worked out on the left; for the right side the frame is mirrored on the way in and out. */
static void PlaceLeg( const PuppetControls *controls, int side, const double *pelvis, PuppetPose *pose )
{
	const double *pelvisJoint = puppetBones[puppetPelvis].joint, *foot = controls->foot[side];
	double pelvisTurn[4], rotation[9], ankle[3], root[3], hip[3], reach[3], pole[3];
	double outwards = degree * controls->knee[side];
	double knee[3] = { sin( outwards ), 0.0, cos( outwards ) };
	memcpy( pelvisTurn, pelvis, sizeof( pelvisTurn ) );
	lmbAddScaled( root, pelvisJoint, 1.0, controls->pelvis );
	if ( side == 1 )
	{
		MirrorTurn( pelvisTurn );
		root[0] = -root[0];
	}
	lmbQuat_ToMat33( rotation, pelvisTurn );
	lmbSub( ankle, foot, root );
	ankle[1] += puppetBones[puppetFootLeft].joint[1];
	lmbMat33_ApplyTransposed( reach, rotation, ankle );
	lmbMat33_ApplyTransposed( pole, rotation, knee );
	lmbSub( hip, puppetBones[puppetUpperLegLeft].joint, pelvisJoint );
	lmbSub( reach, reach, hip );

	double turns[3][4], shin[4], toe[4], whole[4];
	PoseLeg( reach, pole, turns );
	lmbQuat_Multiply( whole, pelvisTurn, turns[0] );
	lmbQuat_Multiply( shin, whole, turns[1] );
	BodyTurn( toe, 0.4 * controls->knee[side], -controls->toe[side], 0.0 );
	Conjugate( whole, shin );
	lmbQuat_Multiply( turns[2], whole, toe );
	int first = side == 0 ? puppetUpperLegLeft : puppetUpperLegRight;
	for ( int i = 0; i < 3; ++i )
	{
		if ( side == 1 )
			MirrorTurn( turns[i] );
		memcpy( pose->rotations[first + i], turns[i], sizeof( turns[i] ) );
	}
}

void PuppetControls_Pose( const PuppetControls *controls, PuppetPose *pose )
{
	double heading[4], pelvis[4], rotation[9], offset[3];
	AxisTurn( heading, 0, 1, 0, controls->heading );
	BodyTurn( pelvis, controls->turn, controls->bow, controls->lean );
	lmbQuat_Multiply( pose->rotations[puppetPelvis], heading, pelvis );
	lmbQuat_ToMat33( rotation, heading );
	lmbAddScaled( offset, puppetBones[puppetPelvis].joint, 1.0, controls->pelvis );
	lmbMat33_Apply( pose->root, rotation, offset );
	pose->root[0] += controls->place[0];
	pose->root[2] += controls->place[1];
	BodyTurn( pose->rotations[puppetSpine], 0.45 * controls->twist, 0.55 * controls->bend,
	          0.55 * controls->side );
	BodyTurn( pose->rotations[puppetChest], 0.55 * controls->twist, 0.45 * controls->bend,
	          0.45 * controls->side );
	BodyTurn( pose->rotations[puppetHead], controls->headTwist, controls->headBend, controls->headSide );
	for ( int side = 0; side < 2; ++side )
	{
		PoseArm( controls, side, pose );
		PlaceLeg( controls, side, pelvis, pose );
	}
}
