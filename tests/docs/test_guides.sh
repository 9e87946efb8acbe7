#!/usr/bin/env bash
# Every C snippet of the guides on the runtime compiles as it stands, and runs on a body. Each is a function of its
# own that is given model, body, pose, dt, and for levels of detail two bodies, fine and coarse.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
python3 - docs/guide/direction.md >"$work/snippets.c" <<'END'
import re, sys

text = open(sys.argv[1]).read()
snippets = re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)
assert len(snippets) > 5, "no snippets"
print("#include <limber/flesh.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
for i, snippet in enumerate(snippets):
    head = "const lmbFlesh *model, lmbFleshBody *body, lmbFleshPose pose, double dt, lmbFleshBody *fine, lmbFleshBody *coarse"
    print(f"static void Snippet{i}( {head} )\n{{\n(void)model; (void)body; (void)pose; (void)dt; (void)fine; (void)coarse;\n{snippet}}}\n")
print("typedef void Snippet( const lmbFlesh *, lmbFleshBody *, lmbFleshPose, double, lmbFleshBody *, lmbFleshBody * );")
print("static Snippet *const snippets[] = {", ", ".join(f"Snippet{i}" for i in range(len(snippets))), "};")
END
cat >"$work/program.c" <<'END'
#include "snippets.c"

#include <math.h>

int main( void )
{
	static char data[1 << 20];
	size_t size = fread( data, 1, sizeof( data ), stdin ), bytes = lmbFlesh_Size( data, size );
	void *memory = aligned_alloc( 64, ( bytes + 63 ) / 64 * 64 );
	lmbFlesh *model = NULL;
	if ( lmbFlesh_Load( data, size, memory, bytes, &model, NULL ) != lmb_statusOk )
		return 2;
	lmbFleshInfo info = lmbFlesh_Info( model );
	lmbFleshBody *bodies[3] = { NULL };
	for ( int i = 0; i < 3; ++i )
	{
		lmbFleshDef def = lmbDefaultFleshDef( model );
		def.layer = i == 0 ? def.layer : lmb_layerModal;
		size_t bodySize = lmbFleshBody_Size( model, &def );
		void *block = aligned_alloc( 64, ( bodySize + 63 ) / 64 * 64 );
		if ( lmbFleshBody_Place( model, &def, block, bodySize, &bodies[i] ) != lmb_statusOk )
			return 3;
	}
	lmbFleshBody *body = bodies[0];
	float *bones = calloc( (size_t)info.boneCount * 12, sizeof( float ) );
	for ( int i = 0; i < 12 * info.boneCount; ++i )
		bones[i] = i % 12 % 5 == 0 ? 1.0f : 0.0f;
	lmbFleshPose pose = { .bones = bones };
	int count = (int)( sizeof( snippets ) / sizeof( snippets[0] ) );
	for ( int n = 0; n < 20 * count; ++n )
	{
		lmbFleshShape shape;
		pose.position[0] = 0.05 * sin( 0.3 * n );
		if ( n % 20 == 10 )
			snippets[n / 20]( model, body, pose, 1.0 / 60.0, bodies[1], bodies[2] );
		if ( lmbFleshBody_Step( body, &pose, 1.0 / 60.0, &shape ) != lmb_statusOk )
			return 4;
		for ( int i = 0; i < 3 * info.vertexCount; ++i )
			if ( !( fabsf( shape.positions[i] ) < 100.0f ) )
				return 5;
	}
	printf( "%d snippets\n", count );
	free( bones );
	for ( int i = 0; i < 3; ++i )
		free( bodies[i] );
	free( memory );
	return 0;
}
END
flags=$(sed -n 's/^CMAKE_C_FLAGS:STRING=//p' "$BUILD/CMakeCache.txt")
${CC:-cc} -std=c11 -Wall -Wextra -Werror $flags -I"$work" -Iinclude "$work/program.c" "$BUILD/src/liblimber.a" -lm -o "$work/program"
"$work/program" <tests/golden/flesh-1.safetensors
