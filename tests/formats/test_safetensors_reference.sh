#!/usr/bin/env bash
# Exchanges files with the format's reference implementation (the Python package safetensors) in both directions.
# It is taken from a virtual environment in the build folder, installed there once; skipped without Python or a
# package index.
set -euo pipefail
venv=$BUILD/python-safetensors
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import safetensors.numpy' 2>/dev/null; then
	command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
	rm -rf "$venv"
	python3 -m venv "$venv" >/dev/null 2>&1 &&
		timeout 120 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 safetensors numpy >/dev/null 2>&1 ||
		{ rm -rf "$venv"; echo "skipped: the package safetensors could not be installed"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$BUILD/test_formats_safetensors" write "$work/ours.safetensors"
"$venv/bin/python" - "$work" <<'PYTHON'
import sys
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

work = sys.argv[1]
ours = load_file(work + "/ours.safetensors")
expected = {
    "floats": np.array([[1, -2.5, 3.25], [0, 1e-30, -7]], np.float32),
    "doubles": np.array([1 / 3, -1e200, 5e-324], np.float64),
    "bytes": np.array([0, 1, 127, 128, 255], np.uint8),
    "empty": np.zeros((0, 3), np.float32),
    "scalar": np.array(1 / 3, np.float64),
    'grüße"\\': np.array([-1, 2, 2**31 - 1, -(2**31)], np.int32).reshape(1, 4, 1),
}
assert set(ours) == set(expected), set(ours)
for name, array in expected.items():
    assert ours[name].dtype == array.dtype and ours[name].shape == array.shape, name
    assert ours[name].tobytes() == array.tobytes(), name
with safe_open(work + "/ours.safetensors", "numpy") as file:
    metadata = file.metadata()
assert metadata == {
    "format": "limber.test",
    "version": "2",
    'odd "key"\\': "line\nbreak \U0001F40E é",
}, metadata
save_file(expected, work + "/theirs.safetensors", metadata)
print("Python reads ours")
PYTHON
"$BUILD/test_formats_safetensors" read "$work/theirs.safetensors"
