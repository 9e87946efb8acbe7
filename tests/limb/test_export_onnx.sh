#!/usr/bin/env bash
# Accelerations as ONNX: checked by ONNX's own checker and shape inference, run by onnxruntime on random states,
# compared with the library. Both come from PyPI into a virtual environment in the build folder, once; skipped
# without Python or a package index.
set -euo pipefail
venv=$BUILD/python-onnx
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import onnx, onnxruntime' 2>/dev/null; then
	command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
	rm -rf "$venv"
	python3 -m venv "$venv" >/dev/null 2>&1 &&
		timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 onnx onnxruntime numpy >/dev/null 2>&1 ||
		{ rm -rf "$venv"; echo "skipped: onnx and onnxruntime could not be installed"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$BUILD/test_limb_export
"$program" write "$work"
for path in "$work"/*.safetensors; do
	name=$(basename "$path" .safetensors)
	case $name in
	gru | lstm)
		if "$LIMBER" export "$path" --onnx "$work/$name.onnx" >/dev/null 2>"$work/log"; then exit 1; fi
		grep -q "recurrent" "$work/log"
		;;
	*)
		"$LIMBER" export "$path" --onnx "$work/$name.onnx" >/dev/null
		"$program" states "$path" >"$work/$name.states"
		;;
	esac
done
"$venv/bin/python" - "$work" <<'PYTHON'
import glob, os, sys
import numpy as np
import onnx
import onnxruntime

failed = False
for path in sorted(glob.glob(sys.argv[1] + "/*.onnx")):
    name = os.path.basename(path)[:-5]
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shapes = {i.name: i.shape for i in session.get_inputs()}
    n = shapes["positions"][1]
    m = shapes.get("inputs", [1, 0])[1]
    rows = np.loadtxt(path[:-5] + ".states", ndmin=2)
    assert rows.shape[1] == 3 * n + m, (name, rows.shape)
    worst = 0.0
    for row in rows:
        feed = {"positions": row[:n], "velocities": row[n : 2 * n], "inputs": row[2 * n : 2 * n + m]}
        feed = {k: v.reshape(1, -1).astype(np.float32) for k, v in feed.items() if k in shapes}
        found = session.run(["accelerations"], feed)[0]
        assert found.shape == (1, n)
        expected = row[2 * n + m :]
        worst = max(worst, np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))
    print(f"{name}: {len(rows)} states, accelerations within {worst:.1e}")
    # All in float there, against double around float networks here: the bias sums squares of speeds, the solve
    # divides by the mass matrix.
    failed |= not worst < 2e-5
    failed |= len(rows) < 50
sys.exit(failed)
PYTHON
