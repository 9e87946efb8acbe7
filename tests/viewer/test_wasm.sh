#!/usr/bin/env bash
# The runtime compiled to WebAssembly, run by Node, against the native library: every bit of 60 frames.
set -euo pipefail
for tool in clang wasm-ld node; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool (scripts/setup --viewer)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"

viewer/wasm/build "$work/limber.wasm"
imports=$(node -e 'const m = new WebAssembly.Module(require("fs").readFileSync(process.argv[1]));
	console.log(WebAssembly.Module.imports(m).length)' "$work/limber.wasm")
[ "$imports" = 0 ] || { echo "the module imports $imports things; it must stand alone"; exit 1; }
"${CC:-cc}" -std=c11 -O1 -ffp-contract=off -Iinclude tests/viewer/native_run.c "$BUILD/src/liblimber.a" -lm -o "$work/native_run"
node tests/viewer/wasm.mjs "$work/limber.wasm" "$work/native_run" "$work" tests/golden/flesh-*.safetensors
