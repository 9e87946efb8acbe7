#!/usr/bin/env bash
# The Python package: built from the root as a wheel, installed without a compiler in sight, typed, tested.
# What it needs comes from PyPI into a virtual environment in the build folder, once; skipped when it cannot be had.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
venv=$BUILD/python-limber
if ! "$venv/bin/python" -c 'import numpy, safetensors, pytest, mypy, scikit_build_core' 2>/dev/null; then
	rm -rf "$venv"
	python3 -m venv "$venv" >/dev/null 2>&1 &&
		timeout 500 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 \
			'scikit-build-core>=0.10' numpy safetensors pytest mypy >/dev/null 2>&1 ||
		{ rm -rf "$venv"; echo "skipped: numpy, safetensors, pytest, mypy and scikit-build-core could not be installed"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The build folder may lie inside the sources, so what pip is given is a copy of what the package is made of.
mkdir "$work/source"
cd "$SOURCE"
cp -r CMakeLists.txt pyproject.toml LICENSE cmake include python src "$work/source"
"$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	-w "$work" "$work/source" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
wheel=$(echo "$work"/limber-*.whl)
case $wheel in *-py3-none-linux_*.whl) ;; *) echo "unexpected wheel: $wheel"; exit 1 ;; esac
echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
"$venv/bin/python" -m zipfile -l "$wheel" | awk '{ print $1 }' | grep -E '^limber/' | sort >"$work/files"
grep -qx limber/liblimber.so "$work/files"
grep -qx limber/py.typed "$work/files"
if grep -vE '\.py$|py\.typed$|\.so$' "$work/files"; then echo "the wheel has files that it should not"; exit 1; fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"

cd "$work"
"$venv/bin/python" -m mypy --strict --cache-dir "$work/mypy" "$SOURCE/python/limber"
"$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$SOURCE/tests/python" "$SOURCE/tests/python"
