// A bone on springs of @pixiv/three-vrm-springbone, shaken alike at many frame rates: how its swing depends on
// the rate. bench_frame_rates point shakes one of Limber's springs by the same motion. Prints the same table.
import { Object3D } from 'three';
import { VRMSpringBoneJoint, VRMSpringBoneManager } from '@pixiv/three-vrm-springbone';

const rates = [15, 24, 30, 60, 120, 144, 240], instants = 60, length = 0.3;

// 1.3 and 2.1 Hz along x, coming up from rest within a second.
function shake(t) {
	const ramp = t <= 0 ? 0 : t >= 1 ? 1 : t * t * t * (10 - 15 * t + 6 * t * t);
	return ramp * (0.1 * Math.sin(2 * Math.PI * 1.3 * t) + 0.05 * Math.sin(2 * Math.PI * 2.1 * t + 1));
}

// The same numbers on every run, in [0, 1).
function randoms(seed) {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 4294967296;
	};
}

function run(settings, rate, jittered) {
	const root = new Object3D(), bone = new Object3D(), tail = new Object3D();
	root.add(bone);
	bone.add(tail);
	tail.position.set(0, -length, 0);
	root.updateMatrixWorld(true);
	const manager = new VRMSpringBoneManager();
	manager.addJoint(new VRMSpringBoneJoint(bone, tail, settings));
	manager.setInitState();
	const random = randoms(7), places = [];
	let time = 0;
	for (let i = 0; i < instants; ++i) {
		const count = rate / 3;
		for (let n = 1; n <= count; ++n) {
			const wobble = jittered && n < count ? 0.8 * (random() - 0.5) : 0;
			const next = i / 3 + (n + wobble) / rate;
			root.position.x = shake(next);
			root.updateMatrixWorld(true);
			manager.update(next - time);
			time = next;
		}
		root.updateMatrixWorld(true);
		places.push(tail.getWorldPosition(root.position.clone()).x - root.position.x);
	}
	return places;
}

const rms = (a) => Math.sqrt(a.reduce((sum, x) => sum + x * x, 0) / a.length);

console.log("Difference from 60 Hz, % of the swing's RMS at 60 Hz, even / jittered steps; in brackets the swing's own\n");
console.log(`| settings | swing, mm | ${rates.map((r) => `${r} Hz`).join(' | ')} | 30 against 240 Hz |`);
console.log(`|---|---|${rates.map(() => '---|').join('')}---|`);
for (const [stiffness, dragForce] of [[1, 0.4], [3, 0.2], [0.5, 0.1]]) {
	const settings = { stiffness, dragForce, gravityPower: 0 };
	const truth = run(settings, 60, false), swing = rms(truth);
	const share = (a, b) => ((100 * rms(a.map((x, i) => x - b[i]))) / swing).toFixed(0);
	const cells = rates.map((rate) => {
		const even = run(settings, rate, false);
		return `${share(even, truth)} / ${share(run(settings, rate, true), truth)} (${(1e3 * rms(even)).toFixed(0)} mm)`;
	});
	const apart = share(run(settings, 30, false), run(settings, 240, false));
	console.log(`| stiffness ${stiffness}, drag ${dragForce} | ${(1e3 * swing).toFixed(1)} | ${cells.join(' | ')} | ${apart} |`);
}
