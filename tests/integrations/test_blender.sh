#!/usr/bin/env bash
# The commands of docs/guide/blender.md, then what they made in Blender: the add-on installed from its zip, a baked
# GLB of 8 and of 64 targets and both point caches against our own positions.
set -euo pipefail
command -v blender >/dev/null || { echo "skipped: no blender"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$BUILD/puppet.glb" "$work/character.glb"
mkdir "$work/bin"
ln -s "$LIMBER" "$work/bin/limber"
cd "$work"
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$SOURCE/docs/guide/blender.md" >commands
[ "$(wc -l <commands)" = 3 ]
PATH=$work/bin:$PATH bash -e commands >log 2>&1 || { cat log; exit 1; }
# Only the settings of this run are changed.
export BLENDER_USER_SCRIPTS=$work/scripts BLENDER_USER_CONFIG=$work/config
mkdir scripts config
code=0
timeout 300 blender -b --factory-startup --python-exit-code 1 --python "$SOURCE/tests/integrations/blender_bake.py" \
	-- "$work/limber.zip" "$work" >log 2>&1 || code=$?
grep -E '^RESULT' log || true
[ $code = 0 ] && [ "$(grep -c '^RESULT' log)" = 4 ] || { cat log; exit 1; }
