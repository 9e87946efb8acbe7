#!/usr/bin/env bash
# The puppet's file: the same bytes every time, and sound by the Khronos validator.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$BUILD/make_puppet" "$work/puppet.glb"
cmp "$work/puppet.glb" "$BUILD/puppet.glb"
if "$BUILD/make_puppet" "$work/no/such/folder.glb" 2>"$work/message"; then
	echo "make_puppet: wrote into a folder that is not there" >&2
	exit 1
fi
grep -q "no/such/folder.glb" "$work/message"
"$SOURCE/tests/node_modules.sh"
node "$SOURCE/tests/examples/validate_glb.mjs" "$work/puppet.glb"
