"""Run by test_blender.sh inside Blender: the add-on of a packed folder, baked files and point caches."""

import os
import sys

import addon_utils
import bpy
import numpy as np

addon, folder = sys.argv[sys.argv.index("--") + 1 :]
FOLDERS = {8: "out/character-instant", 64: "exact"}
FRAMES = (0, 1, 7, 30, 61, 90)


def points(path):
    """(frames, points, 3), by the format's own description: docs/formats/point-cache.md."""
    raw = open(path, "rb").read()
    if path.endswith(".pc2"):
        assert raw[:12] == b"POINTCACHE2\0"
        count, samples = np.frombuffer(raw, "<i4", 5, 12)[[1, 4]]
        return np.frombuffer(raw, "<f4", offset=32).reshape(samples, count, 3)
    frames, count = np.frombuffer(raw, ">i4", 2)
    return np.frombuffer(raw, ">f4", offset=8 + 4 * frames).reshape(frames, count, 3).astype("f4")


def shown(mesh, frame):
    """World positions that Blender shows, in the axes of glTF."""
    bpy.context.scene.frame_set(frame)
    result = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    local = np.empty(3 * len(result.data.vertices), "f4")
    result.data.vertices.foreach_get("co", local)
    matrix = np.array(result.matrix_world)
    world = local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([world[:, 0], world[:, 2], -world[:, 1]], 1)


def load(targets, cache=""):
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    path = os.path.join(folder, FOLDERS[targets], "baked-run.glb")
    assert bpy.ops.import_scene.limber_bake(filepath=path, cache=cache) == {"FINISHED"}
    assert bpy.context.scene.render.fps == 30
    return next(o for o in bpy.data.objects if o.type == "MESH" and len(o.data.vertices) > 1000), path


bpy.ops.preferences.addon_install(filepath=addon)
addon_utils.enable("limber")
bpy.context.scene.render.fps = 24
caches = {kind: os.path.join(folder, FOLDERS[8], kind, f"run.{kind}") for kind in ("pc2", "mdd")}
truth = points(caches["pc2"])
size = np.ptp(truth[0], 0).max()
failed = False
for kind, path in caches.items():
    mesh, _ = load(8, path)
    worst = max(np.abs(shown(mesh, f) - points(path)[f]).max() for f in FRAMES) / size
    print(f"RESULT {kind}: {worst:.1e} of the character's size from ours")
    failed |= not worst < 1e-5
for targets in (8, 64):
    mesh, path = load(targets)
    on, off, keys = [], [], mesh.data.shape_keys.key_blocks
    for f in FRAMES:
        on.append(shown(mesh, f) - truth[f])
    moved = [k for k in keys if k.name.startswith("limber ")]
    for k in moved:
        k.slider_min, k.slider_max = 0.0, 1.0  # as the importer leaves them: weights are clipped
    clipped = max(np.abs(shown(mesh, f) - truth[f] - d).max() for f, d in zip(FRAMES, on)) / size
    print(f"targets clipped to 0 .. 1: {clipped:.1e} of the character's size away")
    failed |= not clipped > 1e-3
    for k in moved:
        k.mute = True
    for f in FRAMES:
        off.append(shown(mesh, f) - truth[f])
    error, plain = (1e3 * np.sqrt(np.mean(np.sum(np.square(d), 2))) for d in (on, off))
    print(f"RESULT {targets} targets: {error:.3f} mm RMS from the runtime, skinning alone {plain:.2f} mm, "
          f"{os.path.getsize(path)} bytes")
    failed |= not error < (0.2 if targets == 8 else 0.05) * plain or len(moved) != targets
try:
    load(8, path)
    failed = True
except RuntimeError as problem:
    failed |= "neither a PC2 nor an MDD" not in str(problem)
sys.exit(1 if failed else 0)
