"""A network trained elsewhere and a basis become a model file that the runtime loads (docs/formats/model.md)."""

from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors.numpy import save

from . import _native
from ._native import LimberError, PathLike, Status
from .files import read_arrays

Floats = NDArray[np.float32]
Layers = Sequence[tuple[ArrayLike, ArrayLike]]


def _invalid(message: str) -> LimberError:
    return LimberError(Status.INVALID_ARGUMENT, f"pack: {message}")


@dataclass
class Skin:
    """The mesh and how bones move it; V vertices, I bones of each."""

    bind: ArrayLike  #: (V, 3) m, bind space
    triangles: ArrayLike  #: (T, 3)
    vertex_bones: ArrayLike  #: (V, I)
    vertex_weights: ArrayLike  #: (V, I), none negative; brought to the sum 1, the largest first
    bone_parents: ArrayLike  #: (J), below the bone's own index, or -1
    bone_names: Sequence[str]
    softness: Optional[ArrayLike] = None  #: (V) 0 .. 1; None: 1. Only vertices above 0 can be displaced


@dataclass
class Region:
    """A network for some vertices: coefficients z of the pose, displacement = basis times z.

    K coefficients, N vertices, F features.
    """

    basis: ArrayLike  #: (K, N, 3) m, bind axes
    layers: Layers  #: weights (outputs, inputs) and biases (outputs) as torch.nn.Linear; tanh after all but the last
    vertices: Optional[ArrayLike] = None  #: (N), None: all
    features: Optional[ArrayLike] = None  #: (F) indices into pose_features, None: all
    mean: Optional[ArrayLike] = None  #: (F); the first layer reads (feature - mean) * scale. None: 0
    scale: Optional[ArrayLike] = None  #: (F), None: 1
    linear: Optional[ArrayLike] = None  #: (K, F + 1) regression beside the layers, its constant last. None: 0
    bone: int = 0  #: what the region belongs to; for tools, without effect


def layers_from_safetensors(path: PathLike, prefix: str = "") -> list[tuple[Floats, Floats]]:
    """Linear layers of a saved state dict, in order of the numbers in their names.

    As safetensors.torch.save_file( nn.Sequential( Linear, Tanh, Linear ).state_dict(), path ) writes them:
    "0.weight", "0.bias", "2.weight", "2.bias", each behind the prefix.
    """
    content, _ = read_arrays(path)
    found = []
    for name in content:
        if name.startswith(prefix) and name.endswith(".weight"):
            stem = name[: -len(".weight")]
            number = stem[len(prefix) :]
            if not number.isdigit() or f"{stem}.bias" not in content:
                raise _invalid(f"{path}: {name} is not a numbered layer with a bias; say which prefix the layers have")
            found.append((int(number), stem))
    if not found:
        raise _invalid(f"{path}: no array {prefix}N.weight")
    return [
        (content[f"{stem}.weight"].astype(np.float32), content[f"{stem}.bias"].astype(np.float32))
        for _, stem in sorted(found)
    ]


def pose_features(
    bones: ArrayLike, bone_parents: ArrayLike, rotation: Optional[ArrayLike] = None
) -> NDArray[np.float64]:
    """What a network sees of a pose: (..., 3 for each root and 9 for each other bone).

    bones: (..., J, 3, 4) bind space to model space. rotation: (..., 3, 3) of model space in the world, None:
    none. A root's features are gravity's direction as it sees it, less that in bind; any other bone's are the
    rotation against its parent less the identity.
    """
    matrices = np.asarray(bones, np.float64)[..., :3, :3]
    u, _, vt = np.linalg.svd(matrices)
    u = u * np.where(np.arange(3) == 2, np.linalg.det(u @ vt)[..., None, None], 1.0)
    turns = u @ vt
    world = np.eye(3) if rotation is None else np.asarray(rotation, np.float64)
    parts = []
    for j, parent in enumerate(np.asarray(bone_parents)):
        own = turns[..., j, :, :]
        if parent < 0:
            down = np.swapaxes(world @ own, -1, -2) @ np.array([0.0, -1.0, 0.0])
            parts.append(down - np.array([0.0, -1.0, 0.0]))
        else:
            against = np.swapaxes(turns[..., parent, :, :], -1, -2) @ own - np.eye(3)
            parts.append(against.reshape(*against.shape[:-2], 9))
    return np.concatenate(parts, axis=-1)


def _array(values: Any, kind: Any, shape: tuple[int, ...], what: str) -> NDArray[Any]:
    """An array of numbers, PyTorch's too; -1 in shape is any size."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.array(values)
    if array.ndim != len(shape) or any(w not in (-1, h) for w, h in zip(shape, array.shape)):
        wanted = " x ".join("any" if w < 0 else str(w) for w in shape)
        raise _invalid(f"{what} has the shape {array.shape}, not {wanted}")
    if np.issubdtype(kind, np.integer):
        if not np.issubdtype(array.dtype, np.integer):
            raise _invalid(f"{what} must be whole numbers")
        if array.size and (array.min() < np.iinfo(kind).min or array.max() > np.iinfo(kind).max):
            raise _invalid(f"{what} holds a number that {np.dtype(kind).name} does not")
    elif not np.isfinite(array).all():
        raise _invalid(f"{what} holds a number that is not finite")
    return np.ascontiguousarray(array, kind)


def _skin_arrays(skin: Skin) -> dict[str, NDArray[Any]]:
    bind = _array(skin.bind, np.float32, (-1, 3), "bind")
    count = len(bind)
    parents = _array(skin.bone_parents, np.int32, (-1,), "bone_parents")
    bones = _array(skin.vertex_bones, np.uint16, (count, -1), "vertex_bones")
    weights = _array(skin.vertex_weights, np.float64, bones.shape, "vertex_weights")
    if len(skin.bone_names) != len(parents) or any("\0" in name for name in skin.bone_names):
        raise _invalid("bone_names: one name for each bone, without zero bytes, is needed")
    if (weights < 0).any() or (weights.sum(axis=1) <= 0).any():
        raise _invalid("vertex_weights: none may be negative, and each vertex needs one above 0")
    order = np.argsort(-weights, axis=1, kind="stable")
    weights = np.take_along_axis(weights / weights.sum(axis=1, keepdims=True), order, axis=1)
    softness = np.ones(count) if skin.softness is None else skin.softness
    # A seam's vertices lie at one place; they share a normal, and the first one names the group.
    _, first, group = np.unique(bind, axis=0, return_index=True, return_inverse=True)
    return {
        "bind": bind,
        "triangles": _array(skin.triangles, np.int32, (-1, 3), "triangles"),
        "vertex_bones": np.take_along_axis(bones, order, axis=1),
        "vertex_weights": weights.astype(np.float32),
        "softness": _array(softness, np.float32, (count,), "softness"),
        "normal_groups": first[group.reshape(-1)].astype(np.int32),
        "bone_parents": parents,
        "bone_names": np.frombuffer(b"".join(n.encode() + b"\0" for n in skin.bone_names), np.uint8),
    }


def _layers(layers: Layers, inputs: int, outputs: int) -> tuple[int, list[Floats]]:
    """The hidden width and all numbers in the file's order; narrower hidden layers get idle units, whose tanh is 0."""
    pairs = [
        (_array(w, np.float32, (-1, -1), "a layer's weights"), _array(b, np.float32, (-1,), "a layer's biases"))
        for w, b in layers
    ]
    if len(pairs) > 8:
        raise _invalid(f"{len(pairs)} dense layers, of at most 8")
    hidden = max((len(b) for _, b in pairs[:-1]), default=0)
    out, width, padded = [], inputs, inputs
    for i, (w, b) in enumerate(pairs):
        last = i == len(pairs) - 1
        if w.shape != (len(b), width) or (last and len(b) != outputs):
            raise _invalid(f"layer {i} has weights {w.shape} and {len(b)} biases; {width} inputs come in, {outputs} go out in the end")
        rows = len(b) if last else hidden
        full = np.zeros((rows, padded), np.float32)
        full[: len(b), :width] = w
        out += [full.reshape(-1), np.concatenate([b, np.zeros(rows - len(b), np.float32)])]
        width, padded = len(b), rows
    return hidden, out


def _network_arrays(regions: Sequence[Region], parents: NDArray[np.int32], softness: Floats) -> dict[str, NDArray[Any]]:
    available = int(np.where(parents < 0, 3, 9).sum())
    rows: list[list[int]] = []
    parts: dict[str, list[NDArray[Any]]] = {n: [] for n in ("features", "vertices", "basis", "linear", "mean", "scale", "layers")}
    for r in regions:
        vertices = _array(np.arange(len(softness)) if r.vertices is None else r.vertices, np.int32, (-1,), "vertices")
        features = _array(np.arange(available) if r.features is None else r.features, np.int32, (-1,), "features")
        basis = _array(r.basis, np.float32, (-1, len(vertices), 3), "basis")
        k, f = len(basis), len(features)
        if len(vertices) and (vertices.min() < 0 or vertices.max() >= len(softness) or len(np.unique(vertices)) < len(vertices)):
            raise _invalid(f"a region's vertices must be distinct and below {len(softness)}")
        if f and (features.min() < 0 or features.max() >= available):
            raise _invalid(f"a region's features must be below {available}, the length of pose_features")
        if (basis[:, softness[vertices] <= 0] != 0).any():
            raise _invalid("a basis moves a vertex whose softness is 0, which stays with the bones")
        order = np.argsort(vertices)
        hidden, numbers = _layers(r.layers, f, k)
        linear = np.zeros((k, f + 1)) if r.linear is None else r.linear
        rows.append([r.bone, f, k, len(vertices), hidden, len(r.layers)])
        parts["features"].append(features)
        parts["vertices"].append(vertices[order])
        parts["basis"].append(basis[:, order].reshape(-1))
        parts["linear"].append(_array(linear, np.float32, (k, f + 1), "linear").reshape(-1))
        parts["mean"].append(_array(np.zeros(f) if r.mean is None else r.mean, np.float32, (f,), "mean"))
        parts["scale"].append(_array(np.ones(f) if r.scale is None else r.scale, np.float32, (f,), "scale"))
        parts["layers"] += numbers
    out: dict[str, NDArray[Any]] = {"network.regions": np.array(rows, np.int32).reshape(-1, 6)}
    for name, arrays in parts.items():
        kind = np.int32 if name in ("features", "vertices") else np.float32
        out[f"network.{name}"] = np.concatenate(arrays or [np.zeros(0)]).astype(kind)
    return out


def _write(path: PathLike, arrays: dict[str, NDArray[Any]], version: str) -> None:
    """Loads the file to be sure, and puts it in place whole."""
    contiguous = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
    data = save(contiguous, {"format": "limber.flesh", "version": version})
    _native.load("Flesh", data)
    place = pathlib.Path(path)
    temporary = place.with_name(place.name + ".part")
    temporary.write_bytes(data)
    os.replace(temporary, place)


def pack(path: PathLike, skin: Union[Skin, PathLike], regions: Sequence[Region]) -> None:
    """Writes a model file with these networks, and loads it to be sure.

    skin: a Skin, or the path of a model (an instant one, say), of which everything but the network is kept:
    skin, modes, springs. What its modes' forcing knew of the old network's coefficients is left out.
    """
    version = "1"
    if isinstance(skin, Skin):
        arrays = _skin_arrays(skin)
    else:
        arrays, metadata = read_arrays(skin)
        if metadata.get("format") != "limber.flesh":
            raise _invalid(f"{skin} is not a model of a body")
        version = metadata.get("version", "1")
        left = ("network.", "modes.coefficient_forcing")
        arrays = {name: a for name, a in arrays.items() if not name.startswith(left)}
    if not regions:
        raise _invalid("no region; a model needs none to be run, but then there is nothing to pack")
    arrays.update(_network_arrays(regions, arrays["bone_parents"], arrays["softness"]))
    _write(path, arrays, version)


def _shapes_from_columns(arrays: dict[str, NDArray[Any]], what: str, count: int) -> Floats:
    """(count, V, 3) shapes of a model that holds them as bytes, block by block."""
    shapes = np.zeros((count, len(arrays["bind"]), 3), np.float32)
    blocks, order = arrays[f"{what}.blocks"], arrays["soft_order"].reshape(-1, 64)
    columns, scales = arrays[f"{what}.columns"], arrays[f"{what}.scales"]
    entries = arrays[f"{what}.entries"].reshape(-1)
    for block, lanes in enumerate(order):
        first, last = int(blocks[block]), int(blocks[block + 1])
        own = entries[192 * first : 192 * last].reshape(3, 4, -1, 16, 2)
        own = own.transpose(2, 4, 1, 3, 0).reshape(last - first, 64, 3)  # (columns, lanes, axes)
        real = lanes >= 0
        for i in range(last - first):
            shapes[columns[first + i]][lanes[real]] += scales[first + i] * own[i][real].astype(np.float32)
    return shapes


def _network_level(arrays: dict[str, NDArray[Any]], kept: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Every region with the vertices that are kept; what it reads and gives stays, so that levels share it."""
    numbers = np.full(len(arrays["bind"]), -1, np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    regions = arrays["network.regions"].copy()
    whole = None
    if "network.blocks" in arrays:
        whole = _shapes_from_columns(arrays, "network", int(regions[:, 2].sum()))
    vertices, bases = [], []
    at = vertex = basis = 0
    for region in regions:
        k, n = int(region[2]), int(region[3])
        if whole is None:
            own = arrays["network.vertices"][vertex : vertex + n]
            shapes = arrays["network.basis"][basis : basis + 3 * k * n].reshape(k, n, 3)
        else:
            shapes = whole[at : at + k]
            own = np.flatnonzero((shapes != 0).any(axis=(0, 2))).astype(np.int32)
            shapes = shapes[:, own]
        at, vertex, basis = at + k, vertex + n, basis + 3 * k * n
        new = numbers[own]
        order = np.argsort(new, kind="stable")[np.count_nonzero(new < 0) :]
        region[3] = len(order)
        vertices.append(new[order])
        bases.append(shapes[:, order].reshape(-1))
    return {
        "network.regions": regions,
        "network.vertices": np.concatenate(vertices).astype(np.int32),
        "network.basis": np.concatenate(bases).astype(np.float32),
        **{f"network.{n}": arrays[f"network.{n}"] for n in ("features", "linear", "mean", "scale", "layers")},
    }


def level(
    path: PathLike, source: PathLike, vertices: ArrayLike, triangles: ArrayLike, modes: Optional[int] = None
) -> None:
    """Writes a level of detail of a model: some of its vertices, in any order, and its first modes.

    vertices: (N) of the source, distinct; triangles: (T, 3) in the level's own numbers, 0 .. N - 1; modes: how
    many to keep, None: all. Bodies of both take over each other's motion (FleshBody.take_over) where they run
    the modal layer. Springs of vertices are kept, but those of the hybrid layer only with all modes. The file
    is of version 1.
    """
    arrays, metadata = read_arrays(source)
    if metadata.get("format") != "limber.flesh":
        raise _invalid(f"{source} is not a model of a body")
    count = len(arrays["bind"])
    kept = _array(vertices, np.int32, (-1,), "vertices")
    corners = _array(triangles, np.int32, (-1, 3), "triangles")
    if not len(kept) or kept.min() < 0 or kept.max() >= count or len(np.unique(kept)) < len(kept):
        raise _invalid(f"vertices must be distinct and below {count}, and at least one")
    if len(corners) and (corners.min() < 0 or corners.max() >= len(kept)):
        raise _invalid(f"triangles must be below {len(kept)}, the number of kept vertices")
    groups = arrays["normal_groups"][kept]
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    out: dict[str, NDArray[Any]] = {n: arrays[n] for n in ("bone_parents", "bone_names")}
    out.update({n: arrays[n][kept] for n in ("bind", "vertex_bones", "vertex_weights", "softness")})
    out.update({"triangles": corners, "normal_groups": first[group.reshape(-1)].astype(np.int32)})
    if "network.regions" in arrays:
        out.update(_network_level(arrays, kept))
    if "springs.vertex" in arrays:
        out["springs.vertex"] = arrays["springs.vertex"][kept]
    if "modes.pairs" in arrays:
        available = len(arrays["modes.unfitted"])
        keep = available if modes is None else modes
        if not 1 <= keep <= available:
            raise _invalid(f"modes: 1 .. {available} can be kept")
        shapes = arrays.get("modes.shapes")
        if shapes is None:
            shapes = _shapes_from_columns(arrays, "modes", available)
        out["modes.shapes"], out["modes.pairs"] = shapes[:keep][:, kept], arrays["modes.pairs"]
        for name in ("unfitted", "fitted", "pose_stiffness", "pose_stiffness_range", "bone_forcing", "coefficient_forcing"):
            if f"modes.{name}" in arrays:
                out[f"modes.{name}"] = arrays[f"modes.{name}"][:keep]
        if keep == available and "springs.remainder" in arrays:
            out["springs.remainder"] = arrays["springs.remainder"][kept]
    _write(path, out, "1")
