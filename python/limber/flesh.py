"""A moving body: pose in, skinned soft body out. The equations are in docs/formats/model.md."""

from __future__ import annotations

import ctypes
import enum
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import LimberError, PathLike, Status, lib


class Layer(enum.IntEnum):
    """Which springs move on top of the network's shape."""

    NONE = 0
    VERTEX = 1
    MODAL_UNFITTED = 2
    MODAL = 3
    HYBRID = 4


class Interpolation(enum.IntEnum):
    """How the target moves between two frames."""

    CUBIC = 0
    LINEAR = 1


class FleshModel:
    """A model, which never changes. `source`: the path of a model.safetensors, or its bytes."""

    def __init__(self, source: Union[PathLike, bytes]) -> None:
        self._data, self._memory, self._pointer = _native.load("Flesh", source)
        self.info = lib.lmbFlesh_Info(self._pointer)
        self.vertex_count: int = self.info.vertexCount
        self.triangle_count: int = self.info.triangleCount
        self.bone_count: int = self.info.boneCount
        self.mode_count: int = self.info.modeCount
        self.coefficient_count: int = self.info.coefficientCount
        self.has_network: bool = self.info.hasNetwork
        self.bone_names: list[str] = [
            lib.lmbFlesh_BoneName(self._pointer, j).decode() for j in range(self.bone_count)
        ]
        self.bone_parents: NDArray[np.int32] = np.array(
            [lib.lmbFlesh_BoneParent(self._pointer, j) for j in range(self.bone_count)], np.int32
        )
        #: (triangles, 3) vertices, and (vertices, 3) m in bind space; views of the file.
        self.triangles: NDArray[np.int32] = self._view(lib.lmbFlesh_Triangles, self.triangle_count, np.int32)
        self.bind: NDArray[np.float32] = self._view(lib.lmbFlesh_Bind, self.vertex_count, np.float32)

    def _view(self, call: Any, rows: int, kind: Any) -> Any:
        return _native.view(call(self._pointer), (rows, 3), kind, self._data)

    def body(
        self,
        layer: Optional[Layer] = None,
        network: Optional[bool] = None,
        interpolation: Interpolation = Interpolation.CUBIC,
        normals: bool = True,
        pose_stiffness: Optional[bool] = None,
        kernels: Optional[str] = None,
    ) -> FleshBody:
        """A character of this model at rest. None: the best that model and processor have."""
        definition = lib.lmbDefaultFleshDef(self._pointer)
        definition.interpolation = int(interpolation)
        definition.normals = normals
        definition.kernels = _native.kernel_set(kernels)
        if layer is not None:
            definition.layer = int(layer)
        if network is not None:
            definition.network = network
        if pose_stiffness is not None:
            definition.poseStiffness = pose_stiffness
        return FleshBody(self, definition)


class FleshBody:
    """One character in one scene; FleshModel.body makes it."""

    def __init__(self, model: FleshModel, definition: _native.FleshDef) -> None:
        self.model = model
        self._memory, self._pointer = _native.place("Flesh", model._pointer, definition)
        self._pose, self._shape = _native.FleshPose(), _native.FleshShape()
        self._pose.rotation[3] = 1.0
        self._views: dict[int, NDArray[np.float32]] = {}
        #: (vertices, 3) unit, model space, of the last step; None before it or when not asked for.
        self.normals: Optional[NDArray[np.float32]] = None

    def _seen(self, pointer: int) -> NDArray[np.float32]:
        if pointer not in self._views:
            shape = (self.model.vertex_count, 3)
            self._views[pointer] = _native.view(pointer, shape, np.float32, self._memory)
        return self._views[pointer]

    def step(
        self,
        bones: ArrayLike,
        dt: float,
        position: Optional[Sequence[float]] = None,
        rotation: Optional[Sequence[float]] = None,
        scale: Optional[float] = None,
    ) -> NDArray[np.float32]:
        """Goes on by dt seconds to a new pose and returns (vertices, 3) positions, m, in model space.

        bones: (bones, 3, 4) from bind space to model space; contiguous float32 is read in place. position,
        rotation (x, y, z, w) and scale: of model space in the world; None: as in the step before, at first the
        origin and 1.
        The result is a view of the body's own memory, good until the next step: copy what must last.
        """
        palette = self._take_pose(bones, position, rotation, scale)
        self._pose.bones = palette.ctypes.data
        code = lib.lmbFleshBody_Step(self._pointer, ctypes.byref(self._pose), dt, ctypes.byref(self._shape))
        _native.check(code, "step: dt or pose")
        return self._show()

    def _take_pose(
        self,
        bones: ArrayLike,
        position: Optional[Sequence[float]],
        rotation: Optional[Sequence[float]],
        scale: Optional[float],
    ) -> NDArray[np.float32]:
        palette = np.ascontiguousarray(bones, np.float32)
        if palette.size != 12 * self.model.bone_count:
            raise LimberError(Status.INVALID_ARGUMENT, f"bones: {self.model.bone_count} matrices of 3x4 are needed")
        if position is not None:
            self._pose.position[:] = position
        if rotation is not None:
            self._pose.rotation[:] = rotation
        if scale is not None:
            self._pose.scale = scale
        return palette

    def _show(self) -> NDArray[np.float32]:
        self.normals = self._seen(self._shape.normals) if self._shape.normals else None
        return self._seen(self._shape.positions)

    def reset(self) -> None:
        """Forgets all motion: the next step takes its pose as it is."""
        lib.lmbFleshBody_Reset(self._pointer)

    def appear(self) -> None:
        """The same, for a body that appears at a run: until then it has moved on evenly."""
        lib.lmbFleshBody_Appear(self._pointer)

    def sleep(self, asleep: bool = True) -> None:
        """Asleep, a step only counts time; the first step awake makes up for it."""
        lib.lmbFleshBody_Sleep(self._pointer, asleep)

    def teleport(self) -> None:
        """The next step's jump in position and turn is not motion; the springs keep swinging."""
        lib.lmbFleshBody_Teleport(self._pointer)

    def pause(self, paused: bool = True) -> None:
        """Steps count as dt 0 until paused is False again."""
        lib.lmbFleshBody_Pause(self._pointer, paused)

    def direct(
        self,
        gain: float = 1.0,
        limit: float = 0.0,
        vertex_gain: Optional[ArrayLike] = None,
        stiffness: float = 1.0,
        damping: float = 1.0,
        acceleration: Sequence[float] = (0.0, 0.0, 0.0),
        bone_gain: Optional[ArrayLike] = None,
        bone_stiffness: Optional[ArrayLike] = None,
        bone_damping: Optional[ArrayLike] = None,
        teleport_speed: float = 0.0,
        teleport_forgets: bool = False,
        slows_with_size: bool = False,
    ) -> None:
        """How the springs show and what else moves them; meaning and ranges as in lmbFleshDirection."""
        direction = lib.lmbDefaultFleshDirection()
        direction.gain, direction.limit = gain, limit
        direction.stiffness, direction.damping = stiffness, damping
        direction.acceleration[:] = acceleration
        direction.teleportSpeed, direction.teleportForgets = teleport_speed, teleport_forgets
        direction.slowsWithSize = slows_with_size
        vertices, bones = self.model.vertex_count, self.model.bone_count
        kept = [
            self._point(direction, "vertexGain", vertex_gain, vertices),
            self._point(direction, "boneGain", bone_gain, bones),
            self._point(direction, "boneStiffness", bone_stiffness, bones),
            self._point(direction, "boneDamping", bone_damping, bones),
        ]
        _native.check(lib.lmbFleshBody_Direct(self._pointer, ctypes.byref(direction)), "direct")
        del kept  # the library has copied them

    @staticmethod
    def _point(
        direction: _native.FleshDirection, field: str, values: Optional[ArrayLike], count: int
    ) -> Optional[NDArray[np.float32]]:
        """Points the field at the values; the caller keeps what is returned as long as the library reads it."""
        if values is None:
            return None
        array = np.ascontiguousarray(values, np.float32)
        if array.shape != (count,):
            raise LimberError(Status.INVALID_ARGUMENT, f"{field}: {count} numbers are needed")
        setattr(direction, field, array.ctypes.data)
        return array

    def push(self, velocity: Sequence[float]) -> None:
        """The next step begins with a blow: all flesh gains this velocity, m/s in the world."""
        _native.check(lib.lmbFleshBody_Push(self._pointer, (ctypes.c_double * 3)(*velocity)), "push")

    def strike(self, point: Sequence[float], impulse: Sequence[float], radius: float) -> None:
        """A blow at a place: point in m and impulse in N s, both in the world, spread over a radius in m."""
        blow = _native.FleshStrike((ctypes.c_double * 3)(*point), (ctypes.c_double * 3)(*impulse), radius)
        _native.check(lib.lmbFleshBody_Strike(self._pointer, ctypes.byref(blow)), "strike")

    def take_over(self, other: FleshBody) -> None:
        """Goes on with the motion of a body of another level of detail; see lmbFleshBody_TakeOver."""
        _native.check(lib.lmbFleshBody_TakeOver(self._pointer, other._pointer), "take_over")

    def save(self) -> bytes:
        """The state, to be restored into any body of the same model and settings."""
        return _native.save("Flesh", self._pointer)

    def restore(self, state: bytes) -> None:
        """Goes on from a saved state, bit for bit."""
        _native.restore("Flesh", self._pointer, state)


def step_many(
    bodies: Sequence[FleshBody],
    bones: Sequence[ArrayLike],
    dt: float,
    positions: Optional[Sequence[Optional[Sequence[float]]]] = None,
    rotations: Optional[Sequence[Optional[Sequence[float]]]] = None,
    scales: Optional[Sequence[Optional[float]]] = None,
) -> list[NDArray[np.float32]]:
    """Steps many bodies of one model by the same dt, each to its own pose, as FleshBody.step does one by one.

    The bits are the same; it costs less, since the bodies share the reading of the model. bones, and positions,
    rotations and scales where given: one entry for each body.
    """
    count = len(bodies)
    for name, given in (("bones", bones), ("positions", positions), ("rotations", rotations), ("scales", scales)):
        if given is not None and len(given) != count:
            raise LimberError(Status.INVALID_ARGUMENT, f"{name}: {count} entries are needed, one for each body")
    poses, shapes = (_native.FleshPose * count)(), (_native.FleshShape * count)()
    pointers, palettes = (ctypes.c_void_p * count)(), []
    for i, body in enumerate(bodies):
        palettes.append(
            body._take_pose(
                bones[i],
                None if positions is None else positions[i],
                None if rotations is None else rotations[i],
                None if scales is None else scales[i],
            )
        )
        body._pose.bones = palettes[i].ctypes.data
        poses[i], pointers[i] = body._pose, body._pointer
    _native.check(lib.lmbFleshBody_StepMany(pointers, poses, count, dt, None, shapes), "step_many: dt, a pose or the bodies")
    for i, body in enumerate(bodies):
        body._shape = shapes[i]
    return [body._show() for body in bodies]
