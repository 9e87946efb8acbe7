#!/usr/bin/env bash
# The puppet's file: the same bytes every time; a folder that is not there is an error that names it.
# (The Khronos validator: tests/formats/test_validator.sh.)
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
