#!/usr/bin/env bash
# One hash of 600 steps of an archived model of a limb for every integrator, from two compilers at several levels,
# with and without vectors, and from NEON where it can be built and run. The models, one of each kind and of
# format version 1, are what `test_limb_export write FOLDER` in the build folder writes; limb-1 is arm.
#   GOLDEN=write bash test_same_bits_limb.sh     writes the hashes anew
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mapfile -t sources < <(find src/runtime -name '*.c' | sort)
flags=(-std=c11 -ffp-contract=off -Iinclude -Isrc/runtime "${sources[@]}" tests/runtime/same_bits_limb.c -o "$work/program")

check() {
	local name=$1
	shift
	for model in tests/golden/limb-*.safetensors; do
		local golden=${model%.safetensors}.txt
		"$@" <"$model" >"$work/result"
		if [ "${GOLDEN:-}" = write ]; then cp "$work/result" "$golden"; fi
		diff "$golden" "$work/result" || { echo "$name: $model differs"; exit 1; }
	done
	echo "$name: same bits"
}

for variant in "gcc -O0" "gcc -O3 -fno-math-errno -fno-trapping-math -march=native" "gcc -O1 -DLMB_PLAIN_KERNELS" "clang -O2 -march=native"; do
	command -v "${variant%% *}" >/dev/null || continue
	$variant "${flags[@]}" -lm
	check "$variant" "$work/program"
done
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	aarch64-linux-gnu-gcc -static -O2 "${flags[@]}" -lm
	check "aarch64 gcc -O2" qemu-aarch64 "$work/program"
else
	echo "skipped: NEON needs gcc-aarch64-linux-gnu and qemu-user (scripts/setup --tests)"
fi
