#!/usr/bin/env bash
# A tiny project through all stages: skipping, stopping with Ctrl-C, killing at random times, thread counts.
# Every way must end with the same files. Needs LIMBER, BUILD (with puppet.glb), set by CTest.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
	printf 'test_resume.sh:%s: %s\n' "${BASH_LINENO[0]}" "$1" >&2
	failures=$((failures + 1))
}

cat >tiny.yaml <<END
character: $BUILD/puppet.glb
tissue: { nodes: 250 }
motions:
  train: [{ clip: jumping_jacks, duration: 0.6 }]
  held_out: [{ clip: run, duration: 0.3 }]
  warp_in: 0.1
simulate: { poses: 12, rate: 30, step_rate: 60 }
modes: { count: 6 }
train: { coefficients: 4, hidden: 8, layers: 1, adam_steps: 200, lbfgs_steps: 20 }
bake: { targets: 3, pc2: true, mdd: true, usda: true }
END

# The files of two output folders are the same but for times.
same() {
	diff -rq -x stages.json -x metrics.json -x lock "$1" "$2" || fail "$1 and $2 differ"
	diff <(sed '/"timing_s"/,$d' "$1/metrics.json") <(sed '/"timing_s"/,$d' "$2/metrics.json") ||
		fail "the metrics of $1 and $2 differ"
}

"$LIMBER" run tiny.yaml --out whole --threads 2 --quiet >log 2>&1 || fail "limber run failed: $(cat log)"
for file in tissue.safetensors tissue.vtu modes.safetensors network.safetensors springs.safetensors \
	model.safetensors metrics.json sheet-run.png baked-run.glb pc2 mdd usda; do
	[ -e "whole/$file" ] || fail "$file is missing"
done
[ -z "$(find whole -name '*.tmp*' -o -name '*checkpoint*')" ] || fail "left over: $(find whole -name '*.tmp*' -o -name '*checkpoint*')"

# Nothing to do.
"$LIMBER" run tiny.yaml --out whole --quiet >log 2>&1 || fail "the second run failed"
[ "$(grep -c ': up to date' log)" = 9 ] || fail "the second run did something: $(cat log)"
cp -r whole again

# One setting: only what depends on it is made again.
"$LIMBER" run tiny.yaml --out again --set bake.targets=2 --quiet >log 2>&1 || fail "the run with --set failed"
[ "$(grep -c ': up to date' log)" = 8 ] || fail "more than the bake was made again: $(cat log)"
# A damaged result is made again, and nothing else, since it comes out the same.
printf 'x' >>again/modes.safetensors
"$LIMBER" run tiny.yaml --out again --quiet >log 2>&1 || fail "the run after damage failed"
[ "$(grep -c ': up to date' log)" = 7 ] || fail "expected modes and bake to be made again: $(cat log)"
same whole again

# One JSON document.
"$LIMBER" evaluate tiny.yaml --out whole --json >document 2>/dev/null || fail "limber evaluate --json failed"
if command -v node >/dev/null; then
	node -e 'const d = JSON.parse(require("fs").readFileSync("document", "utf8"));
		if (!d.ok || !(d.metrics.motions.run.rms_mm.skinning > 0)) process.exit(1)' || fail "not the document: $(cat document)"
fi

# Ctrl-C: stops soon, says how to go on, ends with 130.
"$LIMBER" run tiny.yaml --out stopped --threads 1 >log 2>&1 &
process=$!
for ((i = 0; i < 200; i++)); do
	[ -n "$(find stopped/simulation -name '*.safetensors' 2>/dev/null | head -1)" ] && break
	sleep 0.02
done
# A second one in the same folder is told so.
"$LIMBER" tissue tiny.yaml --out stopped >second 2>&1 && fail "two worked in one folder"
grep -q 'another limber works in this folder' second || fail "expected a word about the other process: $(cat second)"
kill -INT "$process"
wait "$process"
code=$?
[ "$code" = 130 ] || fail "after SIGINT expected exit 130, got $code: $(cat log)"
grep -q 'run the same command again to go on' log || fail "no word about how to go on: $(cat log)"
"$LIMBER" run tiny.yaml --out stopped --threads 1 --quiet >log 2>&1 || fail "going on failed: $(cat log)"
same whole stopped

# SIGKILL at random times, until a run gets through.
RANDOM=${SEED:-$$}
for ((turn = 1; turn <= 60; turn++)); do
	"$LIMBER" run tiny.yaml --out killed --threads 1 --quiet >log 2>&1 &
	process=$!
	# Later kills come later, so that the run gets through in the end.
	(sleep "$(printf '0.%03d' $((RANDOM % 1000)))" && [ "$turn" -le 12 ] && kill -KILL "$process") 2>/dev/null &
	killer=$!
	wait "$process" 2>/dev/null
	code=$?
	wait "$killer" 2>/dev/null
	[ "$code" = 0 ] && break
	[ "$code" = 137 ] || { fail "turn $turn (seed ${SEED:-$$}): exit $code: $(cat log)"; break; }
done
[ "$code" = 0 ] || fail "it never got through"
find killed -name '*.tmp*' -delete # of killed writers
same whole killed

# Instant: no simulation, no network; evaluate and sheet drop out.
"$LIMBER" run tiny.yaml --instant --out instant --quiet >log 2>&1 || fail "limber run --instant failed: $(cat log)"
[ -e instant/model.safetensors ] && [ ! -e instant/simulation ] || fail "an instant run makes a model and no simulation"

if [ "$failures" -gt 0 ]; then
	echo "$failures failures" >&2
	exit 1
fi
