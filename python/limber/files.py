"""What the pipeline writes: datasets, metrics, trajectories. Formats: docs/formats."""

from __future__ import annotations

import json
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Iterator, Optional

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from ._native import LimberError, PathLike, Status

Floats = NDArray[np.float64]


def read_arrays(path: PathLike) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """All arrays of a safetensors file, and its metadata."""
    try:
        with safe_open(str(path), framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})
    except FileNotFoundError:
        raise LimberError(Status.NOT_FOUND, f"{path}: not there") from None
    except Exception as error:
        raise LimberError(Status.CORRUPT, f"{path}: not a safetensors file ({error})") from error


def _read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LimberError(Status.NOT_FOUND, f"{path}: not there") from None
    except ValueError as error:
        raise LimberError(Status.CORRUPT, f"{path}: not JSON ({error})") from error
    if not isinstance(value, dict):
        raise LimberError(Status.CORRUPT, f"{path}: not a JSON object")
    return value


def _expect(path: PathLike, metadata: dict[str, Any], kind: str) -> None:
    if metadata.get("format") != kind:
        raise LimberError(Status.CORRUPT, f"{path}: its format is {metadata.get('format')!r}, not {kind!r}")
    if str(metadata.get("version")) != "1":
        raise LimberError(Status.UNSUPPORTED, f"{path}: version {metadata.get('version')!r}, this package reads 1")


def read_metrics(path: PathLike) -> dict[str, Any]:
    """metrics.json, or that of an output folder; docs/formats/metrics.md names the keys."""
    place = pathlib.Path(path)
    return _read_json(place / "metrics.json" if place.is_dir() else place)


@dataclass(frozen=True)
class DatasetPose:
    """One pose and the lattice at rest in it."""

    bones: Floats  #: (bones, 3, 4) bind space to scene
    nodes: NDArray[np.float32]  #: (nodes, 3) m
    converged: bool  #: False: the solve ended before its tolerance; not to be trained on


@dataclass(frozen=True)
class DatasetMotion:
    """One motion of the dataset; `still` and `moving` read its files, piece after piece."""

    name: str
    folder: pathlib.Path
    trained: bool  #: the network and the springs may see it
    frames: int
    rate: float  #: Hz
    origin: Floats  #: (3) m, less which all places are

    def _read(self, kind: str, name: str) -> NDArray[Any]:
        pieces = sorted(self.folder.glob(f"{kind}-*.safetensors"), key=lambda p: int(re.sub(r"\D", "", p.stem) or 0))
        if not pieces:
            raise LimberError(Status.NOT_FOUND, f"{self.folder}: no {kind}-*.safetensors")
        arrays = []
        for piece in pieces:
            content, metadata = read_arrays(piece)
            _expect(piece, metadata, "limber.dataset")
            if name not in content:
                raise LimberError(Status.CORRUPT, f"{piece}: no array {name!r}")
            arrays.append(content[name])
        joined = np.concatenate(arrays)
        if len(joined) != self.frames:
            raise LimberError(Status.CORRUPT, f"{self.folder}: {len(joined)} {kind} frames of {self.frames}")
        return joined

    def bones(self) -> Floats:
        """(frames, bones, 3, 4)"""
        raw = self._read("still", "bones")
        return raw.reshape(len(raw), -1, 3, 4).astype(np.float64, copy=False)

    def still(self) -> NDArray[np.float32]:
        """(frames, nodes, 3) m, at rest in each frame's pose."""
        return self._read("still", "nodes")

    def moving(self) -> NDArray[np.float32]:
        """(frames, nodes, 3) m, with dynamics."""
        return self._read("moving", "nodes")

    def converged(self, kind: str = "still") -> NDArray[np.bool_]:
        """(frames) of "still" or "moving"."""
        return self._read(kind, "converged").astype(np.bool_)


class Dataset:
    """The folder that the stage simulate writes; an output folder is fine too."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = pathlib.Path(folder)
        if (self.folder / "simulation" / "dataset.json").exists():
            self.folder = self.folder / "simulation"
        path = self.folder / "dataset.json"
        manifest = _read_json(path)
        _expect(path, manifest, "limber.dataset")
        try:
            self.complete = bool(manifest["complete"])
            self.bone_count, self.node_count = int(manifest["bones"]), int(manifest["nodes"])
            self.pose_count = int(manifest["poses"])
            self.pose_origin = np.array(manifest.get("pose_origin", [0, 0, 0]), np.float64)
            self.settings: dict[str, Any] = dict(manifest.get("settings", {}))
            self.motions = {
                m["name"]: DatasetMotion(
                    m["name"], self._inside(m["folder"]), bool(m["trained"]), int(m["frames"]), float(m["rate"]),
                    np.array(m.get("origin", [0, 0, 0]), np.float64),
                )  # fmt: skip
                for m in manifest["motions"]
            }
        except (KeyError, TypeError, ValueError) as error:
            raise LimberError(Status.CORRUPT, f"{path}: a key is missing or of another type ({error})") from error

    def _inside(self, name: str) -> pathlib.Path:
        for base in (self.folder, self.folder / "motions"):
            place = base / name
            if place.is_dir() and self.folder.resolve() in place.resolve().parents:
                return place
        raise LimberError(Status.NOT_FOUND, f"{self.folder}: no folder {name!r} of a motion inside")

    def pose(self, index: int) -> DatasetPose:
        """One of the pose_count poses."""
        path = self.folder / "poses" / f"{index:06d}.safetensors"
        content, metadata = read_arrays(path)
        _expect(path, metadata, "limber.dataset")
        bones, nodes = content.get("bones"), content.get("nodes")
        if bones is None or nodes is None or bones.size != 12 * self.bone_count or nodes.shape != (self.node_count, 3):
            raise LimberError(Status.CORRUPT, f"{path}: bones or nodes are missing or of another shape")
        return DatasetPose(bones.reshape(-1, 3, 4), nodes, bool(content.get("converged", np.ones(1))[0]))

    def poses(self) -> Iterator[DatasetPose]:
        """Pose by pose, read as they are asked for."""
        return (self.pose(i) for i in range(self.pose_count))


@dataclass(frozen=True)
class Trajectory:
    """One motion of a limb; s samples."""

    name: str
    step: float  #: s between samples
    positions: Floats  #: (s, dofs)
    velocities: Optional[Floats]  #: (s, dofs), None where not measured
    accelerations: Optional[Floats]
    inputs: Floats  #: (s, inputs)


@dataclass(frozen=True)
class Trajectories:
    """A file of trajectories."""

    dof_names: list[str]
    input_names: list[str]
    slides: NDArray[np.bool_]  #: (dofs) True: m and m/s, False: rad and rad/s
    linear: bool  #: inputs go straight from sample to sample; else they are held
    trajectories: list[Trajectory]

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.trajectories)

    def __len__(self) -> int:
        return len(self.trajectories)


def _names(array: NDArray[Any]) -> list[str]:
    return array.tobytes().decode("utf-8").split("\0")[:-1]


def read_trajectories(path: PathLike) -> Trajectories:
    """trajectories-*.safetensors, as docs/formats/trajectories.md has it."""
    content, metadata = read_arrays(path)
    _expect(path, metadata, "limber.trajectories")
    try:
        dofs = _names(content["dofs.names"])
        inputs = _names(content["inputs.names"]) if "inputs.names" in content else []
        counts = content["trajectories.samples"].astype(np.int64)
        total = int(counts.sum())
        rows = {"positions": content["positions"], "inputs": content.get("inputs", np.zeros((total, 0)))}
        if (counts < 1).any() or any(len(a) != total for a in rows.values()):
            raise ValueError("samples do not add up")
        ends = np.cumsum(counts)
        parts: dict[str, list[Optional[Floats]]] = {}
        for name in ("velocities", "accelerations"):
            there = content[f"trajectories.{name}"] != 0
            if there.any() and len(content[name]) != int(counts[there].sum()):
                raise ValueError(f"{name} do not add up")
            used = np.cumsum(np.where(there, counts, 0))
            parts[name] = [content[name][u - n : u] if t else None for u, n, t in zip(used, counts, there)]
        found = [
            Trajectory(
                name, float(content["trajectories.steps"][i]), rows["positions"][ends[i] - counts[i] : ends[i]],
                parts["velocities"][i], parts["accelerations"][i], rows["inputs"][ends[i] - counts[i] : ends[i]],
            )  # fmt: skip
            for i, name in enumerate(_names(content["trajectories.names"]))
        ]
        if len(found) != len(counts):
            raise ValueError("there is not one name for each trajectory")
        slides = content["dofs.slides"].astype(np.bool_)
    except (KeyError, ValueError, IndexError) as error:
        raise LimberError(Status.CORRUPT, f"{path}: {error}") from error
    return Trajectories(dofs, inputs, slides, metadata.get("hold") == "linear", found)
