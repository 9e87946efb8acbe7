#!/usr/bin/env bash
# limber bench on tiny sizes: every bench gives rows of sound numbers, and the comparisons hold loosely.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }

"$LIMBER" bench --list | grep -q '^springs '
if "$LIMBER" bench sprigns 2>err; then echo "a wrong name was taken"; exit 1; fi
grep -q 'no bench "sprigns"' err
if "$LIMBER" bench springs --kernels mmx 2>err; then echo "wrong kernels were taken"; exit 1; fi
grep -q 'no kernels called "mmx"' err

"$LIMBER" bench --json --quick -q >all.json
"$LIMBER" bench --json --largest 10000 -q springs >springs.json
"$LIMBER" bench --quick springs -q | grep -q '^| 1000 vertices | '
"$LIMBER" bench --quick springs -q | grep -q 'limber bench --quick springs'
cat >check.mjs <<'NODE'
import fs from "fs";
const fail = text => { console.error(text); process.exitCode = 1; };
for (const file of ["all.json", "springs.json"]) {
	const all = JSON.parse(fs.readFileSync(file));
	if (!all.ok || !all.commit || !all.processor || !(all.multiply_adds_us > 0)) fail(`${file}: head`);
	const names = all.benches.map(b => b.name).join(" ");
	if (names !== (file === "all.json" ? "springs euler step network crowd limb" : "springs")) fail(`${file}: ${names}`);
	for (const bench of all.benches) {
		if (bench.rows.length < 2) fail(`${bench.name}: ${bench.rows.length} rows`);
		for (const row of bench.rows) {
			for (const [key, value] of Object.entries(row))
				if (typeof value === "number" && !(value > 0 && value < 1e12)) fail(`${row.name}: ${key} ${value}`);
			if (!(row.us_least <= row.us && row.us <= row.us_median)) fail(`${row.name}: order of times`);
			/* Limits are what the machine can do: far above them something is counted wrongly. */
			if (row.of_bound !== undefined && !(row.of_bound < 3)) fail(`${row.name}: ${row.of_bound} of the bound`);
		}
		console.log(`${bench.name}: ${bench.rows.length} rows`);
		for (const c of bench.comparisons) console.log(`  ${c.name}: ${c.times} times; ${c.note}`);
	}
	const [first, second] = all.benches[0].rows;
	if (!(second.us > 2 * first.us)) fail(`ten times the vertices took ${second.us} after ${first.us} us`);
	if (file !== "all.json") continue;
	const of = name => all.benches.find(b => b.name === name);
	/* Documented far above: exact springs against Euler of the same error, found by bisection. */
	const euler = of("euler").comparisons[0];
	if (!(euler.times > 2)) fail(`Euler at equal error: ${euler.times} times`);
	const errors = of("euler").rows.map(r => parseFloat(r.name.split("off by ")[1]));
	if (!(errors[1] <= 1.051 * errors[0] && errors[0] < 1)) fail(`errors ${errors}`);
	/* Closed form and MuJoCo are the same arm. */
	const [a, b] = of("limb").comparisons[0].note.match(/-?\d\.\de[+-]\d+/g).map(Number);
	if (!(Math.abs(a) < 1e-9 && Math.abs(b) < 1e-9)) fail(`the arms differ by ${a}, ${b}`);
	if (!of("step").rows.some(r => r.name === "20 regions, cold: whole step")) fail("no whole step");
}
NODE
node check.mjs
