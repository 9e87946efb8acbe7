#!/usr/bin/env bash
# Others' projects: one that finds an installed Limber with CMake, one that asks pkg-config, one that adds its
# folder; all three run the same program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$SOURCE/tests/consumer
command -v c++ >/dev/null || { echo "skipped: no C++ compiler"; exit 77; }

cmake --install "$BUILD" --prefix "$work/installed" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
find "$work/installed" -name '*.h' | sed "s|$work/||" | sort >"$work/headers"
if [ "$(cat "$work/headers")" != "$(cd "$SOURCE" && ls include/limber/*.h | sed 's|^|installed/|' | sort)" ]; then
	echo "installed headers are not those of include/limber:"
	cat "$work/headers"
	exit 1
fi

echo "find_package"
# The library may carry sanitizers, which its user must then link too.
flags=$(sed -n 's/^CMAKE_C_FLAGS:STRING=//p' "$BUILD/CMakeCache.txt")
cmake -G Ninja -S "$here" -B "$work/found" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_C_FLAGS="$flags" \
	-DCMAKE_CXX_FLAGS="$flags" >"$work/log" 2>&1 && cmake --build "$work/found" >>"$work/log" 2>&1 ||
	{ cat "$work/log"; exit 1; }
"$work/found/consumer"

echo "pkg-config"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/installed" -name limber.pc)")
cc $flags $(pkg-config --cflags limber) -c "$here/consumer.c" -o "$work/consumer.o"
c++ $flags $(pkg-config --cflags limber) "$here/header.cpp" "$work/consumer.o" $(pkg-config --libs limber) -o "$work/packaged"
"$work/packaged"

echo "add_subdirectory"
cmake -G Ninja -S "$here" -B "$work/added" -DLIMBER_SOURCE="$SOURCE" >"$work/log" 2>&1 &&
	cmake --build "$work/added" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/added/consumer"
