#!/usr/bin/env bash
# The command from outside: help, exit codes, messages, JSON. Needs LIMBER and SOURCE (set by CTest).
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
	printf 'test_command.sh:%s: %s\n' "${BASH_LINENO[*]}" "$1" >&2
	failures=$((failures + 1))
}

# expect CODE ARGUMENT...: runs limber; its outputs are in $out and $err.
expect() {
	local code=$1 got=0
	shift
	"$LIMBER" "$@" >stdout 2>stderr </dev/null || got=$?
	out=$(cat stdout)
	err=$(cat stderr)
	[ "$got" = "$code" ] || fail "limber $*: expected exit $code, got $got; stderr: $err"
}

in_out() { case $out in *"$1"*) ;; *) fail "expected \"$1\" in standard output: $out" ;; esac; }
in_err() { case $err in *"$1"*) ;; *) fail "expected \"$1\" in standard error: $err" ;; esac; }
no_out() { [ -z "$out" ] || fail "expected nothing on standard output: $out"; }
no_err() { [ -z "$err" ] || fail "expected nothing on standard error: $err"; }

# A whole JSON document and nothing else.
is_json() {
	if command -v node >/dev/null; then
		node -e 'JSON.parse(require("fs").readFileSync(0, "utf8"))' <stdout || fail "not JSON: $out"
	fi
}

# Help.
expect 0 --help && in_out "Usage: limber VERB" && no_err
expect 0 --version && in_out "limber 0." && no_err
verbs="info run tissue simulate modes train fit evaluate bake"
for verb in $verbs; do
	expect 0 "$verb" --help && in_out "Usage: limber $verb" && in_out "--threads" && in_out "--json" && no_err
	expect 2 "$verb" --no-such-option && in_err "limber $verb: --no-such-option: unknown option" &&
		in_err "limber $verb --help" && no_out
	expect 2 "$verb" a b && in_err "limber $verb --help" && no_out
	expect 2 "$verb" && in_err "limber $verb --help" && no_out
	expect 2 "$verb" x.glb --threads=-1 && in_err "--threads" && no_out
	expect 2 "$verb" x.glb --threads=two && in_err "--threads" && no_out
	expect 2 "$verb" x.glb --seed=-5 && in_err "--seed" && no_out
	expect 1 "$verb" "$work/missing.glb" && in_err "missing.glb: cannot open" && no_out
	expect 1 "$verb" "$work/missing.glb" --json && is_json && in_out '"ok": false' && in_out "missing.glb: cannot open"
	expect 0 --help && in_out "  $verb "
done

# Mistakes in the use.
expect 2 && in_err "Usage: limber VERB"
expect 2 tisue x.yaml && in_err 'no verb "tisue"; the nearest is "tissue"' && no_out
expect 2 --json run x.yaml && in_err "the verb comes first"
expect 2 run --json --nonsense && is_json && in_out '"ok": false' && in_out "unknown option"
printf 'name: ../x\nlimb: { plant: arm }\n' >outside.yaml
expect 1 run outside.yaml && in_err 'outside.yaml:1:7: "../x" cannot be a folder in out/'

# Files that are not what they should be.
printf 'character: a.glb\ntissue:\n  cel: 3\n' >bad.yaml
expect 1 run bad.yaml && in_err 'bad.yaml:3:3: tissue: unknown key "cel"; the nearest known one is "cell"'
expect 1 info bad.yaml --json && is_json && in_out "bad.yaml:3:3"
printf 'not a model' >bad.safetensors
expect 1 info bad.safetensors && in_err "bad.safetensors" && no_out
expect 1 info /etc/hostname && in_err "not a .glb"

# Recordings.
{ echo "t,q1,qd1"; for i in $(seq 0 99); do echo "0.$(printf %02d "$i"),$i,5"; done; } >swing.csv
expect 0 info swing.csv && in_out "100 rows and 3 columns" && in_out "100 Hz, regular" && in_out "q1           " &&
	in_out "qd1: constant, 5" && in_out "guessed positions: q1" && no_err
expect 0 info swing.csv --json && is_json && in_out '"kind": "recording"' && in_out '"rate_hz": 100.0'
expect 0 info swing.csv --positions "q*" --velocities "" && in_out "qd1                      position"
expect 1 info swing.csv --time zeit && in_err 'no column "zeit"; name one of "t", "q1", "qd1"' && no_out
printf 't,q1\n0,1\n1,x\n2,3\n' >word.csv
expect 1 info word.csv --json && is_json && in_out 'word.csv:3: column \"q1\": \"x\" is not a number'
printf 'glTF' >bad.glb
expect 1 info bad.glb && in_err "bad.glb" && no_out
printf 'character: bad.glb\nmotions: { train: [x] }\n' >broken.yaml
expect 1 run broken.yaml --out broken && in_err "bad.glb"
expect 1 run broken.yaml --set tissue.cell=-1 && in_err "--set: cell must be in 0 to 10 m, not -1"
expect 1 simulate broken.yaml --shard 3/2 && in_err "--shard must be I/N"

# The defaults are a project; the reference page is the one in the documents.
expect 0 run --defaults && in_out "character: character.glb" && no_err
cp stdout defaults.yaml
expect 0 info defaults.yaml --json && is_json && in_out '"ok": true'
expect 0 run --defaults limb && in_out "limb:" && no_err
cp stdout limb-defaults.yaml
expect 0 info limb-defaults.yaml --json && is_json && in_out '"ok": true'
expect 0 run --reference
cat "$SOURCE/docs/formats/project.md" "$SOURCE/docs/formats/limb-project.md" | cmp -s stdout - ||
	fail "docs/formats/project.md and limb-project.md are not what limber run --reference prints"
expect 0 run --reference character
cmp -s stdout "$SOURCE/docs/formats/project.md" || fail "docs/formats/project.md is not what limber run --reference character prints"
expect 0 run --reference limb
cmp -s stdout "$SOURCE/docs/formats/limb-project.md" || fail "docs/formats/limb-project.md is not what limber run --reference limb prints"
expect 1 run --reference leg && in_err 'there are character and limb' && no_out

# The kind of a project shows in its keys; what is not for limbs says so.
printf 'limb: { plant: arm, gravty: 9.81 }\n' >arm.yaml
expect 1 run arm.yaml && in_err 'arm.yaml:1:21: limb: unknown key "gravty"; the nearest known one is "gravity"'
printf 'limb: { plant: arm }\n' >arm.yaml
for verb in tissue modes fit bake; do
	expect 1 "$verb" arm.yaml && in_err "arm.yaml: this is a limb's project, and $verb is for characters" && no_out
done
expect 1 run arm.yaml --instant && in_err "--instant is for characters"
expect 1 simulate arm.yaml --shard 1/2 && in_err "--shard is for characters"
expect 1 train arm.yaml --set train.models='[lagrangian, lagrangian]' && in_err 'give one of the models a "name"'

# What cannot be written is an error.
"$LIMBER" run --reference 2>stderr >/dev/full
[ $? = 1 ] || fail "a full disk went unnoticed"

if [ "$failures" -gt 0 ]; then
	echo "$failures failures" >&2
	exit 1
fi
