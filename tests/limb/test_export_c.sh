#!/usr/bin/env bash
# Models of every kind as C: compiled by every compiler here as C99 without a warning, played, and compared with
# the library bit by bit; then built for a Cortex-M4 and played under qemu's emulation of ARM's MPS2 board (all
# kinds without its floating-point unit, one with it and with every integrator).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=$SOURCE/tests/limb
program=$BUILD/test_limb_export
"$program" write "$work"

allowed='memcpy|memset|fabs|fabsf|floor|sqrt|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_'
integrators() { case $1 in gru | lstm) echo 1 ;; *) echo 0 1 2 3 ;; esac; }
defines() {
	case $1 in
	arm | muscles | slider) echo -DLAGRANGIAN ;;
	gru | lstm) echo -DRECURRENT ;;
	esac
}

compilers=("gcc -O2" "gcc -O0" "gcc -std=gnu11 -O3 -march=native" "gcc -O2 -DLMB_PLAIN_KERNELS")
command -v clang >/dev/null && compilers+=("clang -O2")
for path in "$work"/*.safetensors; do
	name=$(basename "$path" .safetensors)
	folder=$work/$name
	"$LIMBER" export "$path" --c "$folder" --name model --integrators euler,rk4,midpoint,dormand-prince >/dev/null
	for compiler in "${compilers[@]}"; do
		case "$compiler $name" in "gcc -O2 "[a-z]* | *\ arm | *\ muscles | *\ lstm) ;; *) continue ;; esac # the others share their code
		$compiler -std=c99 ${compiler#* } -pedantic -Wall -Wextra -Werror -c "$folder/model.c" -o "$folder/model.o"
		foreign=$(nm -u "$folder/model.o" | awk '{ print $2 }' | grep -vxE "$allowed" || true)
		strange=$(nm --defined-only -g "$folder/model.o" | awk '{ print $3 }' | grep -v '^model_' || true)
		mutable=$(size -A "$folder/model.o" | awk '/^\.(data|bss)[. ]/ && !/^\.data\.rel\.ro/ && $2 > 0')
		[ -z "$foreign$strange$mutable" ] || { echo "$name: $foreign $strange $mutable"; exit 1; }
		chosen=1 # all integrators once
		[ "$compiler" = "gcc -O2" ] && chosen=$(integrators "$name")
		for integrator in $chosen; do
			[ -e "$folder/native$integrator" ] || "$program" play "$path" "$integrator" >"$folder/native$integrator"
			gcc -std=c99 -Wall -Wextra -Werror -DINTEGRATOR="$integrator" $(defines "$name") -I"$folder" -I"$tests" \
				"$tests/export_driver.c" "$folder/model.o" -lm -o "$folder/play"
			"$folder/play" >"$folder/result"
			cmp "$folder/native$integrator" "$folder/result" || { echo "$name, $compiler, integrator $integrator"; exit 1; }
		done
	done
	echo "$name: $(wc -l <"$folder/native1") numbers the same on this machine"
done
# Something moves, or all of this compares nothing with nothing.
[ "$(grep '^q' "$work/arm/native1" | sort -u | wc -l)" -gt 70 ]

if ! command -v arm-none-eabi-gcc >/dev/null || ! command -v qemu-system-arm >/dev/null; then
	echo "not built for a Cortex-M4: gcc-arm-none-eabi or qemu-system-arm is missing (scripts/setup --tests)"
	exit 0
fi
for path in "$work"/*.safetensors; do
	name=$(basename "$path" .safetensors)
	folder=$work/$name
	for float in "-mfloat-abi=soft" "-mfloat-abi=hard -mfpu=fpv4-sp-d16"; do
		chosen=1
		case "$float $name" in *hard*arm) chosen="0 1 2 3" ;; *hard*) continue ;; esac
		for integrator in $chosen; do
			arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb $float -O2 -ffunction-sections -Wl,--gc-sections -Wall -Wextra -Werror \
				-DINTEGRATOR="$integrator" $(defines "$name") -I"$folder" -I"$tests" --specs=rdimon.specs -T "$tests/mps2.ld" \
				"$tests/mps2_start.c" "$tests/export_driver.c" "$folder/model.c" -lm -o "$folder/arm.elf"
			timeout 60 qemu-system-arm -machine mps2-an386 -nographic -monitor none -serial none \
				-semihosting-config enable=on,target=native -kernel "$folder/arm.elf" >"$folder/result" </dev/null
			cmp "$folder/native$integrator" "$folder/result" || { echo "$name, $float, integrator $integrator"; exit 1; }
		done
	done
	arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -c "$folder/model.c" -o "$folder/arm.o"
	echo "$name: the same on a Cortex-M4; $(arm-none-eabi-size "$folder/arm.o" | awk 'NR == 2 { print $1 " bytes of code and numbers" }')"
done
