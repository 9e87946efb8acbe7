#!/usr/bin/env bash
# The puppet that the build writes passes the Khronos glTF validator. (Baked files: test_bake.c,
# test_bake_files.c.)
set -euo pipefail
here=$(dirname "$0")
"$here/../node_modules.sh"
[ -f "$BUILD/puppet.glb" ] || { echo "skipped: $BUILD/puppet.glb is not built"; exit 77; }
node "$here/validate.mjs" "$BUILD/puppet.glb"
