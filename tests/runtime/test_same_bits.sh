#!/usr/bin/env bash
# One hash of 600 frames for every set of kernels: this processor's by two compilers at several levels, NEON built
# with Debian's cross compiler and run by qemu, WebAssembly run by node. tests/golden has the hashes.
#   GOLDEN=write bash test_same_bits.sh     writes them anew
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
mapfile -t sources < <(find src/runtime -name '*.c' | sort)
flags=(-std=c11 -ffp-contract=off -Iinclude -Isrc/runtime "${sources[@]}" tests/runtime/same_bits.c -o "$work/program")

# check NAME COMMAND...: the program run by the command gives the golden hashes for every archived model.
check() {
	local name=$1
	shift
	for model in tests/golden/flesh-*.safetensors; do
		local golden=${model%.safetensors}.txt
		"$@" <"$model" >"$work/result" 2>"$work/log" || { cat "$work/log" "$work/result"; exit 1; }
		if [ "${GOLDEN:-}" = write ]; then cp "$work/result" "$golden"; fi
		diff "$golden" "$work/result" || { echo "$name: $model differs"; exit 1; }
	done
	echo "$name: $(head -1 "$work/log")"
}

for variant in "gcc -O0" "gcc -O3 -fno-math-errno -fno-trapping-math" "gcc -O2 -march=native -DLMB_PLAIN_KERNELS" "clang -O1" "clang -O3 -march=native"; do
	command -v "${variant%% *}" >/dev/null || continue
	$variant "${flags[@]}" -lm
	check "$variant" "$work/program"
done

if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	for level in -O0 -O3; do
		aarch64-linux-gnu-gcc -static $level "${flags[@]}" -lm
		check "aarch64 gcc $level" qemu-aarch64 "$work/program"
		grep -q neon "$work/log"
	done
else
	echo "skipped: NEON needs gcc-aarch64-linux-gnu and qemu-user (scripts/setup --tests)"
fi

if [ -e /usr/include/wasm32-wasi/stdio.h ] && command -v clang wasm-ld node >/dev/null; then
	clang --target=wasm32-wasi -O2 -msimd128 "${flags[@]}"
	cat >"$work/run.mjs" <<'END'
import { WASI } from 'node:wasi';
import { readFileSync } from 'node:fs';
const wasi = new WASI({ version: 'preview1', returnOnExit: true });
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
process.exit(wasi.start(instance));
END
	check "wasm clang -O2" node --no-warnings "$work/run.mjs" "$work/program"
	grep -q wasm "$work/log"
else
	echo "skipped: WebAssembly needs clang, lld, wasi-libc, libclang-rt-14-dev-wasm32 and nodejs (scripts/setup --tests)"
fi
