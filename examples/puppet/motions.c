/* The puppet's four motions. */
#include "motion.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81; /* m/s^2 */

static double Mix( double a, double b, double share )
{
	return a + ( b - a ) * share;
}

/* ---- Jumping jacks ---- */

/* Height of the root over one hop of stance and flight: a parabola in the air; on the ground the even
 * quartic in time that meets its velocity and acceleration at both ends. phase in [0, stance + flight),
 * 0 at touch-down. */
static double HopHeight( double phase, double stance, double flight )
{
	double speed = 0.5 * gravity * flight;
	if ( phase >= stance )
	{
		double t = phase - stance;
		return speed * t - 0.5 * gravity * t * t;
	}
	double half = 0.5 * stance, t = phase - half;
	double fourth = -( gravity + speed / half ) / ( 8.0 * half * half );
	double second = 0.5 * ( speed / half - 4.0 * fourth * half * half );
	return second * ( t * t - half * half ) + fourth * ( t * t * t * t - half * half * half * half );
}

/* Feet travel between close and wide while the body is in the air; arms swing over the whole of two
 * hops, a tenth of a second behind the feet. */
static void JumpingJacks( double time, PuppetPose *pose )
{
	const double stance = 0.33, flight = 0.20, period = 0.53;
	double hop = floor( time / period ), phase = time - hop * period;
	double air = ( phase - stance + 0.06 ) / ( flight + 0.06 ); /* over at touch-down */
	double open = fmod( hop, 2.0 ) < 0.5 ? Puppet_Ramp( air ) : 1.0 - Puppet_Ramp( air );
	double swing = 0.5 - 0.5 * cos( pi * ( time - stance + 0.10 ) / period );
	double slow = sin( 2.0 * pi * time / 4.9 ), slower = cos( 2.0 * pi * time / 3.1 );
	double pump = sin( 2.0 * pi * time / period );

	PuppetControls c = PuppetControls_Default();
	c.pelvis[1] = -0.030 + HopHeight( phase, stance, flight );
	c.pelvis[2] = -0.02 + 0.012 * slower;
	c.lean = 4.0 * slow;
	c.bow = 5.0 + 3.0 * slower;
	c.twist = 11.0 * sin( 2.0 * pi * time / 2.3 );
	c.bend = 6.0 - 11.0 * swing;
	c.side = -5.0 * slow;
	c.headBend = -6.0 + 4.0 * slower;
	c.headTwist = 10.0 * slow;
	for ( int side = 0; side < 2; ++side )
	{
		double own = side == 0 ? 1.0 : -1.0;
		c.raise[side] = Mix( -56.0, 50.0 + 8.0 * slow, swing );
		c.flex[side] = 12.0 + 10.0 * slower + 6.0 * own * slow;
		c.roll[side] = 25.0 * swing;
		c.elbow[side] = 30.0 + 14.0 * pump + 10.0 * own * slow;
		c.foot[side][0] = Mix( 0.17, 0.32, open );
		c.foot[side][1] = 0.05 * Puppet_Bump( air );
		c.toe[side] = -22.0 * Puppet_Bump( air );
	}
	PuppetControls_Pose( &c, pose );
}

/* ---- Stop and go ---- */

typedef struct Key
{
	double start, length; /* s: when the body sets off for this pose, and how long it takes */
	PuppetControls to;
} Key;

/* All controls at a time: the sum of what each key adds to the one before. Feet that travel are lifted. */
static PuppetControls FollowKeys( const Key *keys, int count, double time )
{
	enum
	{
		controlCount = sizeof( PuppetControls ) / sizeof( double )
	};
	PuppetControls controls = keys[0].to;
	double *sum = (double *)&controls;
	for ( int i = 1; i < count; ++i )
	{
		const double *from = (const double *)&keys[i - 1].to, *to = (const double *)&keys[i].to;
		double share = ( time - keys[i].start ) / keys[i].length, done = Puppet_Ramp( share );
		for ( int k = 0; k < controlCount; ++k )
			sum[k] += ( to[k] - from[k] ) * done;
		for ( int side = 0; side < 2; ++side )
		{
			double x = keys[i].to.foot[side][0] - keys[i - 1].to.foot[side][0];
			double z = keys[i].to.foot[side][2] - keys[i - 1].to.foot[side][2];
			controls.foot[side][1] += fmin( 0.06, 0.25 * hypot( x, z ) ) * Puppet_Bump( share );
		}
	}
	return controls;
}

static void SetArm( PuppetControls *c, int side, double raise, double flex, double inward, double elbow )
{
	c->raise[side] = raise;
	c->flex[side] = flex;
	c->inward[side] = inward;
	c->elbow[side] = elbow;
}

static void SetFoot( PuppetControls *c, int side, double outwards, double up, double forwards )
{
	c->foot[side][0] = outwards;
	c->foot[side][1] = up;
	c->foot[side][2] = forwards;
}

/* Walks two steps, turns, leans, crouches, springs up, twists both ways, lifts a knee and stamps; every
 * pose is reached in less than 0.2 s and held. */
static int StopAndGoKeys( Key *keys )
{
	int count = 0;
	PuppetControls c = PuppetControls_Default();
	keys[count++] = ( Key ){ 0.0, 0.1, c };

	c.place[1] = 0.09, c.bow = 4, c.turn = -4, c.twist = 7;
	SetArm( &c, 0, -56, -18, 0, 36 );
	SetArm( &c, 1, -56, 26, 5, 62 );
	SetFoot( &c, 0, 0.17, 0.0, 0.09 );
	SetFoot( &c, 1, 0.17, 0.0, -0.09 );
	keys[count++] = ( Key ){ 0.35, 0.18, c };

	c.place[1] = 0.19, c.turn = 4, c.twist = -7;
	SetArm( &c, 0, -56, 26, 5, 64 );
	SetArm( &c, 1, -56, -18, 0, 38 );
	SetFoot( &c, 0, 0.17, 0.0, -0.09 );
	SetFoot( &c, 1, 0.17, 0.0, 0.09 );
	keys[count++] = ( Key ){ 0.90, 0.18, c };

	c.heading = -16, c.turn = 0, c.bow = 0, c.twist = -4, c.headTwist = 12, c.pelvis[1] = -0.045;
	SetArm( &c, 0, -16, 0, 5, 40 );
	SetArm( &c, 1, -10, 0, 12, 58 );
	SetFoot( &c, 0, 0.22, 0.0, 0.02 );
	SetFoot( &c, 1, 0.22, 0.0, -0.02 );
	keys[count++] = ( Key ){ 1.45, 0.20, c };

	c.twist = 3, c.lean = 4, c.side = 9, c.headTwist = 0, c.headSide = -8, c.pelvis[0] = 0.03;
	SetArm( &c, 0, -50, 8, 0, 60 );
	SetArm( &c, 1, 24, 0, 0, 82 );
	c.roll[1] = 40;
	keys[count++] = ( Key ){ 1.95, 0.20, c };

	c.twist = 0, c.lean = 0, c.side = 0, c.headSide = 0, c.headBend = -10, c.pelvis[0] = 0;
	c.pelvis[1] = -0.13, c.pelvis[2] = -0.03, c.bow = 13, c.bend = 10, c.roll[1] = 0;
	SetArm( &c, 0, -55, 42, 6, 94 );
	SetArm( &c, 1, -53, 46, 6, 86 );
	c.knee[0] = c.knee[1] = 20;
	keys[count++] = ( Key ){ 2.45, 0.20, c };

	c.pelvis[1] = -0.035, c.pelvis[2] = 0, c.bow = 0, c.bend = -4, c.headBend = 5;
	SetArm( &c, 0, 20, 12, 0, 24 );
	SetArm( &c, 1, 14, 16, 0, 34 );
	c.roll[0] = c.roll[1] = 20;
	c.knee[0] = c.knee[1] = 12;
	keys[count++] = ( Key ){ 2.95, 0.20, c };

	c.heading = -8, c.turn = 6, c.twist = 9, c.bend = 5, c.headBend = 0, c.pelvis[1] = -0.055;
	SetArm( &c, 0, -44, 20, 0, 96 );
	SetArm( &c, 1, -18, 8, 32, 66 );
	c.roll[0] = c.roll[1] = 0;
	keys[count++] = ( Key ){ 3.45, 0.18, c };

	c.turn = -5, c.twist = -9, c.side = -4;
	SetArm( &c, 0, -62, 62, 8, 38 );
	SetArm( &c, 1, -48, 26, 0, 100 );
	keys[count++] = ( Key ){ 3.95, 0.18, c };

	c.turn = 0, c.twist = 5, c.side = 6, c.lean = -4, c.bend = 0, c.pelvis[0] = -0.04, c.pelvis[1] = -0.035;
	SetArm( &c, 0, -53, -20, 0, 70 );
	SetArm( &c, 1, -52, 42, 8, 90 );
	SetFoot( &c, 0, 0.16, 0.15, 0.13 );
	c.toe[0] = -14;
	keys[count++] = ( Key ){ 4.50, 0.20, c };

	c.twist = 0, c.side = 0, c.lean = 0, c.bend = 6, c.pelvis[0] = 0, c.pelvis[1] = -0.09, c.bow = 4;
	SetArm( &c, 0, -36, 10, 0, 48 );
	SetArm( &c, 1, -36, 10, 0, 48 );
	SetFoot( &c, 0, 0.24, 0.0, 0.04 );
	c.toe[0] = 0;
	keys[count++] = ( Key ){ 5.00, 0.17, c };
	return count;
}

static void StopAndGo( double time, PuppetPose *pose )
{
	Key keys[16];
	int count = StopAndGoKeys( keys );
	PuppetControls c = FollowKeys( keys, count, time );
	PuppetControls_Pose( &c, pose );
}

/* ---- Run ---- */

/* Steps at 2.5 to 3 Hz, body lowest at mid-stance; the foot goes back on the ground for half a cycle
 * and forwards in the air for the other half. */
static void Run( double time, PuppetPose *pose )
{
	double step = 2.0 * pi * ( 2.75 * time + 0.25 * 4.0 / ( 2.0 * pi ) * sin( 2.0 * pi * time / 4.0 ) );
	double sway = sin( 2.0 * pi * time / 2.9 );
	PuppetControls c = PuppetControls_Default();
	c.place[1] = 1.75 * time;
	c.heading = 14.0 * sin( 2.0 * pi * time / 4.3 );
	c.pelvis[1] = -0.046 + 0.032 * cos( step );
	c.pelvis[2] = 0.0;
	c.bow = 9.0 - 1.0 * cos( step + 0.5 );
	c.turn = 7.0 * cos( 0.5 * step );
	c.lean = -4.0 * sin( 0.5 * step ) + 2.0 * sway;
	c.twist = -17.0 * cos( 0.5 * step ) + 4.0 * sway;
	c.bend = 2.0 - 1.5 * cos( step + 0.5 );
	c.side = 5.0 * sin( 0.5 * step );
	c.headTwist = 9.0 * cos( 0.5 * step );
	c.headBend = -8.0;
	for ( int side = 0; side < 2; ++side )
	{
		double own = side == 0 ? 1.0 : -1.0;
		double cycle = 0.5 * step + ( side == 0 ? 0.0 : pi );
		double air = fmax( 0.0, -sin( cycle ) );
		c.foot[side][0] = 0.150;
		c.foot[side][1] = 0.10 * air * air * air;
		c.foot[side][2] = -0.03 + 0.20 * cos( cycle );
		c.toe[side] = -26.0 * air * air * air + 10.0 * cos( cycle );
		c.knee[side] = 6.0;
		c.raise[side] = -57.0 + 3.0 * own * sway;
		c.flex[side] = 6.0 - 34.0 * cos( cycle + 0.2 );
		c.inward[side] = 6.0;
		c.elbow[side] = 82.0 - 14.0 * cos( cycle + 0.2 );
	}
	PuppetControls_Pose( &c, pose );
}

/* ---- Shadow boxing ---- */

typedef enum PunchKind
{
	punchStraight,
	punchHook,
	punchUppercut
} PunchKind;

typedef struct Punch
{
	double start; /* s */
	int side;
	PunchKind kind;
} Punch;

static const Punch punches[] = {
    { 0.40, 0, punchStraight }, { 0.86, 0, punchStraight }, { 1.12, 1, punchStraight },
    { 1.75, 0, punchHook },     { 2.20, 1, punchUppercut }, { 2.62, 0, punchStraight },
    { 2.90, 1, punchStraight }, { 3.18, 0, punchHook },     { 3.74, 1, punchStraight },
    { 4.10, 0, punchUppercut }, { 4.42, 1, punchHook },
};

/* raise, flex, inward and elbow at the end of a punch; the shoulder's and the hip's turn towards it, the
 * trunk's bend. */
static const double punchArms[3][4] = { { -64, 84, 10, 14 }, { -16, 6, 48, 80 }, { -60, 66, 6, 78 } };
static const double punchBodies[3][3] = { { 9, 5, 4 }, { 11, 6, 2 }, { 7, 4, -4 } };

static double Blow( double time )
{
	return Puppet_Ramp( time / 0.15 ) * ( 1.0 - Puppet_Ramp( ( time - 0.17 ) / 0.22 ) );
}

static void ShadowBoxing( double time, PuppetPose *pose )
{
	double weave = sin( 2.0 * pi * time / 1.7 ), bob = sin( 2.0 * pi * 1.9 * time + 0.6 );
	double duck = Puppet_Bump( ( time - 1.42 ) / 0.55 ) + Puppet_Bump( ( time - 3.40 ) / 0.50 );
	PuppetControls c = PuppetControls_Default();
	c.pelvis[0] = 0.035 * weave;
	c.pelvis[1] = -0.075 + 0.018 * bob - 0.07 * duck;
	c.turn = -18.0;
	c.twist = -4.0;
	c.bow = 6.0 + 5.0 * duck;
	c.bend = 8.0 + 6.0 * duck;
	c.side = 8.0 * weave;
	c.lean = 3.0 * weave;
	c.headBend = 4.0;
	c.headTwist = 16.0;
	for ( int side = 0; side < 2; ++side )
	{
		SetArm( &c, side, -57.0 + 2.0 * bob, 38.0 + 3.0 * bob, 8.0, 98.0 - 4.0 * bob );
		SetFoot( &c, side, 0.19, 0.0, side == 0 ? 0.13 : -0.13 );
		c.knee[side] = 16.0;
	}
	for ( int i = 0; i < (int)( sizeof( punches ) / sizeof( punches[0] ) ); ++i )
	{
		const Punch *punch = &punches[i];
		const double *arm = punchArms[punch->kind], *body = punchBodies[punch->kind];
		double blow = Blow( time - punch->start ), own = punch->side == 0 ? -1.0 : 1.0;
		int side = punch->side;
		SetArm( &c, side, Mix( c.raise[side], arm[0], blow ), Mix( c.flex[side], arm[1], blow ),
		        Mix( c.inward[side], arm[2], blow ), Mix( c.elbow[side], arm[3], blow ) );
		c.twist += own * body[0] * blow;
		c.turn += own * body[1] * blow;
		c.headTwist -= own * 0.8 * ( body[0] + body[1] ) * blow;
		c.bend += body[2] * blow;
		c.pelvis[2] += 0.03 * blow;
	}
	PuppetControls_Pose( &c, pose );
}

const PuppetMotion puppetMotions[puppetMotionCount] = {
    { "jumping_jacks", 5.3, JumpingJacks },
    { "stop_and_go", 6.0, StopAndGo },
    { "run", 4.0, Run },
    { "shadow_boxing", 5.0, ShadowBoxing },
};
