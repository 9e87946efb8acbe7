#!/usr/bin/env bash
# The runtime under tools that watch memory: clang's for memory never written, valgrind for that and for every
# access outside a block. tests/runtime/memory.c makes every call, with guards around each block. A run with
# one fault put in on purpose must fail, so that a tool that sees nothing is not taken for a clean run.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mapfile -t sources < <(find src/runtime -name '*.c' | sort)
flags=(-std=gnu11 -g1 -ffp-contract=off -Iinclude -Isrc/runtime "${sources[@]}" tests/runtime/memory.c -lm)
ran=0

# watch NAME COMMAND...: clean for every archived model.
watch() {
	local name=$1
	shift
	for model in tests/golden/flesh-*.safetensors; do
		"$@" <"$model" >"$work/log" 2>&1 || { echo "$name: $(basename "$model")"; head -60 "$work/log"; exit 1; }
	done
	echo "$name: $(grep bodies "$work/log")"
	ran=1
}

# must_fail NAME COMMAND...: the faulty program is caught.
must_fail() {
	local name=$1
	shift
	if "$@" <tests/golden/flesh-1.safetensors >"$work/log" 2>&1; then
		echo "$name did not see a fault that was put in on purpose"
		exit 1
	fi
}

if command -v clang >/dev/null && echo 'int main( void ) { return 0; }' | clang -fsanitize=memory -x c - -o "$work/probe" 2>/dev/null && "$work/probe"; then
	clang -O0 -fsanitize=memory -fno-omit-frame-pointer "${flags[@]}" -o "$work/msan"
	watch "memory sanitizer" "$work/msan"
	must_fail "memory sanitizer" "$work/msan" unset
else
	echo "skipped: memory sanitizer needs clang with its runtime"
fi
if command -v valgrind >/dev/null; then
	gcc -O1 "${flags[@]}" -o "$work/plain"
	valgrind=(valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite)
	watch valgrind "${valgrind[@]}" "$work/plain"
	must_fail valgrind "${valgrind[@]}" "$work/plain" unset
else
	echo "skipped: no valgrind (scripts/setup --tests)"
fi
[ "$ran" = 1 ] || exit 77
