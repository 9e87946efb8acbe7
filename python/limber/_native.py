"""The shared library and its structs, as include/limber/*.h declares them; tests compare every size and offset."""

from __future__ import annotations

import ctypes
import enum
import os
import pathlib
import sys
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

MAX_DOFS = 16
TORQUE_NAMES = ("input", "inertial", "interaction", "gravity", "viscous")

PathLike = Union[str, "os.PathLike[str]"]


class Status(enum.IntEnum):
    """What a call came to; LMB_STATUS_LIST of include/limber/base.h."""

    OK = 0
    INVALID_ARGUMENT = 1
    OUT_OF_MEMORY = 2
    IO = 3
    CORRUPT = 4
    UNSUPPORTED = 5
    NOT_FOUND = 6
    NOT_CONVERGED = 7
    CANCELLED = 8
    NUMERICAL = 9


class LimberError(Exception):
    """A call that failed; `status` says how."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class FleshInfo(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in ("vertexCount", "triangleCount", "boneCount", "modeCount", "coefficientCount")] + [
        (n, ctypes.c_bool)
        for n in ("hasNetwork", "hasVertexSprings", "hasModes", "hasFittedModes", "hasHybrid", "hasPoseStiffness")
    ]


class FleshDef(ctypes.Structure):
    _fields_ = [
        ("layer", ctypes.c_int),
        ("network", ctypes.c_bool),
        ("interpolation", ctypes.c_int),
        ("normals", ctypes.c_bool),
        ("poseStiffness", ctypes.c_bool),
        ("kernels", ctypes.c_int),
    ]


class FleshPose(ctypes.Structure):
    _fields_ = [
        ("bones", ctypes.c_void_p),
        ("position", ctypes.c_double * 3),
        ("rotation", ctypes.c_float * 4),
        ("scale", ctypes.c_float),
    ]


class FleshShape(ctypes.Structure):
    _fields_ = [("positions", ctypes.c_void_p), ("normals", ctypes.c_void_p)]


class FleshDirection(ctypes.Structure):
    _fields_ = [
        ("gain", ctypes.c_float),
        ("limit", ctypes.c_float),
        ("vertexGain", ctypes.c_void_p),
        ("stiffness", ctypes.c_float),
        ("damping", ctypes.c_float),
        ("acceleration", ctypes.c_double * 3),
        ("boneGain", ctypes.c_void_p),
        ("boneStiffness", ctypes.c_void_p),
        ("boneDamping", ctypes.c_void_p),
        ("teleportSpeed", ctypes.c_float),
        ("teleportForgets", ctypes.c_bool),
        ("slowsWithSize", ctypes.c_bool),
    ]


class FleshStrike(ctypes.Structure):
    _fields_ = [("point", ctypes.c_double * 3), ("impulse", ctypes.c_double * 3), ("radius", ctypes.c_double)]


class LimbInfo(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("dofCount", ctypes.c_int),
        ("inputCount", ctypes.c_int),
        ("parameterCount", ctypes.c_int),
        ("hasTrust", ctypes.c_bool),
        ("linearInput", ctypes.c_bool),
        ("step", ctypes.c_double),
    ]


class LimbDef(ctypes.Structure):
    _fields_ = [
        ("integrator", ctypes.c_int),
        ("maxStep", ctypes.c_double),
        ("tolerance", ctypes.c_double),
        ("trust", ctypes.c_bool),
    ]


class LimbTorques(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double * MAX_DOFS) for n in TORQUE_NAMES]


def _open() -> ctypes.CDLL:
    """LIMBER_LIBRARY names another build of the library, for those who work on it."""
    chosen = os.environ.get("LIMBER_LIBRARY")
    if chosen:
        return ctypes.CDLL(chosen)
    name = {"darwin": "liblimber.dylib", "win32": "limber.dll"}.get(sys.platform, "liblimber.so")
    # An editable installation keeps the library beside the package in site-packages, not beside these sources.
    import limber

    for folder in [pathlib.Path(__file__).parent, *map(pathlib.Path, limber.__path__)]:
        if (folder / name).exists():
            return ctypes.CDLL(str(folder / name))
    raise ImportError(f"limber: {name} is not beside the package; install it with `pip install .`")


lib = _open()

_size, _pointer, _status = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
_out = ctypes.POINTER(ctypes.c_void_p)
_text = ctypes.POINTER(ctypes.c_char_p)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "lmbStatus_Text": (ctypes.c_char_p, [_status]),
    "lmbKernels_Name": (ctypes.c_char_p, [ctypes.c_int]),
    "lmbFlesh_Size": (_size, [_pointer, _size]),
    "lmbFlesh_Load": (_status, [_pointer, _size, _pointer, _size, _out, _text]),
    "lmbFlesh_Info": (FleshInfo, [_pointer]),
    "lmbFlesh_BoneName": (ctypes.c_char_p, [_pointer, ctypes.c_int]),
    "lmbFlesh_BoneParent": (ctypes.c_int, [_pointer, ctypes.c_int]),
    "lmbFlesh_Triangles": (_pointer, [_pointer]),
    "lmbFlesh_Bind": (_pointer, [_pointer]),
    "lmbDefaultFleshDef": (FleshDef, [_pointer]),
    "lmbFleshBody_Size": (_size, [_pointer, ctypes.POINTER(FleshDef)]),
    "lmbFleshBody_Place": (_status, [_pointer, ctypes.POINTER(FleshDef), _pointer, _size, _out]),
    "lmbFleshBody_StepMany": (
        _status,
        [
            ctypes.POINTER(_pointer),
            ctypes.POINTER(FleshPose),
            ctypes.c_int,
            ctypes.c_double,
            _pointer,
            ctypes.POINTER(FleshShape),
        ],
    ),
    "lmbFleshBody_Step": (_status, [_pointer, ctypes.POINTER(FleshPose), ctypes.c_double, ctypes.POINTER(FleshShape)]),
    "lmbFleshBody_Reset": (None, [_pointer]),
    "lmbFleshBody_Appear": (None, [_pointer]),
    "lmbFleshBody_Teleport": (None, [_pointer]),
    "lmbFleshBody_Sleep": (None, [_pointer, ctypes.c_bool]),
    "lmbFleshBody_Pause": (None, [_pointer, ctypes.c_bool]),
    "lmbDefaultFleshDirection": (FleshDirection, []),
    "lmbFleshBody_Direct": (_status, [_pointer, ctypes.POINTER(FleshDirection)]),
    "lmbFleshBody_Push": (_status, [_pointer, _pointer]),
    "lmbFleshBody_Strike": (_status, [_pointer, ctypes.POINTER(FleshStrike)]),
    "lmbFleshBody_TakeOver": (_status, [_pointer, _pointer]),
    "lmbFleshBody_StateSize": (_size, [_pointer]),
    "lmbFleshBody_Save": (_status, [_pointer, _pointer, _size]),
    "lmbFleshBody_Restore": (_status, [_pointer, _pointer, _size]),
    "lmbLimb_Size": (_size, [_pointer, _size]),
    "lmbLimb_Load": (_status, [_pointer, _size, _pointer, _size, _out, _text]),
    "lmbLimb_Info": (LimbInfo, [_pointer]),
    "lmbLimb_DofName": (ctypes.c_char_p, [_pointer, ctypes.c_int]),
    "lmbLimb_InputName": (ctypes.c_char_p, [_pointer, ctypes.c_int]),
    "lmbDefaultLimbDef": (LimbDef, [_pointer]),
    "lmbLimbBody_Size": (_size, [_pointer, ctypes.POINTER(LimbDef)]),
    "lmbLimbBody_Place": (_status, [_pointer, ctypes.POINTER(LimbDef), _pointer, _size, _out]),
    "lmbLimbBody_Start": (_status, [_pointer, _pointer, _pointer]),
    "lmbLimbBody_State": (None, [_pointer, _pointer, _pointer]),
    "lmbLimbBody_Step": (_status, [_pointer, _pointer, _pointer, ctypes.c_double]),
    "lmbLimbBody_Trust": (ctypes.c_double, [_pointer]),
    "lmbLimbBody_Acceleration": (_status, [_pointer] * 5),
    "lmbLimbBody_Inverse": (_status, [_pointer] * 4 + [ctypes.POINTER(LimbTorques)]),
    "lmbLimbBody_StateSize": (_size, [_pointer]),
    "lmbLimbBody_Save": (_status, [_pointer, _pointer, _size]),
    "lmbLimbBody_Restore": (_status, [_pointer, _pointer, _size]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments


def check(code: int, what: str) -> None:
    """Raises LimberError unless code is that of success."""
    if code != Status.OK:
        text = lib.lmbStatus_Text(code).decode()
        raise LimberError(Status(code), f"{what}: {text}")


def kernels() -> list[str]:
    """Instruction sets that this processor and library know, the plain one first; all give the same bits."""
    names = [lib.lmbKernels_Name(i) for i in range(1, 7)]
    return [name.decode() for name in names if name is not None]


def kernel_set(name: str | None) -> int:
    """The number of a set by its name, 0 (the best) for None."""
    for i in range(1, 7) if name is not None else ():
        known = lib.lmbKernels_Name(i)
        if known is not None and known.decode() == name:
            return i
    if name is None:
        return 0
    raise LimberError(Status.INVALID_ARGUMENT, f"no kernels {name!r} here; there are {', '.join(kernels())}")


def aligned(size: int) -> NDArray[np.uint8]:
    """A block of at least one byte, aligned to 64."""
    block = np.zeros(size + 64, np.uint8)
    start = -block.ctypes.data % 64
    return block[start : start + max(size, 1)]


def load(kind: str, source: PathLike | bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
    """The file, the memory and the pointer of a model; kind is "Flesh" or "Limb"."""
    raw = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else pathlib.Path(source).read_bytes()
    data = aligned(len(raw))
    data[: len(raw)] = np.frombuffer(raw, np.uint8)
    data.flags.writeable = False
    size = getattr(lib, f"lmb{kind}_Size")(data.ctypes.data, len(raw))
    memory = aligned(size)
    model, problem = ctypes.c_void_p(), ctypes.c_char_p()
    code = getattr(lib, f"lmb{kind}_Load")(
        data.ctypes.data, len(raw), memory.ctypes.data, size, ctypes.byref(model), ctypes.byref(problem)
    )
    if code != Status.OK:
        name = "model" if isinstance(source, (bytes, bytearray, memoryview)) else os.fspath(source)
        raise LimberError(Status(code), f"{name}: {problem.value.decode() if problem.value else 'refused'}")
    assert model.value is not None
    return data, memory, model.value


def place(kind: str, model: int, definition: FleshDef | LimbDef) -> tuple[NDArray[np.uint8], int]:
    """The memory and the pointer of a body."""
    size = getattr(lib, f"lmb{kind}Body_Size")(model, ctypes.byref(definition))
    memory = aligned(size)
    body = ctypes.c_void_p()
    code = getattr(lib, f"lmb{kind}Body_Place")(
        model, ctypes.byref(definition), memory.ctypes.data, size, ctypes.byref(body)
    )
    check(code, "a body of these settings (does the model have that layer, and are all numbers in range?)")
    assert body.value is not None
    return memory, body.value


def save(kind: str, body: int) -> bytes:
    out = ctypes.create_string_buffer(getattr(lib, f"lmb{kind}Body_StateSize")(body))
    check(getattr(lib, f"lmb{kind}Body_Save")(body, out, len(out)), "save")
    return out.raw


def restore(kind: str, body: int, state: bytes) -> None:
    block = ctypes.create_string_buffer(state, len(state))
    check(getattr(lib, f"lmb{kind}Body_Restore")(body, block, len(state)), "restore")


def view(pointer: int, shape: tuple[int, ...], kind: Any, owner: NDArray[np.uint8]) -> Any:
    """An array over memory inside owner's block, which it keeps alive; read-only."""
    start = pointer - owner.ctypes.data
    count = int(np.prod(shape)) * np.dtype(kind).itemsize
    if start < 0 or start + count > owner.size:
        raise LimberError(Status.INVALID_ARGUMENT, "a pointer outside of its block")
    array = owner[start : start + count].view(kind).reshape(shape)
    array.flags.writeable = False
    return array
