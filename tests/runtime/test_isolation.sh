#!/usr/bin/env bash
# The runtime alone: its sources compile as C99 to C23 without a warning, seeing nothing but themselves and the
# public headers; its headers compile as C++; and the objects call a handful of functions of the C library.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mapfile -t sources < <(find src/runtime -name '*.c' | sort)
flags=(-pedantic -Wall -Wextra -Werror -ffp-contract=off -Iinclude -Isrc/runtime)

for compiler in gcc clang; do
	command -v $compiler >/dev/null || { echo "no $compiler here"; continue; }
	for standard in c99 c11 c17 c2x; do
		$compiler -std=$standard "${flags[@]}" -fsyntax-only "${sources[@]}"
		$compiler -std=$standard "${flags[@]}" -fsyntax-only -DLMB_PLAIN_KERNELS "${sources[@]}"
	done
	rm -rf "$work"/*
	(cd "$work" && $compiler -std=c99 -O2 "${flags[@]/#-I/-I$SOURCE/}" -c "${sources[@]/#/$SOURCE/}" && ar rcs liblimber.a ./*.o)
	scripts/check-runtime "$work/liblimber.a" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	echo "$compiler, C99 to C23: $(tail -1 "$work/log")"
done

for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for standard in c++11 c++17 c++20; do
		for header in include/limber/*.h; do
			$compiler -std=$standard -pedantic -Wall -Wextra -Werror -Iinclude -x c++ -fsyntax-only "$header"
		done
	done
	echo "$compiler, C++11 to C++20: headers"
done
