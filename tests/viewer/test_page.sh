#!/usr/bin/env bash
# limber view: its messages, its server, its files, and the page in headless Chromium.
set -uo pipefail
for tool in clang wasm-ld node npm chromium; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool (scripts/setup --tests)"; exit 77; }
done
"$SOURCE/tests/node_modules.sh" || exit
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
	printf 'test_page.sh:%s: %s\n' "${BASH_LINENO[0]}" "$1" >&2
	failures=$((failures + 1))
}
refuses() { # PATTERN ARGUMENTS...
	local pattern=$1
	shift
	timeout 20 "$LIMBER" view "$@" >said 2>err && fail "limber view $* passed"
	grep -q -- "$pattern" err || fail "limber view $*: $(cat err)"
}

sed "s|PUPPET|$BUILD/puppet.glb|" "$SOURCE/tests/tiny_puppet.yaml" >project.yaml
cat >arm.yaml <<END
limb: { plant: arm }
motions:
  duration: 0.8
  train: [{ kind: torques, count: 4 }, { kind: swings, count: 4 }]
train:
  models: [{ kind: lagrangian, layers: 1, width: 8, adam_epochs: 4, lbfgs_iterations: 60 }]
evaluate: { tests: [held_out, pulse], motions: 2, pairs: 1, duration: 0.8 }
END
# A command of its own, beside which there is no page yet.
cp "$LIMBER" limber && LIMBER=$work/limber
refuses "run limber run project.yaml" project.yaml
"$LIMBER" run project.yaml --quiet >log 2>&1 || { cat log; exit 1; }
refuses "run scripts/viewer" project.yaml
refuses "run limber run arm.yaml" arm.yaml
"$LIMBER" run arm.yaml --quiet >log 2>&1 || { cat log; exit 1; }
refuses "run scripts/viewer" arm.yaml
"$SOURCE/scripts/viewer" "$work" >log 2>&1 || { cat log; exit 1; }
model=out/project/model.safetensors
refuses "--character" "$model"
refuses 'no motion "walk"; there are: jumping_jacks, run' project.yaml --motion walk
refuses "--port" project.yaml --port 70000
refuses "names its character already" project.yaml --character "$BUILD/puppet.glb"
refuses "give its own character" "$SOURCE/tests/golden/flesh-2.safetensors" --character "$BUILD/puppet.glb"
refuses "no character" arm.yaml --character "$BUILD/puppet.glb"
refuses "no instant model" arm.yaml --instant
refuses 'a motion "walk"; there are: held_out torques 001, ' arm.yaml --motion walk
refuses "give its project" out/arm/model.safetensors --motion walk
cp -r out/arm other
cp "$SOURCE/tests/golden/limb-1-plain.safetensors" other/model.safetensors
refuses "run the project again" arm.yaml --out other
head -c 900 out/arm/trajectories-pulse.safetensors >other/trajectories-pulse.safetensors
cp out/arm/model.safetensors other
refuses "other/trajectories-pulse.safetensors" arm.yaml --out other

"$LIMBER" view project.yaml --html view.html >said || fail "--html"
grep -q '^view.html: [0-9.]* MB' said || fail "the size: $(cat said)"
"$LIMBER" view "$model" --character "$BUILD/puppet.glb" --motion run --html model.html --json >said || fail "a model"
node -e 'const { parts } = JSON.parse( require( "fs" ).readFileSync( "said" ) );
	if ( !parts.model || !parts["poses-0"] && !Object.keys( parts ).some( ( n ) => n.startsWith( "poses" ) ) || parts.tissue ) process.exit( 1 )' || fail "parts: $(cat said)"

"$LIMBER" view project.yaml --port 0 >served &
server=$!
for ((i = 0; i < 100; ++i)); do [ -s served ] && break || sleep 0.1; done
url=$(grep -oE '^http://127.0.0.1:[0-9]+/' served) || { cat served; exit 1; }
node - "$url" <<'END' || fail "the server"
const url = process.argv[2], http = require( "http" );
const ask = ( path, options = {} ) => new Promise( ( done, no ) => http.request( url + path, options, ( answer ) => { answer.resume();
	answer.on( "end", () => done( answer ) ); } ).on( "error", no ).end() );
( async () =>
{
	const want = async ( status, path, options ) =>
	{
		const found = ( await ask( path, options ) ).statusCode;
		if ( found !== status )
			throw new Error( `${path} ${JSON.stringify( options )}: ${found}, expected ${status}` );
	};
	await want( 200, "" );
	await want( 200, "", { method: "HEAD" } );
	await want( 200, "data/model" );
	await want( 404, "data/../../etc/passwd" );
	await want( 404, "data/" );
	await want( 403, "", { headers: { Host: "elsewhere.example" } } );
	await want( 403, "", { method: "POST" } );
} )().catch( ( error ) => { console.error( error.message ); process.exit( 1 ); } );
END

node "$SOURCE/tests/viewer/page.mjs" "$url" "$work/view.html" "$work/viewer/viewer.html" "$work/out/project" "$BUILD/puppet.glb" ||
	fail "the page"
"$LIMBER" view arm.yaml --html arm.html >said || fail "--html of a limb"
node "$SOURCE/tests/viewer/limb.mjs" "file://$work/arm.html" "$work/viewer/limb.html" "$work/out/arm" "$LIMBER" || fail "the page of a limb"
# Every command of the guide, as it stands there.
cp "$BUILD/puppet.glb" character.glb
cp -r out/project out/project-instant
# A server is ended once it has said its address.
limber() {
	local child i
	case " $* " in *" --html "*) "$LIMBER" "$@"; return ;; esac
	"$LIMBER" "$@" &
	child=$!
	for ((i = 0; i < 600; ++i)); do [ -s said ] || ! kill -0 "$child" && break || sleep 0.1; done
	kill -INT "$child"
	wait "$child"
}
count=0
while read -r line; do
	eval "$line" >said 2>err </dev/null || fail "the guide's $line: $(cat err)"
	[ -s said ] || fail "the guide's $line says nothing"
	count=$((count + 1))
done < <(sed 's/ *#.*//' "$SOURCE/docs/guide/view.md" | grep '^limber view')
[ "$count" -ge 10 ] || fail "the guide has $count commands"

kill -INT "$server"
wait "$server" || fail "Ctrl-C: code $?"
server=
[ "$failures" = 0 ]
