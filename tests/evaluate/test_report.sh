#!/usr/bin/env bash
# limber evaluate --report, --svg, --png: what they refuse, a small character and a small limb, and both pages in
# headless Chromium with every number of metrics.json. SHOTS=FOLDER keeps pictures of the pages.
set -uo pipefail
for tool in node npm chromium gnuplot; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool (scripts/setup --tests)"; exit 77; }
done
"$SOURCE/tests/node_modules.sh" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
	printf 'test_report.sh:%s: %s\n' "${BASH_LINENO[0]}" "$1" >&2
	failures=$((failures + 1))
}
refuses() { # PATTERN ARGUMENTS...
	local pattern=$1
	shift
	"$LIMBER" "$@" >said 2>err && fail "limber $* passed"
	grep -q -- "$pattern" err || fail "limber $*: $(cat err)"
}

sed "s|PUPPET|$BUILD/puppet.glb|" "$SOURCE/tests/tiny_puppet.yaml" >tiny.yaml
cat >arm.yaml <<END
limb: { plant: arm, gravity: 0 }
motions: { rate: 50, duration: 1, train: [{ kind: torques, count: 6 }, { kind: reaches, count: 3 }] }
train:
  models:
    - { kind: lagrangian, width: 6, layers: 1, adam_epochs: 4, lbfgs_iterations: 30 }
    - { kind: gru, width: 6, adam_epochs: 4, lbfgs_iterations: 5 }
evaluate: { motions: 4, pairs: 2, duration: 1.5, step: 0.01, tests: [held_out, pulse] }
END

# A command of its own, beside which there is no page yet; nothing is computed before that is told.
cp "$LIMBER" limber && LIMBER=$work/limber
refuses "run report/build $work/report" run tiny.yaml --report page.html
[ ! -e out ] || fail "something was made before the page was found to be missing"
"$SOURCE/report/build" "$work/report" >log 2>&1 || { cat log; exit 1; }
refuses "an instant model has no simulation" run tiny.yaml --instant --report page.html
mkdir empty
PATH=$work/empty "$LIMBER" run tiny.yaml --svg figure.svg >said 2>err && fail "a figure without gnuplot"
grep -q "apt-get install gnuplot-nox" err || fail "no gnuplot: $(cat err)"
[ ! -e out ] || fail "something was made before gnuplot was found to be missing"

for name in tiny arm; do
	"$LIMBER" run $name.yaml --quiet --report $name.html --svg $name.svg --png $name.png >log 2>&1 || { cat log; exit 1; }
	grep -qx "report: $name.html" log || fail "what was written is not said: $(cat log)"
	head -c 8 $name.png | od -An -tx1 | grep -q "89 50 4e 47 0d 0a 1a 0a" || fail "$name.png is no PNG"
done
# The verb alone makes the same page of what is up to date, and says so as JSON.
"$LIMBER" evaluate tiny.yaml --report again.html --json >said || fail "evaluate --report"
cmp tiny.html again.html || fail "the page of the same results differs"
node -e 'const said = JSON.parse( require( "fs" ).readFileSync( "said" ) ); process.exit( said.report === "again.html" ? 0 : 1 )' ||
	fail "JSON: $(cat said)"
refuses "cannot" evaluate tiny.yaml --report missing/page.html

node "$SOURCE/tests/evaluate/report.mjs" "$work" || fail "the pages"
[ -z "${SHOTS:-}" ] || cp ./*.shot.png ./*.svg "$SHOTS"
[ "$failures" = 0 ]
