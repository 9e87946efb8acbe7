#!/usr/bin/env bash
# The runtime as two files: compiles as C99 to C23 without a warning, is read by C++, exports the public calls and
# nothing else, gives the bits of the library and of tests/golden, and says how large it is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$SOURCE/scripts/amalgamate" "$work"
# Every warning is on: in C99 too, vector types are attributes and builtins, which -Wpedantic lets pass.
warnings=(-Wall -Wextra -Wpedantic -Werror)
compilers=()
for compiler in gcc clang; do command -v $compiler >/dev/null && compilers+=($compiler); done

grep -oE 'LMB_API [^;(]*\(' limber.h | grep -oE 'lmb\w+\($' | tr -d '(' | sort >declared
for compiler in "${compilers[@]}"; do
	for standard in c99 c11 c17 c2x; do
		$compiler -std=$standard "${warnings[@]}" -fsyntax-only limber.c
	done
	for macro in -DLMB_VECTOR_KERNELS -DLMB_PLAIN_KERNELS; do # the optimiser sees more than the parser
		$compiler -std=c99 "${warnings[@]}" $macro -O2 -c limber.c -o limber.o
		nm -g --defined-only limber.o | awk '{ print $3 }' | sort | diff declared -
	done
done
echo "C99 to C23 with ${compilers[*]}: $(wc -l <declared) calls, no warning"

# C++ reads the header; the source stays C.
sed 's|<limber/.*>|"limber.h"|' "$SOURCE/tests/consumer/header.cpp" | uniq >header.cpp
sed 's|<limber/.*>|"limber.h"|' "$SOURCE/tests/consumer/consumer.c" >consumer.c
for compiler in "${compilers[@]}"; do
	other=${compiler/gcc/g++}
	other=${other/clang/clang++}
	$other -std=c++17 "${warnings[@]}" -c header.cpp -o header.o
	$compiler -std=c11 -c consumer.c -o consumer.o
	$compiler -std=c11 -c limber.c -o limber.o
	$other header.o consumer.o limber.o -lm -o consumer
	./consumer
done

# The same bytes as from the library, for the sample too.
"$BUILD/test_runtime_flesh" write model.safetensors
sed 's|<limber/.*>|"limber.h"|' "$SOURCE/examples/embed/embed.c" >embed.c
"$BUILD/embed" model.safetensors >expected
grep -q 'mm$' expected
sed 's|<limber/.*>|"limber.h"|' "$SOURCE/tests/runtime/same_bits.c" >same_bits.c
for variant in "gcc -O2 -march=native" "gcc -O1 -std=c11 -DLMB_PLAIN_KERNELS" "clang -O2 -march=native"; do
	command -v "${variant%% *}" >/dev/null || continue
	$variant embed.c limber.c -lm -o embed
	./embed model.safetensors | cmp - expected
	$variant same_bits.c limber.c -lm -o same_bits
	for model in "$SOURCE"/tests/golden/flesh-*.safetensors; do
		./same_bits <"$model" 2>log | diff "${model%.safetensors}.txt" - || { cat log; exit 1; }
	done
	echo "$variant: the sample's bytes and the golden hashes"
done

for variant in "gcc -Os -fno-asynchronous-unwind-tables" "gcc -O2"; do
	command -v "${variant%% *}" >/dev/null || continue
	$variant -fno-math-errno -fno-trapping-math -shared -fPIC -fvisibility=hidden -Wl,-z,noseparate-code limber.c -lm -o liblimber.so
	strip liblimber.so
	size=$(stat -c %s liblimber.so)
	echo "stripped shared library, $variant: $size bytes"
	nm -D --defined-only liblimber.so | awk '{ print $3 }' | sort | diff declared -
	# What the aim is and what it is today: docs/decisions/0009-hooks.md. More than this is a surprise.
	[ "$size" -lt 230000 ] || { echo "the library has grown"; exit 1; }
done
