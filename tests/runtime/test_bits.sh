#!/usr/bin/env bash
# The same bits from every compiler, level of optimisation and instruction set of this machine, with the vectors of
# gcc and clang and without.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mapfile -t sources < <(find src/runtime -name '*.c' | sort)
"$BUILD/test_runtime_flesh" write "$work/model.safetensors"
printf '#include <limber/base.h>\nint HeaderWorksInCpp( void ) { return LMB_VERSION_MINOR; }\n' >"$work/stand_in.c"

variants=("gcc -O0" "gcc -O2" "gcc -O3 -fno-math-errno -fno-trapping-math" "gcc -O2 -DLMB_PLAIN_KERNELS" "clang -O3" "clang -O1 -DLMB_PLAIN_KERNELS")
if [ "$(uname -m)" = x86_64 ]; then
	for feature in avx2 avx512f; do
		grep -qw $feature /proc/cpuinfo && variants+=("gcc -O3 -m$feature -mfma" "clang -O2 -m$feature -mfma")
	done
fi
for variant in "${variants[@]}"; do
	command -v "${variant%% *}" >/dev/null || continue
	$variant -std=c11 -ffp-contract=off -Iinclude -Isrc/runtime "${sources[@]}" tests/consumer/consumer.c "$work/stand_in.c" \
		-o "$work/program" -lm
	"$work/program" "$work/model.safetensors" >"$work/result"
	echo "$(cat "$work/result") ($variant)"
	[ -e "$work/first" ] || cp "$work/result" "$work/first"
	cmp "$work/first" "$work/result"
done
