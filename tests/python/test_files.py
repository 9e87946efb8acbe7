"""Files of the pipeline: written here after docs/formats, read by the package."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import limber


def make_dataset(folder):
    random = np.random.default_rng(3)
    meta = {"format": "limber.dataset", "version": "1", "fingerprint": "0" * 16}
    (folder / "poses").mkdir(parents=True)
    motion = folder / "motions" / "00-run"
    motion.mkdir(parents=True)
    bones, nodes = random.normal(size=(40, 2 * 12)), random.normal(size=(40, 5, 3)).astype(np.float32)
    for i in range(2):
        arrays = {"bones": bones[i].reshape(2, 12), "nodes": nodes[i], "converged": np.array([i == 0], np.uint8)}
        save_file({**arrays, "iterations": np.array([4], np.int32)}, folder / "poses" / f"{i:06d}.safetensors", meta)
    for first in (0, 32):
        part = slice(first, first + 32)
        ok = np.ones(len(bones[part]), np.uint8)
        still = {"bones": bones[part].reshape(-1, 2, 12), "nodes": nodes[part], "converged": ok}
        save_file(still, motion / f"still-{first:06d}.safetensors", meta)
        save_file({"nodes": nodes[part] + 1, "converged": ok}, motion / f"moving-{first:06d}.safetensors", meta)
    manifest = {
        "format": "limber.dataset", "version": 1, "complete": True, "bones": 2, "nodes": 5, "shard_frames": 32,
        "poses": 2, "pose_origin": [0, 0, 0], "settings": {"seed": 1},
        "motions": [
            {"name": "run", "folder": "motions/00-run", "trained": True, "frames": 40, "rate": 60, "origin": [0, 0, 0]}
        ],
    }  # fmt: skip
    (folder / "dataset.json").write_text(json.dumps(manifest))
    return bones, nodes, manifest


def test_dataset(tmp_path):
    bones, nodes, manifest = make_dataset(tmp_path / "simulation")
    data = limber.Dataset(tmp_path)
    run = data.motions["run"]
    assert (data.bone_count, data.node_count, data.pose_count, run.rate, run.trained) == (2, 5, 2, 60.0, True)
    assert (run.bones() == bones.reshape(40, 2, 3, 4)).all() and (run.still() == nodes).all()
    assert (run.moving() == nodes + 1).all() and run.converged("moving").all()
    poses = list(data.poses())
    assert [p.converged for p in poses] == [True, False]
    assert (poses[1].nodes == nodes[1]).all() and poses[1].bones.shape == (2, 3, 4)
    (run.folder / "moving-000032.safetensors").unlink()
    with pytest.raises(limber.LimberError, match="32 moving frames of 40"):
        run.moving()
    manifest["motions"][0]["folder"] = "../../elsewhere"
    (data.folder / "dataset.json").write_text(json.dumps(manifest))
    with pytest.raises(limber.LimberError, match="inside"):
        limber.Dataset(tmp_path)
    manifest["version"] = 9
    (data.folder / "dataset.json").write_text(json.dumps(manifest))
    with pytest.raises(limber.LimberError) as caught:
        limber.Dataset(tmp_path)
    assert caught.value.status == limber.Status.UNSUPPORTED


def test_metrics(tmp_path):
    (tmp_path / "metrics.json").write_text('{"motions": {"run": {"frames": 40}}}')
    assert limber.read_metrics(tmp_path)["motions"]["run"]["frames"] == 40
    with pytest.raises(limber.LimberError):
        limber.read_metrics(tmp_path / "none.json")
    (tmp_path / "metrics.json").write_text("[1")
    with pytest.raises(limber.LimberError, match="not JSON"):
        limber.read_metrics(tmp_path)


def test_trajectories(tmp_path):
    random = np.random.default_rng(4)
    text = lambda *names: np.frombuffer(b"".join(n.encode() + b"\0" for n in names), np.uint8)  # noqa: E731
    arrays = {
        "dofs.names": text("shoulder", "elbow"), "inputs.names": text("torque"),
        "dofs.slides": np.zeros(2, np.int32), "dofs.turns": np.zeros(2, np.int32),
        "trajectories.names": text("one", "two"), "trajectories.samples": np.array([3, 4], np.int32),
        "trajectories.steps": np.array([0.01, 0.02]), "trajectories.velocities": np.array([0, 1], np.int32),
        "trajectories.accelerations": np.zeros(2, np.int32), "positions": random.normal(size=(7, 2)),
        "velocities": random.normal(size=(4, 2)), "inputs": random.normal(size=(7, 1)),
    }  # fmt: skip
    path = tmp_path / "trajectories-train.safetensors"
    meta = {"format": "limber.trajectories", "version": "1", "hold": "linear"}
    save_file(arrays, path, meta)
    found = limber.read_trajectories(path)
    assert found.dof_names == ["shoulder", "elbow"] and found.linear and len(found) == 2
    one, two = found
    assert (one.name, one.step, one.velocities, two.accelerations) == ("one", 0.01, None, None)
    assert (one.positions == arrays["positions"][:3]).all() and (two.inputs == arrays["inputs"][3:]).all()
    assert (two.velocities == arrays["velocities"]).all()
    arrays["trajectories.samples"][1] = 5
    save_file(arrays, path, meta)
    with pytest.raises(limber.LimberError, match="add up"):
        limber.read_trajectories(path)
