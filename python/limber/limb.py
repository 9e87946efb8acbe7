"""A moving limb: torques in, angles out. The model is in docs/formats/limb-model.md."""

from __future__ import annotations

import ctypes
import enum
from dataclasses import dataclass
from typing import Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import LimberError, PathLike, Status, lib

Floats = NDArray[np.float64]


class LimbKind(enum.IntEnum):
    """What was learned."""

    LAGRANGIAN = 0
    AFFINE = 1
    PLAIN = 2
    GRU = 3
    LSTM = 4


class Integrator(enum.IntEnum):
    """What carries time."""

    SEMI_IMPLICIT_EULER = 0
    RK4 = 1
    IMPLICIT_MIDPOINT = 2
    DORMAND_PRINCE = 3


@dataclass(frozen=True)
class Torques:
    """Parts of the balance at one instant; input = inertial + interaction + gravity + viscous."""

    input: Floats
    inertial: Floats
    interaction: Floats
    gravity: Floats
    viscous: Floats


class LimbModel:
    """A model, which never changes. `source`: the path of a model.safetensors, or its bytes."""

    def __init__(self, source: Union[PathLike, bytes]) -> None:
        self._data, self._memory, self._pointer = _native.load("Limb", source)
        info = lib.lmbLimb_Info(self._pointer)
        self.kind = LimbKind(info.kind)
        self.dof_count: int = info.dofCount
        self.input_count: int = info.inputCount
        self.parameter_count: int = info.parameterCount
        self.has_trust: bool = info.hasTrust
        self.linear_input: bool = info.linearInput
        #: s, sampling of the data that it learned from
        self.step: float = info.step
        self.dof_names = [lib.lmbLimb_DofName(self._pointer, i).decode() for i in range(self.dof_count)]
        self.input_names = [lib.lmbLimb_InputName(self._pointer, i).decode() for i in range(self.input_count)]

    def body(
        self,
        integrator: Integrator = Integrator.RK4,
        max_step: Optional[float] = None,
        tolerance: Optional[float] = None,
        trust: Optional[bool] = None,
    ) -> LimbBody:
        """A limb of this model at all angles and speeds zero; None: the default of lmbLimbDef."""
        definition = lib.lmbDefaultLimbDef(self._pointer)
        definition.integrator = int(integrator)
        if max_step is not None:
            definition.maxStep = max_step
        if tolerance is not None:
            definition.tolerance = tolerance
        if trust is not None:
            definition.trust = trust
        return LimbBody(self, definition)


class LimbBody:
    """One limb; LimbModel.body makes it."""

    def __init__(self, model: LimbModel, definition: _native.LimbDef) -> None:
        self.model = model
        self._memory, self._pointer = _native.place("Limb", model._pointer, definition)

    def _numbers(self, values: ArrayLike, count: int, what: str) -> Floats:
        array = np.ascontiguousarray(values, np.float64)
        if array.shape != (count,):
            raise LimberError(Status.INVALID_ARGUMENT, f"{what}: {count} numbers are needed")
        return array

    def _dofs(self, values: ArrayLike, what: str) -> Floats:
        return self._numbers(values, self.model.dof_count, what)

    def start(self, positions: ArrayLike, velocities: ArrayLike) -> None:
        """Sets the state: rad and rad/s, or m and m/s."""
        q, v = self._dofs(positions, "positions"), self._dofs(velocities, "velocities")
        _native.check(lib.lmbLimbBody_Start(self._pointer, q.ctypes.data, v.ctypes.data), "start")

    def state(self, positions: Optional[Floats] = None, velocities: Optional[Floats] = None) -> tuple[Floats, Floats]:
        """Positions and velocities, written into the given arrays (contiguous float64) or into new ones."""
        n = self.model.dof_count
        q = np.empty(n) if positions is None else positions
        v = np.empty(n) if velocities is None else velocities
        for array in (q, v):
            if array.dtype != np.float64 or array.shape != (n,) or not array.flags.c_contiguous or not array.flags.writeable:
                raise LimberError(Status.INVALID_ARGUMENT, f"state: writable contiguous float64 of shape ({n},) is needed")
        lib.lmbLimbBody_State(self._pointer, q.ctypes.data, v.ctypes.data)
        return q, v

    def step(self, inputs: ArrayLike, dt: float, inputs_end: Optional[ArrayLike] = None) -> None:
        """Goes on by dt seconds under inputs held, or going straight from inputs to inputs_end.

        LimberError with NUMERICAL or NOT_CONVERGED: the state did move, as lmbLimbBody_Step says.
        """
        u = self._numbers(inputs, self.model.input_count, "inputs")
        end = None if inputs_end is None else self._numbers(inputs_end, self.model.input_count, "inputs_end")
        code = lib.lmbLimbBody_Step(self._pointer, u.ctypes.data, None if end is None else end.ctypes.data, dt)
        _native.check(code, "step")

    @property
    def trust(self) -> float:
        """How far the last step was from the training data: 0 inside, 1 at the edge; -1 without the score."""
        return float(lib.lmbLimbBody_Trust(self._pointer))

    def acceleration(self, positions: ArrayLike, velocities: ArrayLike, inputs: ArrayLike) -> Floats:
        """The equations at one instant; the state is not touched."""
        q, v = self._dofs(positions, "positions"), self._dofs(velocities, "velocities")
        u, out = self._numbers(inputs, self.model.input_count, "inputs"), np.empty(self.model.dof_count)
        code = lib.lmbLimbBody_Acceleration(self._pointer, q.ctypes.data, v.ctypes.data, u.ctypes.data, out.ctypes.data)
        _native.check(code, "acceleration")
        return out

    def inverse(self, positions: ArrayLike, velocities: ArrayLike, accelerations: ArrayLike) -> Torques:
        """Inverse dynamics of a Lagrangian model: the torques that a motion takes, and their parts."""
        q, v = self._dofs(positions, "positions"), self._dofs(velocities, "velocities")
        a, parts = self._dofs(accelerations, "accelerations"), _native.LimbTorques()
        code = lib.lmbLimbBody_Inverse(self._pointer, q.ctypes.data, v.ctypes.data, a.ctypes.data, ctypes.byref(parts))
        _native.check(code, "inverse")
        n = self.model.dof_count
        return Torques(*(np.array(getattr(parts, name)[:n]) for name in _native.TORQUE_NAMES))

    def save(self) -> bytes:
        """The state, to be restored into any body of the same model and settings."""
        return _native.save("Limb", self._pointer)

    def restore(self, state: bytes) -> None:
        """Goes on from a saved state, bit for bit."""
        _native.restore("Limb", self._pointer, state)
