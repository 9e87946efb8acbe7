#!/usr/bin/env bash
# What the pages of docs/guide name exists, and every command on them is run, page by page in a folder of its own,
# with settings that make the work small. The commands of view.md are run by tests/viewer, those of blender.md by
# tests/integrations, the C of direction.md by test_guides.sh.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$SOURCE/tests/docs
python3 "$here/guide_pages.py" check

# Read by each page's shell before its commands.
cat >"$work/before" <<'END'
set -euo pipefail
character="motions.train=[{clip:jumping_jacks,duration:1},{clip:stop_and_go,duration:1}] motions.held_out=[{clip:run,duration:1}]
	tissue.nodes=250 simulate.poses=32 simulate.rate=30 simulate.step_rate=60 modes.count=6
	train.coefficients=4 train.hidden=8 train.adam_steps=100 train.lbfgs_steps=10 bake.rate=10"
arm="motions.train=[{kind:torques,count:12}] motions.duration=1 evaluate.motions=2 evaluate.pairs=2 evaluate.duration=2
	train.models=[{kind:lagrangian,adam_epochs:2,lbfgs_iterations:20}]"
recordings="train.models=[{kind:lagrangian,adam_epochs:20,lbfgs_iterations:40}]"
limber() {
	local argument file= settings=() setting
	for argument in "$@"; do case $argument in *.yaml | *.glb) file=$argument ;; esac; done
	case $1 in
	run | tissue | modes | simulate | train | fit | evaluate | bake)
		local missing= # what only a message can be asked for without
		[[ " $* " != *" --report "* || -e $(dirname "$LIMBER")/report/report.html ]] || missing="run report/build"
		[[ " $* " != *" --svg "* ]] || command -v gnuplot >/dev/null || missing="gnuplot"
		if [ -n "$missing" ]; then
			! "$LIMBER" "$@" 2>said && grep -q "$missing" said
			return
		fi
		local small=$character
		if [[ $file = *.yaml ]] && grep -q '^limb:' "$file"; then
			small=$arm
			grep -q 'plant: recordings' "$file" && small=$recordings
		fi
		for setting in $small; do settings+=(--set "${setting//:/: }"); done
		"$LIMBER" "$@" --threads 2 ${settings[@]+"${settings[@]}"}
		;;
	view) # serves until it is told to end
		if [ -e "$(dirname "$LIMBER")/viewer/viewer.html" ]; then
			timeout --preserve-status -s INT 3 "$LIMBER" "$@" --no-browser --port 0 | tee said
			grep -q http://127.0.0.1 said
		else
			! "$LIMBER" "$@" --no-browser 2>said && grep -q "run scripts/viewer" said
		fi
		;;
	*) "$LIMBER" "$@" ;;
	esac
}
for tool in blender arm-none-eabi-gcc arm-none-eabi-size; do
	command -v $tool >/dev/null || eval "$tool() { echo 'skipped: no $tool'; }"
done
END

play() { # PAGE: its commands, in $work/PAGE, which may hold files for them
	mkdir -p "$work/$1"
	cd "$work/$1"
	python3 "$here/guide_pages.py" commands "$1" . >commands
	[ -s commands ] || { echo "$1: no commands"; exit 1; }
	bash -c "set -x; . '$work/before'; . ./commands" >log 2>trace || { cat log trace; echo "$1: a command failed"; exit 1; }
	echo "$1: $(grep -c . commands) lines, $SECONDS s"
}
expect() { grep -qE -- "$1" log || { cat log; echo "$PWD: nothing like \"$1\""; exit 1; }; }

mkdir "$work/from-blender-to-engine.md"
cd "$work/from-blender-to-engine.md"
cp "$BUILD/puppet.glb" character.glb
if command -v blender >/dev/null; then # what the export starts from; some versions fail on normals
	blender -b --factory-startup --python-exit-code 1 --python-expr "import bpy
for thing in list( bpy.data.objects ):
    bpy.data.objects.remove( thing )
bpy.ops.import_scene.gltf( filepath='$PWD/character.glb', import_shading='SMOOTH' )
bpy.ops.wm.save_as_mainfile( filepath='$PWD/character.blend' )" >log 2>&1 || { cat log; exit 1; }
	rm character.glb
fi
play from-blender-to-engine.md
expect '5824 vertices, 11644 triangles' # Blender keeps the body
expect '^run \(held out\)'
expect 'baked-run.glb: (9|[12][0-9]|3[0-2]) morph targets' # 32 at most, and as many as there is motion for
[ -s out/project/pc2/run.pc2 ] && [ -s out/project/sheet-run.png ] && [ -s out/character-instant/baked-run.glb ]
expect '^ 0.10 s +[1-9][0-9.]* mm' # the embedded model

mkdir "$work/own-character.md"
cp "$BUILD/puppet.glb" "$work/own-character.md/character.glb"
play own-character.md
[ -s out/project/model.safetensors ]

cp -r "$work/own-character.md" "$work/report.md"
play report.md

mkdir "$work/limb-from-csv-to-device.md"
python3 "$here/trials.py" "$work/limb-from-csv-to-device.md"
play limb-from-csv-to-device.md
expect 'shoulder: spans .* turns if that is radians: degrees'
# With far less training than on the page: still within 3 degrees over 4 s of motion that it never saw.
python3 - log <<'END'
import json, sys
whole = json.load( open( "out/project/metrics.json" ) )["models"]["ape_lagrangian"]["tests"]["held_out"]["rmse_deg_whole"]["mean"]
print( f"{whole:.2f} degrees" )
loop, predicted = [[float( x ) for x in line.split( "," )] for line in open( sys.argv[1] ).read().splitlines()[-2:]]
if not whole < 3 or loop != predicted[1:3]:
    sys.exit( f"{whole} degrees; the loop ends at {loop}, predict at {predicted[1:3]}" )
END

mkdir "$work/own-limb.md" "$work/limb-embed.md"
cp "$work"/limb-from-csv-to-device.md/trial[123].csv "$work/own-limb.md"
ln -s "$SOURCE/examples" "$work/own-limb.md/examples"
play own-limb.md
"$LIMBER" simulate recordings.yaml --quiet >log
cp "$work/limb-from-csv-to-device.md/out/project/model.safetensors" "$work/limb-embed.md/MODEL.safetensors"
play limb-embed.md
[ -s DIR/arm.c ]
