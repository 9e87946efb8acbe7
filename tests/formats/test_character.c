/* What the importer makes of buffers, accessors, triangles and weights, on a body made here. */
#include "formats/synthetic.h"

#include "base/files.h"
#include "base/math3.h"

/* float32 in a body of 1 m, turned: a few times 6e-8. */
static const double rounding = 3e-7;

static void PlainBody( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	lmbCharacter *character = NeedBody( &writer );
	CHECK_INT( character->vertexCount, 12 );
	CHECK_INT( character->triangleCount, 16 );
	CHECK_INT( character->boneCount, 2 );
	CHECK_INT( character->bones[0].parent, -1 );
	CHECK_INT( character->bones[1].parent, 0 );
	CHECK_INT( character->influenceCount, 2 );
	CHECK_INT( lmbCharacter_FindBone( character, "upper" ), 1 );
	CHECK_INT( lmbCharacter_FindBone( character, "nose" ), -1 );
	CHECK_INT( lmbCharacter_FindClip( character, "turn" ), 0 );
	CHECK_NEAR( character->bones[1].bind[7], 0.5, 1e-15 );
	CHECK_NEAR( character->metresPerUnit, 1.0, 0.0 );
	CHECK_NEAR( character->clips[0].start, 0.25, 0.0 );
	CHECK_NEAR( character->clips[0].end, 2.0, 0.0 );
	CHECK_INT( character->clips[0].keyCount, 4 );
	/* Before the first key and behind the last the pose stands. */
	CheckBody( character, 0.0, 0.0, rounding );
	CheckBody( character, 5.0, 0.9, rounding );
	/* The arc between two turns about one axis: the angle moves evenly. */
	CheckBody( character, 0.75, 0.1, rounding );
	CheckBody( character, 1.25, -0.4 + 0.25 * 1.3, rounding );
	/* Triangles look outwards: the enclosed volume (of the open tube, about its axis) is positive. */
	double volume = 0.0;
	for ( int t = 0; t < character->triangleCount; ++t )
	{
		double cross[3];
		const double *a = character->bind + 3 * character->triangles[3 * t];
		lmbCross( cross, character->bind + 3 * character->triangles[3 * t + 1],
		          character->bind + 3 * character->triangles[3 * t + 2] );
		volume += lmbDot( a, cross );
	}
	CHECK( volume > 0.0 );
	lmbCharacter_Free( character );
	lmbCharacter_Free( NULL );
}

/* .gltf with a buffer beside it (its name escaped), and with the buffer inside as base64. */
static void TextContainers( void **state )
{
	(void)state;
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for ( int inside = 0; inside < 2; ++inside )
	{
		lmbGlbWriter writer;
		lmbError error = { 0 };
		MakeBody( &writer );
		char *uri = calloc( 1, 2 * writer.size + 100 );
		if ( inside )
		{
			size_t at = (size_t)sprintf( uri, "data:application/octet-stream;base64," );
			for ( size_t i = 0; i < writer.size; i += 3 )
			{
				size_t left = writer.size - i;
				uint32_t bits = (uint32_t)writer.data[i] << 16;
				bits |= left > 1 ? (uint32_t)writer.data[i + 1] << 8 : 0;
				bits |= left > 2 ? writer.data[i + 2] : 0;
				for ( size_t k = 0; k < 4; ++k )
					uri[at++] = k <= left ? digits[bits >> ( 18 - 6 * k ) & 63] : '=';
			}
		}
		else
		{
			strcpy( uri, "my%20data.bin" );
			CHECK_INT( lmbFile_Write( BodyPath( "my data.bin" ), writer.data, writer.size, &error ),
			           lmb_statusOk );
		}
		json_object_set_new( writer.root, "buffers",
		                     json_pack( "[{s:I,s:s}]", "byteLength", (json_int_t)writer.size, "uri", uri ) );
		char *text = json_dumps( writer.root, JSON_INDENT( 1 ) );
		CHECK_INT( lmbFile_Write( BodyPath( "body.gltf" ), text, strlen( text ), &error ), lmb_statusOk );
		lmbGlbWriter_Free( &writer );
		lmbCharacter *character;
		CHECK_INT( lmbCharacter_Load( BodyPath( "body.gltf" ), NULL, &character, &error ), lmb_statusOk );
		if ( character != NULL )
			CheckBody( character, 0.5, 0.6, rounding );
		lmbCharacter_Free( character );
		if ( !inside )
		{
			unlink( BodyPath( "my data.bin" ) );
			CHECK_INT( lmbCharacter_Load( BodyPath( "body.gltf" ), NULL, &character, &error ), lmb_statusIo );
			CHECK_CONTAINS( error.message, "/buffers/0/uri" );
			CHECK_CONTAINS( error.message, "my data.bin" );
			CHECK_CONTAINS( error.message, "export as .glb" );
		}
		free( text );
		free( uri );
		unlink( BodyPath( "body.gltf" ) );
	}
}

/* Positions and weights in one strided view, behind an offset. */
static void Interleaved( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	unsigned char mixed[bodyVertices * 36];
	memset( mixed, 0xEE, sizeof( mixed ) );
	for ( int i = 0; i < bodyVertices; ++i )
	{
		memcpy( mixed + 36 * i + 4, weights + 4 * i, 16 );
		memcpy( mixed + 36 * i + 20, positions + 3 * i, 12 );
	}
	int view = lmbGlbWriter_AddView( &writer, mixed, sizeof( mixed ), lmb_glbVertices, 36 );
	char text[16];
	snprintf( text, sizeof( text ), "%d", view );
	BodySet( &writer, "/accessors/0/bufferView", text );
	BodySet( &writer, "/accessors/0/byteOffset", "20" );
	BodySet( &writer, "/accessors/2/bufferView", text );
	BodySet( &writer, "/accessors/2/byteOffset", "4" );
	lmbCharacter *character = NeedBody( &writer );
	CheckBody( character, 0.5, 0.6, rounding );
	lmbCharacter_Free( character );
}

/* Zeros without a view, all elements from sparse storage; and one moved vertex over a view. */
static void Sparse( void **state )
{
	(void)state;
	for ( int whole = 0; whole < 2; ++whole )
	{
		lmbGlbWriter writer;
		MakeBody( &writer );
		float positions[3 * bodyVertices], weights[4 * bodyVertices];
		uint16_t joints[4 * bodyVertices], which[bodyVertices];
		uint32_t indices[bodyIndices];
		BodyGeometry( positions, joints, weights, indices );
		for ( int i = 0; i < bodyVertices; ++i )
			which[i] = (uint16_t)i;
		const float moved[3] = { 7.0f, 8.0f, 9.0f };
		const uint16_t eleven = 11;
		int indexView, valueView;
		if ( whole )
		{
			indexView = lmbGlbWriter_AddView( &writer, which, sizeof( which ), lmb_glbData, 0 );
			valueView = lmbGlbWriter_AddView( &writer, positions, sizeof( positions ), lmb_glbData, 0 );
			BodySet( &writer, "/accessors/0/bufferView", NULL );
		}
		else
		{
			indexView = lmbGlbWriter_AddView( &writer, &eleven, sizeof( eleven ), lmb_glbData, 0 );
			valueView = lmbGlbWriter_AddView( &writer, moved, sizeof( moved ), lmb_glbData, 0 );
		}
		char text[200];
		snprintf( text, sizeof( text ),
		          "{\"count\":%d,\"indices\":{\"bufferView\":%d,\"componentType\":5123},"
		          "\"values\":{\"bufferView\":%d}}",
		          whole ? bodyVertices : 1, indexView, valueView );
		BodySet( &writer, "/accessors/0/sparse", text );
		lmbCharacter *character = NeedBody( &writer );
		if ( whole )
			CheckBody( character, 0.5, 0.6, rounding );
		else
		{
			CHECK_NEAR( character->bind[33] / character->metresPerUnit, 7.0, 1e-6 );
			CHECK_NEAR( character->bind[35] / character->metresPerUnit, 9.0, 1e-6 );
			CHECK_NEAR( character->bind[30] / character->metresPerUnit, 0.1, 1e-6 );
		}
		lmbCharacter_Free( character );
	}
}

/* Integers: positions as normalised int16 under a scaled inverse bind, weights as normalised uint8 and
 * uint16, turns as normalised int16. */
static void Quantised( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices], wideWeights[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	int16_t quantised[4 * bodyVertices] = { 0 }, turns[4 * bodyKeys] = { 0 };
	for ( int i = 0; i < bodyVertices; ++i )
		for ( int c = 0; c < 3; ++c )
			quantised[4 * i + c] = (int16_t)lrint( 0.5 * (double)positions[3 * i + c] * 32767.0 );
	for ( int i = 0; i < 4 * bodyVertices; ++i )
		wideWeights[i] = (uint16_t)lrint( (double)weights[i] * 65535.0 );
	for ( int k = 0; k < bodyKeys; ++k )
	{
		turns[4 * k + 2] = (int16_t)lrint( sin( 0.5 * bodyKeyAngles[k] ) * 32767.0 );
		turns[4 * k + 3] = (int16_t)lrint( cos( 0.5 * bodyKeyAngles[k] ) * 32767.0 );
	}
	const float binds[32] = { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0,     0, 1,
	                          2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, -0.5f, 0, 1 };
	char text[16];
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddView( &writer, quantised, sizeof( quantised ), lmb_glbVertices, 8 ) );
	BodySet( &writer, "/accessors/0/bufferView", text );
	BodySet( &writer, "/accessors/0/componentType", "5122" );
	BodySet( &writer, "/accessors/0/normalized", "true" );
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddView( &writer, wideWeights, sizeof( wideWeights ), lmb_glbVertices, 8 ) );
	BodySet( &writer, "/accessors/2/bufferView", text );
	BodySet( &writer, "/accessors/2/componentType", "5123" );
	BodySet( &writer, "/accessors/2/normalized", "true" );
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddView( &writer, turns, sizeof( turns ), lmb_glbData, 0 ) );
	BodySet( &writer, "/accessors/6/bufferView", text );
	BodySet( &writer, "/accessors/6/componentType", "5122" );
	BodySet( &writer, "/accessors/6/normalized", "true" );
	snprintf( text, sizeof( text ), "%d",
	          lmbGlbWriter_AddFloats( &writer, "MAT4", binds, 2, lmb_glbData, false ) );
	BodySet( &writer, "/skins/0/inverseBindMatrices", text );
	BodySet( &writer, "/extensionsRequired", "[\"KHR_mesh_quantization\"]" );
	lmbCharacter *character = NeedBody( &writer );
	/* A step of the grid is 2/32767 in positions and 1/32767 in turns. */
	CheckBody( character, 0.5, 0.6, 1.0 / 32767.0 + 0.6 / 32767.0 );
	double linear[9], bones[24];
	lmbCharacter_Pose( character, -1, 0.0, bones );
	lmbMat34_Linear( linear, bones );
	CHECK_NEAR( lmbMat33_Determinant( linear ), 1.0, 1e-6 );
	lmbCharacter_Free( character );
}

static int SameTriangles( const lmbCharacter *a, const lmbCharacter *b )
{
	int same = 0;
	for ( int t = 0; t < a->triangleCount; ++t )
		for ( int u = 0; u < b->triangleCount; ++u )
			for ( int turn = 0; turn < 3; ++turn )
			{
				double off = 0.0;
				for ( int k = 0; k < 3; ++k )
					for ( int c = 0; c < 3; ++c )
						off += fabs( a->bind[3 * a->triangles[3 * t + k] + c] -
						             b->bind[3 * b->triangles[3 * u + ( k + turn ) % 3] + c] );
				if ( off < 1e-9 )
				{
					same += 1;
					turn = 3;
					u = b->triangleCount;
				}
			}
	return same;
}

/* Strips, fans and plain lists of corners give the triangles that indices give, the same way round. */
static void TriangleModes( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	lmbCharacter *plain = NeedBody( &writer );

	/* Each ring of quads as a strip: a, b, a+4, b+4 of the next ... goes round the body. */
	const uint32_t strip[] = { 4, 0, 5, 1, 6, 2, 7, 3, 4, 0, 0, 8, 8, 4, 9, 5, 10, 6, 11, 7, 8, 4 };
	MakeBody( &writer );
	char text[64];
	snprintf( text, sizeof( text ), "%d", lmbGlbWriter_AddIndices( &writer, strip, 22 ) );
	BodySet( &writer, "/meshes/0/primitives/0/indices", text );
	BodySet( &writer, "/meshes/0/primitives/0/mode", "5" );
	lmbCharacter *strips = NeedBody( &writer );
	CHECK_INT( strips->triangleCount, 16 );
	/* The strip cuts each quad along its other diagonal: compare its whole outside. */
	double areas[2] = { 0, 0 };
	for ( int b = 0; b < 2; ++b )
	{
		const lmbCharacter *body = b == 0 ? plain : strips;
		for ( int t = 0; t < body->triangleCount; ++t )
		{
			double u[3], v[3], cross[3], centre[3] = { 0, 0, 0 };
			const double *p = body->bind + 3 * body->triangles[3 * t];
			lmbSub( u, body->bind + 3 * body->triangles[3 * t + 1], p );
			lmbSub( v, body->bind + 3 * body->triangles[3 * t + 2], p );
			lmbCross( cross, u, v );
			centre[0] = p[0] + ( u[0] + v[0] ) / 3.0;
			centre[2] = p[2] + ( u[2] + v[2] ) / 3.0;
			CHECK( lmbDot( cross, centre ) > 0.0 );
			areas[b] += lmbLength( cross );
		}
	}
	CHECK_NEAR( areas[1], areas[0], 1e-9 );

	/* The top ring as a fan: two triangles. */
	const uint32_t fan[] = { 8, 9, 10, 11 };
	MakeBody( &writer );
	snprintf( text, sizeof( text ), "%d", lmbGlbWriter_AddIndices( &writer, fan, 4 ) );
	BodySet( &writer, "/meshes/0/primitives/0/indices", text );
	BodySet( &writer, "/meshes/0/primitives/0/mode", "6" );
	lmbCharacter *fans = NeedBody( &writer );
	CHECK_INT( fans->triangleCount, 2 );
	const int expected[6] = { 9, 10, 8, 10, 11, 8 };
	for ( int i = 0; i < 6; ++i )
		CHECK_INT( fans->triangles[i], expected[i] );

	/* Without indices: every corner a vertex of its own. */
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	float cornerPositions[3 * bodyIndices], cornerWeights[4 * bodyIndices];
	uint16_t cornerJoints[4 * bodyIndices];
	for ( int i = 0; i < bodyIndices; ++i )
	{
		memcpy( cornerPositions + 3 * i, positions + 3 * indices[i], 12 );
		memcpy( cornerWeights + 4 * i, weights + 4 * indices[i], 16 );
		memcpy( cornerJoints + 4 * i, joints + 4 * indices[i], 8 );
	}
	MakeBody( &writer );
	int p = lmbGlbWriter_AddFloats( &writer, "VEC3", cornerPositions, bodyIndices, lmb_glbVertices, true );
	int j = lmbGlbWriter_AddJoints( &writer, cornerJoints, bodyIndices );
	int w = lmbGlbWriter_AddFloats( &writer, "VEC4", cornerWeights, bodyIndices, lmb_glbVertices, false );
	snprintf( text, sizeof( text ), "{\"POSITION\":%d,\"JOINTS_0\":%d,\"WEIGHTS_0\":%d}", p, j, w );
	BodySet( &writer, "/meshes/0/primitives/0/attributes", text );
	BodySet( &writer, "/meshes/0/primitives/0/indices", NULL );
	lmbCharacter *corners = NeedBody( &writer );
	CHECK_INT( corners->vertexCount, bodyIndices );
	CHECK_INT( corners->triangleCount, 16 );
	CHECK_INT( SameTriangles( plain, corners ), 16 );
	lmbCharacter_Free( plain );
	lmbCharacter_Free( strips );
	lmbCharacter_Free( fans );
	lmbCharacter_Free( corners );
}

/* A second weight set; weights that do not sum to 1; a vertex without any; the same joint named twice. */
static void WeightSets( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	float weights[4 * bodyVertices] = { 0 }, more[4 * bodyVertices] = { 0 };
	uint16_t joints[4 * bodyVertices] = { 0 }, moreJoints[4 * bodyVertices] = { 0 };
	for ( int i = 0; i < bodyVertices; ++i )
	{
		weights[4 * i] = 0.3f;
		weights[4 * i + 3] = 0.3f;
		joints[4 * i + 1] = 500; /* weight 0: not read */
		more[4 * i + 2] = 0.9f;
		moreJoints[4 * i + 2] = 1;
	}
	memset( weights, 0, 16 );
	memset( more, 0, 16 );
	joints[0] = 1;
	char text[16];
	int a[4] = { lmbGlbWriter_AddJoints( &writer, joints, bodyVertices ),
	             lmbGlbWriter_AddFloats( &writer, "VEC4", weights, bodyVertices, lmb_glbVertices, false ),
	             lmbGlbWriter_AddJoints( &writer, moreJoints, bodyVertices ),
	             lmbGlbWriter_AddFloats( &writer, "VEC4", more, bodyVertices, lmb_glbVertices, false ) };
	static const char *const names[] = { "JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1" };
	for ( int i = 0; i < 4; ++i )
	{
		char pointer[100];
		snprintf( pointer, sizeof( pointer ), "/meshes/0/primitives/0/attributes/%s", names[i] );
		snprintf( text, sizeof( text ), "%d", a[i] );
		BodySet( &writer, pointer, text );
	}
	lmbCharacter *character = NeedBody( &writer );
	CHECK_INT( character->influenceCount, 2 );
	CHECK_INT( character->vertexBones[2], 1 );
	CHECK_NEAR( character->weights[2], 0.6, 1e-7 );
	CHECK_INT( character->vertexBones[3], 0 );
	CHECK_NEAR( character->weights[3], 0.4, 1e-7 );
	CHECK_INT( character->vertexBones[0], 1 );
	CHECK_NEAR( character->weights[0], 1.0, 0.0 );
	CHECK_CONTAINS( character->notes[0], "11 vertices do not sum to 1" );
	CHECK_CONTAINS( character->notes[1], "1 vertices have no weight" );
	lmbCharacter_Free( character );
}

/* Default weights of morph targets shape the body; a node's own go before the mesh's. */
static void MorphTargets( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	float offsets[3 * bodyVertices];
	for ( int i = 0; i < 3 * bodyVertices; ++i )
		offsets[i] = i % 3 == 1 ? 0.2f : 0.0f;
	char text[64];
	snprintf( text, sizeof( text ), "[{\"POSITION\":%d}]",
	          lmbGlbWriter_AddFloats( &writer, "VEC3", offsets, bodyVertices, lmb_glbVertices, true ) );
	BodySet( &writer, "/meshes/0/primitives/0/targets", text );
	BodySet( &writer, "/meshes/0/weights", "[0.5]" );
	BodySet( &writer, "/nodes/0/weights", "[0.25]" );
	lmbCharacter *character = NeedBody( &writer );
	CHECK_NEAR( character->bind[1], 0.05, 1e-8 );
	CHECK_CONTAINS( character->notes[0], "morph targets" );
	lmbCharacter_Free( character );
}

int main( void )
{
	if ( !MakeBodyFolder() )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( PlainBody ),  CHECK_TEST( TextContainers ), CHECK_TEST( Interleaved ),
	    CHECK_TEST( Sparse ),     CHECK_TEST( Quantised ),      CHECK_TEST( TriangleModes ),
	    CHECK_TEST( WeightSets ), CHECK_TEST( MorphTargets ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( bodyFolder );
	return failures;
}
