#!/usr/bin/env bash
# limber predict --out x.mat: the numbers of the CSV, bit for bit, and names of any kind, as SciPy reads them. SciPy
# comes from PyPI into a virtual environment in the build folder, once; skipped without Python or a package index.
set -euo pipefail
venv=$BUILD/python-scipy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$BUILD/test_limb_export" write "$work"
printf 'time,ua0,ua1\n' >torques.csv
for i in $(seq 0 200); do echo "$i" | awk '{ printf "%.3f,%.3f,0.1\n", $1 / 100, 0.01 * $1 }'; done >>torques.csv
for kind in csv mat MAT; do
	"$LIMBER" predict arm.safetensors --torques torques.csv --start qa=0.5 --out "same.$kind" --quiet
done
cmp same.mat same.MAT || { echo "the same table, other bytes"; exit 1; }
[ "$(head -c 19 same.mat)" = "MATLAB 5.0 MAT-file" ] || { echo "the header"; exit 1; }
# A file that cannot be written whole is not there: 4 KiB (of 512 bytes) is less than 201 rows take.
if (trap '' XFSZ; ulimit -f 4; "$LIMBER" predict arm.safetensors --torques torques.csv --out full.mat --quiet) 2>log; then
	echo "no word of a full disk"
	exit 1
fi
grep -q "disk full" log || { cat log; exit 1; }
[ -z "$(find . -name 'full*')" ] || { echo "left over: $(find . -name 'full*')"; exit 1; }
if ! "$venv/bin/python" -c 'import scipy.io' 2>/dev/null; then
	command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
	rm -rf "$venv"
	python3 -m venv "$venv" >/dev/null 2>&1 &&
		timeout 300 "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 1 scipy >/dev/null 2>&1 ||
		{ rm -rf "$venv"; echo "skipped: scipy could not be installed"; exit 77; }
fi
"$BUILD/test_formats_matlab" write odd.mat
"$venv/bin/python" - <<'END'
import numpy as np
from scipy.io import loadmat, whosmat

assert whosmat("same.mat") == [("data", (201, 6), "double"), ("names", (1, 6), "cell")], whosmat("same.mat")
file = loadmat("same.mat", simplify_cells=True)
assert list(file["names"]) == open("same.csv").readline().strip().split(","), file["names"]
assert (file["data"] == np.loadtxt("same.csv", delimiter=",", skiprows=1)).all()
odd = loadmat("odd.mat", simplify_cells=True)
assert list(odd["names"]) == ["time", "/jointset/elbow/value", "Wölbung Ω"], odd["names"]
r = np.arange(40)
true = np.stack([r / 120.0, (-1.0) ** r / (3.0 + r) * 2.0**r, 5e-324 * r], 1)
true[7, 2] = np.nan
assert np.array_equal(odd["data"], true, equal_nan=True)
print("SciPy reads 201 rows of 6 columns, and odd names and numbers, as they were")
END
