#!/usr/bin/env bash
# limber predict and limber export: one step of semi-implicit Euler done by hand from the library's own
# accelerations, inverse dynamics that gives the inputs back, and what the verbs refuse.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$BUILD/test_limb_export
"$program" write "$work"
"$program" states "$work/arm.safetensors" >"$work/states" # q q v v u u a a

fail() {
	echo "$1"
	exit 1
}

# v' = v + h a, q' = q + h v', for ten states.
h=0.0078125
head -10 "$work/states" | while read -r q0 q1 v0 v1 u0 u1 a0 a1; do
	printf 'time,ua0,ua1\n0,%s,%s\n%s,9,9\n' "$u0" "$u1" $h >"$work/torques.csv"
	"$LIMBER" predict "$work/arm.safetensors" --torques "$work/torques.csv" --integrator euler --step 1 \
		--start "qa=$q0,qb=$q1,qa_velocity=$v0,qb_velocity=$v1" --out "$work/out.csv" --quiet
	head -1 "$work/out.csv" | grep -qx "time,qa,qb,qa_velocity,qb_velocity,trust" || fail "header"
	awk -F, -v h=$h -v q0="$q0" -v q1="$q1" -v v0="$v0" -v v1="$v1" -v a0="$a0" -v a1="$a1" '
		function off( x, y ) { d = x - y; if ( d < 0 ) d = -d; if ( d > 1e-12 ) { print "expected " y ", got " x; bad = 1 } }
		NR == 2 { off( $2, q0 ); off( $5, v1 ) }
		NR == 3 { off( $1, h ); off( $4, v0 + h * a0 ); off( $5, v1 + h * a1 )
			off( $2, q0 + h * ( v0 + h * a0 ) ); off( $3, q1 + h * ( v1 + h * a1 ) ) }
		END { exit bad || NR != 3 }' "$work/out.csv" || fail "a step by hand differs"
done

# The inputs of the motion come back: M is solved both ways with the same factor.
{
	echo "time,qa,qb,qa_velocity,qb_velocity,qa_acceleration,qb_acceleration"
	awk '{ print NR "," $1 "," $2 "," $3 "," $4 "," $7 "," $8 }' "$work/states"
} >"$work/motion.csv"
"$LIMBER" predict "$work/arm.safetensors" --torques "$work/motion.csv" --inverse --quiet >"$work/inverse.csv"
paste -d, "$work/inverse.csv" <({ echo u,u; awk '{ print $5 "," $6 }' "$work/states"; }) | awk -F, '
	NR == 1 { if ( $2 != "qa_torque" || $7 != "qb_interaction" ) { print; bad = 1 } }
	NR > 1 { for ( j = 0; j < 2; ++j ) { d = $( 2 + j ) - $( NF - 1 + j ); if ( d < 0 ) d = -d; if ( d > 1e-9 ) { print; bad = 1 }
		d = $( 2 + j ) - $( 4 + j ) - $( 6 + j ) - $( 8 + j ) - $( 10 + j ); if ( d < 0 ) d = -d; if ( d > 1e-9 ) { print; bad = 1 } } }
	END { exit bad || NR != 201 }' || fail "inverse dynamics does not give the inputs back"

# The same motion in every format, read by others: NumPy, and a reader of OpenSim's format written here.
for kind in csv npz NPZ sto mot; do
	"$LIMBER" predict "$work/arm.safetensors" --torques "$work/torques.csv" --start qa=0.5 --out "$work/same.$kind" --quiet
done
cmp "$work/same.npz" "$work/same.NPZ" || fail "the same table, other bytes"
cmp "$work/same.sto" "$work/same.mot" || fail "sto and mot differ"
head -6 "$work/same.sto" | tr '\n' '|' | grep -qx 'motion|version=1|nRows=2|nColumns=6|inDegrees=no|endheader|' || fail "header of .sto"
tail -n +7 "$work/same.sto" | tr '\t' , | cmp - "$work/same.csv" || fail "numbers of .sto"
if [ -e /usr/lib/python3/dist-packages/numpy ]; then
	/usr/bin/python3 - "$work" <<'END' || fail "NumPy reads other numbers"
import sys, zipfile, numpy
names = open(sys.argv[1] + "/same.csv").readline().strip().split(",")
rows = numpy.loadtxt(sys.argv[1] + "/same.csv", delimiter=",", skiprows=1)
assert zipfile.ZipFile(sys.argv[1] + "/same.npz").testzip() is None
arrays = numpy.load(sys.argv[1] + "/same.npz")
assert arrays.files == names and rows.shape == (2, 6)
for i, name in enumerate(names):
    assert arrays[name].dtype == "<f8" and (arrays[name] == rows[:, i]).all(), name
END
else
	echo "no NumPy here: .npz is not read by it"
fi

"$LIMBER" predict "$work/gru.safetensors" --torques "$work/torques.csv" --json >"$work/json"
grep -q '"ok": true' "$work/json" && grep -q '"qb_velocity"' "$work/json" || fail "json"

refuses() { # CODE WORDS ARGUMENTS...
	local expected=$1 words=$2 code=0
	shift 2
	"$LIMBER" "$@" >"$work/log" 2>&1 || code=$?
	[ $code = "$expected" ] && grep -qF -- "$words" "$work/log" || fail "limber $*: code $code, $(cat "$work/log")"
}
arm=$work/arm.safetensors
refuses 1 "--torques FILE" predict "$arm"
refuses 1 "none of euler" predict "$arm" --torques "$work/torques.csv" --integrator rk5
refuses 1 'no "elbow"' predict "$arm" --torques "$work/torques.csv" --start elbow=1
refuses 1 "NAME=VALUE" predict "$arm" --torques "$work/torques.csv" --start qa
refuses 1 "only a lagrangian" predict "$work/affine.safetensors" --torques "$work/motion.csv" --inverse
refuses 1 "ua0" predict "$arm" --torques "$work/motion.csv"
refuses 1 "" predict "$work/torques.csv" --torques "$work/torques.csv"
printf 'time,ua0,ua1\n0,1,1\n0,1,1\n' >"$work/again.csv"
refuses 1 "row 2" predict "$arm" --torques "$work/again.csv"
refuses 2 "works on one" predict
refuses 1 "nothing to write" export "$arm"
refuses 1 "none of euler" export "$arm" --c "$work" --integrators rk4,heun
"$LIMBER" export "$arm" --c "$work/c" --onnx "$work/arm.onnx" --json | grep -q '"ok": true' || fail "export --json"
[ -s "$work/c/arm.c" ] && [ -s "$work/c/arm.h" ] && [ -s "$work/arm.onnx" ] || fail "files are missing"
echo "predict and export: as told"
