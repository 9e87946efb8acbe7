#!/usr/bin/env bash
# Others' projects: one that finds an installed Limber with CMake, one that asks pkg-config, one that adds its
# folder; all three run the same program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$SOURCE/tests/consumer
"$BUILD/test_runtime_flesh" write "$work/model.safetensors"
command -v c++ >/dev/null || { echo "skipped: no C++ compiler"; exit 77; }

cmake --install "$BUILD" --prefix "$work/installed" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
find "$work/installed" -name '*.h' | sed "s|$work/||" | sort >"$work/headers"
if [ "$(cat "$work/headers")" != "$(cd "$SOURCE" && ls include/limber/*.h | sed 's|^|installed/|' | sort)" ]; then
	echo "installed headers are not those of include/limber:"
	cat "$work/headers"
	exit 1
fi

# Runs a consumer without a model, which it must refuse, and with one; every build must give the same bits.
try() {
	echo "$1"
	"$2"
	"$2" "$work/model.safetensors" | tee "$work/result"
	[ ! -e "$work/first" ] || cmp "$work/first" "$work/result"
	cp "$work/result" "$work/first"
}

# The library may carry sanitizers, which its user must then link too.
flags=$(sed -n 's/^CMAKE_C_FLAGS:STRING=//p' "$BUILD/CMakeCache.txt")
cmake -G Ninja -S "$here" -B "$work/found" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_C_FLAGS="$flags" \
	-DCMAKE_CXX_FLAGS="$flags" >"$work/log" 2>&1 && cmake --build "$work/found" >>"$work/log" 2>&1 ||
	{ cat "$work/log"; exit 1; }
try find_package "$work/found/consumer"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/installed" -name limber.pc)")
cc $flags $(pkg-config --cflags limber) -c "$here/consumer.c" -o "$work/consumer.o"
c++ $flags $(pkg-config --cflags limber) "$here/header.cpp" "$work/consumer.o" $(pkg-config --libs limber) -o "$work/packaged"
try pkg-config "$work/packaged"

cmake -G Ninja -S "$here" -B "$work/added" -DLIMBER_SOURCE="$SOURCE" >"$work/log" 2>&1 &&
	cmake --build "$work/added" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try add_subdirectory "$work/added/consumer"

# The shared library shows the public calls and no more.
cmake -G Ninja -S "$SOURCE" -B "$work/shared" -DLIMBER_TOOLS=OFF -DLIMBER_TESTS=OFF -DLIMBER_SHARED=ON >"$work/log" 2>&1 &&
	cmake --build "$work/shared" >>"$work/log" 2>&1 &&
	cmake --install "$work/shared" --prefix "$work/so" --strip >>"$work/log" 2>&1 &&
	cmake -G Ninja -S "$here" -B "$work/dynamic" -DCMAKE_PREFIX_PATH="$work/so" >>"$work/log" 2>&1 &&
	cmake --build "$work/dynamic" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
library=$(find "$work/so" -name 'liblimber.so')
ldd "$work/dynamic/consumer" | grep -q liblimber.so
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$work/shown"
grep -ohE 'LMB_API [^;(]*\(' "$SOURCE"/include/limber/*.h | grep -oE 'lmb\w+\($' | tr -d '(' | sort | diff - "$work/shown"
echo "shared library: $(wc -l <"$work/shown") calls, $(stat -L -c %s "$library") bytes stripped"
try shared "$work/dynamic/consumer"

# The example of the docs, where it was built.
if [ -x "$BUILD/embed" ]; then
	"$BUILD/embed" "$work/model.safetensors" >"$work/swing"
	grep -q 'mm$' "$work/swing"
	! "$BUILD/embed" "$SOURCE/LICENSE" 2>"$work/refusal" || exit 1
	grep -q 'safetensors' "$work/refusal"
fi
