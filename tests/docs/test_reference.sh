#!/usr/bin/env bash
# The reference builds without a warning, names every public call, and would not let an undocumented one pass.
set -euo pipefail
command -v doxygen >/dev/null || { echo "skipped: no doxygen (scripts/setup --tests)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$SOURCE/scripts/reference" "$work/out"
for call in $(grep -ohE 'LMB_API [^;(]*\(' "$SOURCE"/include/limber/*.h | grep -oE 'lmb\w+\($' | tr -d '('); do
	grep -rqs "$call" "$work/out/html" || { echo "$call is not in the pages"; exit 1; }
done

mkdir -p "$work/copy"
cp -r "$SOURCE/include" "$SOURCE/scripts" "$work/copy"
mkdir "$work/copy/docs"
cp "$SOURCE/docs/Doxyfile" "$SOURCE/docs/reference.md" "$work/copy/docs"
sed -i "s|^\t/\* Any thread. \*/|\tLMB_API int lmbFlesh_Secret( int a );\n\n&|" "$work/copy/include/limber/flesh.h"
if "$work/copy/scripts/reference" "$work/bad" >"$work/log" 2>&1; then
	echo "an undocumented call passed"
	exit 1
fi
grep -q 'lmbFlesh_Secret' "$work/log"
