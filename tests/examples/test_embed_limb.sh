#!/usr/bin/env bash
# The program of docs/guide/limb-embed.md does what `limber predict` does, and the page shows it as it is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BUILD/test_limb_export" write "$work"
"$BUILD/embed_limb" "$work/arm.safetensors" >"$work/ours"
{
	echo time,ua0,ua1
	for i in $(seq 0 100); do echo "$i,0.5,0"; done
} | awk -F, 'NR == 1 { print; next } { printf "%.17g,%s,%s\n", $1 * 0.01, $2, $3 }' >"$work/torques.csv"
"$LIMBER" predict "$work/arm.safetensors" --torques "$work/torques.csv" --quiet |
	awk -F, 'NR > 2 { print $2 }' >"$work/theirs"
# Times written in decimals make steps that differ from 0.01 in the last digit.
paste -d ' ' "$work/ours" "$work/theirs" | awk '{ d = $1 - $3; if ( d < 0 ) d = -d; if ( d > 1e-9 || NF != 3 ) { print; bad = 1 } } END { exit bad || NR != 100 }'
sed -n '/^int main/,/^}/p' "$SOURCE/examples/embed/limb.c" >"$work/program"
sed -n '/^int main/,/^}/p' "$SOURCE/docs/guide/limb-embed.md" | cmp - "$work/program" || { echo "the page shows another program"; exit 1; }
