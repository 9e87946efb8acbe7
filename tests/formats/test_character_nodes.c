/* What the importer makes of nodes, skins, units and animation keys, against closed forms on a body made
 * here. */
#include "formats/synthetic.h"

#include "base/math3.h"

/* float32 in a body of 1 m, turned: a few times 6e-8. */
static const double rounding = 3e-7;

/* Nodes above the skeleton: TRS and the same as a matrix; the skinned node's own transform is ignored. */
static void NodeTransforms( void **state )
{
	(void)state;
	static const char *const transforms[3][2] = {
	    { "{\"children\":[1],\"translation\":[3,0,0],\"rotation\":[0,0.7071067811865476,0,0.7071067811865476]"
	      "}",
	      "turned" },
	    { "{\"children\":[1],\"matrix\":[0,0,-1,0, 0,1,0,0, 1,0,0,0, 3,0,0,1]}", "matrix" },
	    { "{\"children\":[1],\"scale\":[100,100,100]}", "scaled" } };
	for ( int i = 0; i < 3; ++i )
	{
		lmbGlbWriter writer;
		MakeBody( &writer );
		BodySet( &writer, "/nodes/-", transforms[i][0] );
		BodySet( &writer, "/scenes/0/nodes", "[0,3]" );
		BodySet( &writer, "/nodes/0/translation", "[50,60,70]" );
		BodySet( &writer, "/nodes/0/scale", "[9,9,9]" );
		lmbCharacter *character = NeedBody( &writer );
		double points[3 * bodyVertices];
		BodyPoints( character, 0, 0.5, points );
		/* A hundred units of length 1 are measured as centimetres: the body is 1 m again. */
		CHECK_NEAR( character->metresPerUnit, i == 2 ? 0.01 : 1.0, 0.0 );
		for ( int v = 0; v < bodyVertices; ++v )
		{
			double plain[3];
			BodyExpected( v, 0.6, plain );
			double expected[3] = { 3.0 + plain[2], plain[1], -plain[0] };
			for ( int c = 0; c < 3; ++c )
				CHECK_NEAR( points[3 * v + c], i == 2 ? plain[c] : expected[c], 4e-7 );
		}
		double bones[24], linear[9];
		lmbCharacter_Pose( character, -1, 0.0, bones );
		lmbMat34_Linear( linear, bones );
		CHECK_NEAR( lmbMat33_Determinant( linear ), 1.0, 1e-12 );
		lmbCharacter_Free( character );
	}
}

/* A mesh in centimetres under a node scale of 0.01, as exporters write it: metres all through. */
static void CentimetreMesh( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	for ( int i = 0; i < 3 * bodyVertices; ++i )
		positions[i] *= 100.0f;
	const float binds[32] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,      0, 1,
	                          1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -50.0f, 0, 1 };
	char text[16];
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddFloats( &writer, "VEC3", positions, bodyVertices, lmb_glbVertices, true ) );
	BodySet( &writer, "/meshes/0/primitives/0/attributes/POSITION", text );
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddFloats( &writer, "MAT4", binds, 2, lmb_glbData, false ) );
	BodySet( &writer, "/skins/0/inverseBindMatrices", text );
	BodySet( &writer, "/nodes/2/translation", "[0,50,0]" );
	BodySet( &writer, "/nodes/-", "{\"children\":[1],\"scale\":[0.01,0.01,0.01]}" );
	BodySet( &writer, "/scenes/0/nodes", "[0,3]" );
	lmbCharacter *character = NeedBody( &writer );
	CHECK_NEAR( character->metresPerUnit, 1.0, 0.0 );
	CheckBody( character, 0.5, 0.6, rounding );
	CHECK_NEAR( character->bind[34], 1.0, 1e-7 );
	CHECK_NEAR( character->bones[1].bind[7], 0.5, 1e-7 );
	double bones[24];
	lmbCharacter_Pose( character, -1, 0.0, bones );
	CHECK_NEAR( bones[0], 1.0, 1e-12 );
	lmbCharacter_Free( character );
}

/* The unit for bodies of other lengths than metres. */
static void UnitIsMeasured( void **state )
{
	(void)state;
	static const double lengths[][2] = { { 0.06, 1.0 },    { 1.0, 1.0 },       { 19.0, 1.0 },
	                                     { 21.0, 0.1 },    { 180.0, 0.01 },    { 1800.0, 0.001 },
	                                     { 0.018, 100.0 }, { 0.0018, 1000.0 }, { 2e5, 1e-5 } };
	for ( size_t i = 0; i < sizeof( lengths ) / sizeof( lengths[0] ); ++i )
	{
		lmbGlbWriter writer;
		char text[100];
		MakeBody( &writer );
		snprintf( text, sizeof( text ), "{\"children\":[1],\"scale\":[%g,%g,%g]}", lengths[i][0],
		          lengths[i][0], lengths[i][0] );
		BodySet( &writer, "/nodes/-", text );
		BodySet( &writer, "/scenes/0/nodes", "[0,3]" );
		lmbCharacter *character = NeedBody( &writer );
		/* 21 units: 0.21 m as centimetres is below 0.25, so tenths of a metre are taken. */
		CHECK_NEAR( character->metresPerUnit / lengths[i][1], 1.0, 1e-12 );
		CHECK( character->noteCount >= 1 );
		CHECK_CONTAINS( character->notes[character->noteCount - 1], "units long" );
		lmbCharacter_Free( character );
	}
}

/* Two primitives and two meshes under one skin; two primitives over the same vertices share them. */
static void SeveralMeshes( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	char text[200];
	const uint32_t first[] = { 0, 1, 5 };
	int indices = lmbGlbWriter_AddIndices( &writer, first, 3 );
	snprintf( text, sizeof( text ),
	          "{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":%d}", indices );
	BodySet( &writer, "/meshes/0/primitives/-", text );
	snprintf(
	    text, sizeof( text ),
	    "{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":%d}]}",
	    indices );
	BodySet( &writer, "/meshes/-", text );
	BodySet( &writer, "/nodes/-", "{\"name\":\"other\",\"mesh\":1,\"skin\":0}" );
	BodySet( &writer, "/nodes/-", "{\"name\":\"hat\",\"mesh\":1}" );
	BodySet( &writer, "/scenes/0/nodes", "[0,1,3,4]" );
	lmbCharacter *character = NeedBody( &writer );
	CHECK_INT( character->partCount, 3 );
	CHECK_INT( character->vertexCount, 24 );
	CHECK_INT( character->triangleCount, 18 );
	CHECK_INT( character->parts[1].firstVertex, 0 );
	CHECK_INT( character->parts[1].primitive, 1 );
	CHECK_INT( character->parts[1].firstTriangle, 16 );
	CHECK_INT( character->parts[1].triangleCount, 1 );
	CHECK_INT( character->parts[2].firstVertex, 12 );
	CHECK_INT( character->parts[2].node, 3 );
	CHECK_INT( character->parts[2].mesh, 1 );
	CHECK_INT( character->triangles[3 * 17], 12 );
	CHECK_CONTAINS( character->notes[0], "1 meshes without a skin" );
	CHECK_CONTAINS( character->notes[0], "hat" );
	lmbCharacter_Free( character );
}

/* A second skin whose mesh space is another one (shifted, scaled, turned) but whose joints agree: one set of
 * bones. With one joint bound elsewhere: that joint twice. */
static void SeveralSkins( void **state )
{
	(void)state;
	for ( int differing = 0; differing < 2; ++differing )
	{
		lmbGlbWriter writer;
		MakeBody( &writer );
		float positions[3 * bodyVertices], weights[4 * bodyVertices], moved[3 * bodyVertices];
		uint16_t joints[4 * bodyVertices];
		uint32_t indices[bodyIndices];
		BodyGeometry( positions, joints, weights, indices );
		/* Mesh space 2: x2 = (y, -x, z) * 2 + (1, 0, 0), so its inverse binds carry the inverse. */
		for ( int i = 0; i < bodyVertices; ++i )
		{
			moved[3 * i] = 2.0f * positions[3 * i + 1] + 1.0f;
			moved[3 * i + 1] = -2.0f * positions[3 * i];
			moved[3 * i + 2] = 2.0f * positions[3 * i + 2];
		}
		float binds[32] = { 0, 0.5f, 0, 0, -0.5f, 0, 0, 0, 0, 0, 0.5f, 0, 0, -0.5f, 0, 1,
		                    0, 0.5f, 0, 0, -0.5f, 0, 0, 0, 0, 0, 0.5f, 0, 0, -1.0f, 0, 1 };
		if ( differing )
			binds[16 + 12] = 0.3f;
		int p = lmbGlbWriter_AddFloats( &writer, "VEC3", moved, bodyVertices, lmb_glbVertices, true );
		int b = lmbGlbWriter_AddFloats( &writer, "MAT4", binds, 2, lmb_glbData, false );
		char text[200];
		snprintf( text, sizeof( text ),
		          "{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"JOINTS_0\":1,\"WEIGHTS_0\":2},"
		          "\"indices\":3}]}",
		          p );
		BodySet( &writer, "/meshes/-", text );
		snprintf( text, sizeof( text ), "{\"joints\":[1,2],\"inverseBindMatrices\":%d}", b );
		BodySet( &writer, "/skins/-", text );
		BodySet( &writer, "/nodes/-", "{\"name\":\"other\",\"mesh\":1,\"skin\":1}" );
		BodySet( &writer, "/scenes/0/nodes", "[0,1,3]" );
		lmbCharacter *character = NeedBody( &writer );
		CHECK_INT( character->vertexCount, 24 );
		CHECK_INT( character->boneCount, differing ? 3 : 2 );
		double points[3 * 24];
		BodyPoints( character, 0, 0.5, points );
		for ( int i = 0; i < bodyVertices; ++i )
			for ( int c = 0; c < 3; ++c )
			{
				double shift = 0.0;
				double upper = (double)weights[4 * i + 1];
				if ( differing && c < 2 )
					shift = upper * 0.3 * ( c == 0 ? cos( 0.6 ) : sin( 0.6 ) );
				CHECK_NEAR( points[3 * ( 12 + i ) + c], points[3 * i + c] + shift, 1e-6 );
				/* Both skins lie on one another in bind space. */
				CHECK_NEAR( character->bind[3 * ( 12 + i ) + c], character->bind[3 * i + c], 1e-6 );
			}
		if ( differing )
		{
			CHECK_INT( lmbCharacter_FindBone( character, "upper #2" ), 2 );
			CHECK_INT( character->bones[2].parent, 0 );
			CHECK_CONTAINS( character->notes[0], "bound differently" );
		}
		lmbCharacter_Free( character );
	}
}

/* CUBICSPLINE against Hermite's polynomial, STEP, and a translation. */
static void Interpolations( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	/* in-tangent, value, out-tangent of x, y, z at three keys */
	const float values[27] = { 0,    0, 0,    0.1f, 0.5f, 0, 1.0f,  0, 2.0f, /* */
	                           0.5f, 0, -1,   0.3f, 0.6f, 0, -0.2f, 0, 1.0f, /* */
	                           2.0f, 0, 0.5f, 0.2f, 0.4f, 1, 0,     0, 0 };
	const float times[3] = { 1.0f, 1.5f, 3.5f };
	int input = lmbGlbWriter_AddFloats( &writer, "SCALAR", times, 3, lmb_glbData, true );
	int output = lmbGlbWriter_AddFloats( &writer, "VEC3", values, 9, lmb_glbData, false );
	char text[200];
	snprintf( text, sizeof( text ),
	          "[{\"input\":5,\"output\":6,\"interpolation\":\"STEP\"},"
	          "{\"input\":%d,\"output\":%d,\"interpolation\":\"CUBICSPLINE\"}]",
	          input, output );
	BodySet( &writer, "/animations/0/samplers", text );
	BodySet( &writer, "/animations/0/channels/-",
	         "{\"sampler\":1,\"target\":{\"node\":2,\"path\":\"translation\"}}" );
	lmbCharacter *character = NeedBody( &writer );
	for ( double time = 0.9; time < 3.6; time += 0.037 )
	{
		double bones[24];
		lmbCharacter_Pose( character, 0, time, bones );
		/* STEP holds the key before. */
		double angle = time < 2.0 ? ( time < 1.0 ? 0.6 : -0.4 ) : 0.9;
		CHECK_NEAR( atan2( bones[16], bones[12] ), angle, 1e-6 );
		int k = time < 1.5 ? 0 : 1;
		double span = k == 0 ? 0.5 : 2.0, s = ( time - (double)times[k] ) / span;
		s = fmin( fmax( s, 0.0 ), 1.0 );
		for ( int c = 0; c < 3; ++c )
		{
			double p0 = (double)values[9 * k + 3 + c], m0 = span * (double)values[9 * k + 6 + c];
			double p1 = (double)values[9 * k + 12 + c], m1 = span * (double)values[9 * k + 9 + c];
			double hermite =
			    p0 +
			    s * ( m0 + s * ( 3.0 * ( p1 - p0 ) - 2.0 * m0 - m1 + s * ( 2.0 * ( p0 - p1 ) + m0 + m1 ) ) );
			/* The joint is where its own origin goes: bind (0, 0.5, 0). */
			double place = bones[12 + 4 * c + 1] * 0.5 + bones[12 + 4 * c + 3];
			CHECK_NEAR( place, hermite, 1e-12 );
		}
	}
	lmbCharacter_Free( character );
}

/* A scene's other meshes and other scenes are left alone; nodes that no scene names count when there is
 * none. */
static void Scenes( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	lmbError error;
	MakeBody( &writer );
	BodySet( &writer, "/scenes", "[{\"nodes\":[1]},{\"nodes\":[0,1]}]" );
	BodySet( &writer, "/scene", "1" );
	lmbCharacter *character = NeedBody( &writer );
	lmbCharacter_Free( character );
	MakeBody( &writer );
	BodySet( &writer, "/scenes", "[{\"nodes\":[1]},{\"nodes\":[0,1]}]" );
	CHECK( LoadBody( &writer, &error ) == NULL );
	CHECK_CONTAINS( error.message, "bound to a skeleton" );
	MakeBody( &writer );
	BodySet( &writer, "/scenes", NULL );
	BodySet( &writer, "/scene", NULL );
	character = NeedBody( &writer );
	lmbCharacter_Free( character );
}

/* A mirrored skeleton keeps its outside outside. */
static void Mirrored( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	BodySet( &writer, "/nodes/-", "{\"children\":[1],\"scale\":[-1,1,1]}" );
	BodySet( &writer, "/scenes/0/nodes", "[0,3]" );
	lmbCharacter *character = NeedBody( &writer );
	double points[3 * bodyVertices], volume = 0.0, bones[24], linear[9];
	BodyPoints( character, 0, 0.5, points );
	for ( int t = 0; t < character->triangleCount; ++t )
	{
		double cross[3];
		lmbCross( cross, points + 3 * character->triangles[3 * t + 1],
		          points + 3 * character->triangles[3 * t + 2] );
		volume += lmbDot( points + 3 * character->triangles[3 * t], cross );
	}
	CHECK( volume > 0.0 );
	for ( int i = 0; i < bodyVertices; ++i )
	{
		double expected[3];
		BodyExpected( i, 0.6, expected );
		CHECK_NEAR( points[3 * i], -expected[0], rounding );
		CHECK_NEAR( points[3 * i + 1], expected[1], rounding );
	}
	lmbCharacter_Pose( character, -1, 0.0, bones );
	lmbMat34_Linear( linear, bones );
	CHECK_NEAR( lmbMat33_Determinant( linear ), 1.0, 1e-9 );
	lmbCharacter_Free( character );
}

int main( void )
{
	if ( !MakeBodyFolder() )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( NodeTransforms ), CHECK_TEST( CentimetreMesh ), CHECK_TEST( UnitIsMeasured ),
	    CHECK_TEST( SeveralMeshes ),  CHECK_TEST( SeveralSkins ),   CHECK_TEST( Interpolations ),
	    CHECK_TEST( Scenes ),         CHECK_TEST( Mirrored ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( bodyFolder );
	return failures;
}
