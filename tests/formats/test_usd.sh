#!/usr/bin/env bash
# limber bake with bake.usda: the file passes USD's own validators, and its points are those of the point cache, bit
# for bit. usd-core comes from PyPI into a virtual environment in the build folder, once; skipped without Python or a
# package index.
set -euo pipefail
venv=$BUILD/python-usd
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import numpy; from pxr import Usd, UsdValidation' 2>/dev/null; then
	command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
	rm -rf "$venv"
	python3 -m venv "$venv" >/dev/null 2>&1 &&
		timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 usd-core numpy >/dev/null 2>&1 &&
		"$venv/bin/python" -c 'from pxr import UsdValidation' 2>/dev/null ||
		{ rm -rf "$venv"; echo "skipped: usd-core could not be installed"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$BUILD/puppet.glb" character.glb
"$LIMBER" bake character.glb --instant --out baked --set 'bake.motions=[run]' --set bake.glb=false --set bake.pc2=true \
	--set bake.usda=true --quiet
"$venv/bin/python" "$SOURCE/tests/formats/usd_points.py" baked/usda/run.usda baked/pc2/run.pc2
[ "$(ls baked/usda)" = run.usda ]
