"""A packed network against the equations of docs/formats/model.md in NumPy, in double."""

import numpy as np
import pytest
from safetensors.numpy import save_file

import limber


def turn(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def quaternion(m):
    w = 0.5 * np.sqrt(1 + np.trace(m))
    return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 4 * w * w]) / (4 * w)


def matrix(q):
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def make_skin(random, vertices=70, bones=4):
    return limber.Skin(
        bind=random.uniform(-0.5, 0.5, (vertices, 3)).astype(np.float32),
        triangles=np.arange(vertices - 2)[:, None] + np.arange(3),
        vertex_bones=np.array([random.permutation(bones)[:2] for _ in range(vertices)]),
        vertex_weights=random.uniform(0.1, 1.0, (vertices, 2)),
        bone_parents=np.array([-1, 0, 1, 0]),
        bone_names=["hips", "spine", "head", "tail ~ \u0161"],
        softness=np.where(np.arange(vertices) % 5 == 4, 0.0, 1.0),
    )


def make_pose(random, bones=4):
    pose = np.zeros((bones, 3, 4))
    for j in range(bones):
        pose[j, :, :3] = turn(random.normal(size=3), random.uniform(0, 1)) * random.uniform(0.9, 1.1)
        pose[j, :, 3] = random.uniform(-0.3, 0.3, 3)
    return pose.astype(np.float32)


def still_shape(skin, regions, pose, world):
    weights = np.asarray(skin.vertex_weights) / np.sum(skin.vertex_weights, axis=1, keepdims=True)
    features = limber.pose_features(pose, skin.bone_parents, world)
    moved = np.zeros((len(skin.bind), 3))
    for r in regions:
        used = np.arange(len(features)) if r.features is None else r.features
        f = features[used]
        x = (f - (0 if r.mean is None else r.mean)) * (1 if r.scale is None else r.scale)
        for i, (w, b) in enumerate(r.layers):
            x = np.asarray(w, float) @ x + b
            x = np.tanh(x) if i + 1 < len(r.layers) else x
        z = x if len(r.layers) else 0.0
        if r.linear is not None:
            z = z + np.asarray(r.linear, float)[:, :-1] @ f + np.asarray(r.linear, float)[:, -1]
        at = np.arange(len(moved)) if r.vertices is None else r.vertices
        moved[at] += np.einsum("k,kna->na", z, np.asarray(r.basis, float))
    turns = [quaternion(m) for m in nearest(pose[:, :, :3])]
    out = np.zeros((len(moved), 3))
    for v, (bones, w) in enumerate(zip(skin.vertex_bones, weights)):
        first = turns[bones[np.argmax(w)]]
        q = sum(x * turns[j] * (1 if turns[j] @ first >= 0 else -1) for j, x in zip(bones, w))
        blend = np.einsum("j,jab->ab", w, pose[bones].astype(float))
        out[v] = blend[:, :3] @ skin.bind[v] + blend[:, 3] + matrix(q / np.linalg.norm(q)) @ moved[v]
    return out


def nearest(matrices):
    u, _, vt = np.linalg.svd(matrices.astype(float))
    return u @ vt


def worst(path, skin, regions, seed):
    random = np.random.default_rng(seed)
    body = limber.FleshModel(path).body(layer=limber.Layer.NONE)
    most = 0.0
    for _ in range(20):
        pose, world = make_pose(random), turn(random.normal(size=3), random.uniform(0, 3))
        q = quaternion(world).astype(np.float32)
        got = body.step(pose, 1 / 60, rotation=q)
        most = max(most, np.abs(got - still_shape(skin, regions, pose, matrix(q / np.linalg.norm(q)))).max())
    return most


def test_random_perceptron_with_basis(tmp_path):
    random = np.random.default_rng(5)
    skin = make_skin(random)
    soft = np.flatnonzero(skin.softness)
    net = {}
    for number, (rows, columns) in {0: (16, 30), 2: (11, 16), 4: (6, 11)}.items():
        net[f"net.{number}.weight"] = random.normal(0, 0.3, (rows, columns)).astype(np.float32)
        net[f"net.{number}.bias"] = random.normal(0, 0.1, rows).astype(np.float32)
    save_file(net, tmp_path / "net.safetensors")
    layers = limber.layers_from_safetensors(tmp_path / "net.safetensors", "net.")
    assert [w.shape for w, _ in layers] == [(16, 30), (11, 16), (6, 11)]
    some = random.permutation(soft)[:20]
    regions = [
        limber.Region(random.normal(0, 0.02, (6, len(soft), 3)).astype(np.float32), layers, soft),
        limber.Region(
            basis=random.normal(0, 0.02, (3, 20, 3)).astype(np.float32),
            layers=[],
            vertices=some,
            features=np.array([5, 3, 20, 11]),
            linear=random.normal(0, 0.5, (3, 5)).astype(np.float32),
            bone=2,
        ),
        limber.Region(
            basis=random.normal(0, 0.02, (2, 20, 3)).astype(np.float32),
            layers=[(random.normal(0, 0.3, (2, 4)).astype(np.float32), np.zeros(2, np.float32))],
            vertices=some,
            features=np.array([0, 1, 2, 29]),
            mean=np.full(4, 0.1, np.float32),
            scale=np.full(4, 1.5, np.float32),
        ),
    ]
    limber.pack(tmp_path / "model.safetensors", skin, regions)
    model = limber.FleshModel(tmp_path / "model.safetensors")
    assert model.bone_names == skin.bone_names and model.coefficient_count == 11
    assert list(model.bone_parents) == [-1, 0, 1, 0]
    assert worst(tmp_path / "model.safetensors", skin, regions, 6) < 1e-6
    # The test can tell: without one region it is far off.
    assert worst(tmp_path / "model.safetensors", skin, regions[:2], 6) > 1e-4


@pytest.mark.parametrize("version", [1, 2])
def test_network_of_a_model_replaced(tmp_path, flesh_path, version):
    base = flesh_path.with_name(f"flesh-{version}.safetensors")
    random = np.random.default_rng(7)
    old = limber.FleshModel(base)
    from limber.files import read_arrays

    arrays, _ = read_arrays(base)
    soft = np.flatnonzero(arrays["softness"] > 0)
    features = int(np.where(old.bone_parents < 0, 3, 9).sum())
    region = limber.Region(
        random.normal(0, 0.02, (4, len(soft), 3)), [(random.normal(0, 0.3, (4, features)), np.zeros(4))], soft
    )
    limber.pack(tmp_path / "model.safetensors", base, [region])
    model = limber.FleshModel(tmp_path / "model.safetensors")
    assert model.coefficient_count == 4 and model.mode_count == old.mode_count
    pose = np.tile(np.eye(3, 4, dtype=np.float32), (model.bone_count, 1, 1))
    pose[1, :, :3] = turn((1, 2, 0), 0.4)
    got = model.body(layer=limber.Layer.NONE).step(pose, 0.0)
    bare = old.body(layer=limber.Layer.NONE, network=False).step(pose, 0.0)
    assert np.abs(got - bare)[soft].max() > 1e-3
    body = model.body()
    for n in range(5):
        assert np.isfinite(body.step(pose, 0.02, position=(0, 0.05 * n, 0))).all()


def test_refusals(tmp_path):
    random = np.random.default_rng(5)
    skin = make_skin(random)
    soft = np.flatnonzero(skin.softness)
    basis = np.zeros((2, len(soft), 3))
    good = [(np.zeros((5, 30)), np.zeros(5)), (np.zeros((2, 5)), np.zeros(2))]
    out = tmp_path / "model.safetensors"
    limber.pack(out, skin, [limber.Region(basis, good, soft)])
    out.unlink()
    everywhere = np.ones((2, len(skin.bind), 3))
    for region, words in [
        (limber.Region(basis, good[:1], soft), "layer 0"),
        (limber.Region(basis, [good[1]], soft), "layer 0"),
        (limber.Region(basis, good * 5, soft), "at most 8"),
        (limber.Region(basis[:, 1:], good, soft), "basis"),
        (limber.Region(everywhere, good), "softness is 0"),
        (limber.Region(basis * np.nan, good, soft), "finite"),
        (limber.Region(basis, good, soft + 1000), "distinct and below"),
        (limber.Region(basis, good, soft, features=np.arange(30) + 1), "below 30"),
        (limber.Region(basis, good, soft.astype(float)), "whole numbers"),
    ]:
        with pytest.raises(limber.LimberError, match=words):
            limber.pack(out, skin, [region])
    skin.vertex_weights = -np.asarray(skin.vertex_weights)
    with pytest.raises(limber.LimberError, match="negative"):
        limber.pack(out, skin, [limber.Region(basis, good, soft)])
    assert list(tmp_path.iterdir()) == []


def test_features_of_a_mirrored_bone():
    mirrored = np.eye(3, 4)[None] * np.array([1.0, 1.0, 1.0])[None, :, None]
    mirrored[0, 2, 2] = -0.5
    assert np.abs(limber.pose_features(mirrored, [-1])).max() < 1e-12  # the least axis is turned back
