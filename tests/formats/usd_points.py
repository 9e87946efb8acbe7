"""Run by test_usd.sh: a file of `limber bake` as Pixar's own library reads it, against the point cache."""

import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdValidation

path, cache = sys.argv[1:]
raw = open(cache, "rb").read()
count, frames = np.frombuffer(raw, "<i4", 5, 12)[[1, 4]]
truth = np.frombuffer(raw, "<f4", offset=32).reshape(frames, count, 3)

stage = Usd.Stage.Open(path)
rules = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
problems = UsdValidation.ValidationContext(rules).Validate(stage)
assert len(rules) > 10 and not problems, [problem.GetMessage() for problem in problems]
assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == 30.0
assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, frames - 1.0)
meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
assert len(meshes) == 1 and stage.GetDefaultPrim().GetPath() == meshes[0].GetPath().GetParentPath()
mesh = meshes[0]
points = mesh.GetPointsAttr()
assert points.GetTimeSamples() == mesh.GetExtentAttr().GetTimeSamples() == list(range(frames))
for frame in range(frames):
    here = np.array(points.Get(frame))
    assert here.dtype == np.float32 and (here == truth[frame]).all(), frame
    extent = np.array(mesh.GetExtentAttr().Get(frame))
    assert (extent == [here.min(0), here.max(0)]).all(), frame

counts, corners = np.array(mesh.GetFaceVertexCountsAttr().Get()), np.array(mesh.GetFaceVertexIndicesAttr().Get())
assert (counts == 3).all() and len(corners) == counts.sum()
valid, why = UsdGeom.Mesh.ValidateTopology(corners.tolist(), counts.tolist(), int(count))
assert valid, why
assert set(corners) == set(range(count)), "points that no triangle uses"
# Counter-clockwise from outside: the volume that the surface closes is that of a body, not its negative.
a, b, c = (truth[0][corners[i::3]].astype(float) for i in range(3))
volume = np.sum(a * np.cross(b, c)) / 6
print(f"{frames} frames of {count} points and {len(counts)} triangles are the point cache's; {1e3 * volume:.1f} litres")
assert volume > 1e-3
