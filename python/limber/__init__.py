"""Limber's runtime for Python: play models, read what the pipeline writes, pack networks trained elsewhere.

Units are SI and radians; right-handed, Y up; quaternions are x, y, z, w; a 3x4 matrix has the translation in its
last column. Models may be shared between threads, a body belongs to one thread at a time.
"""

from ._native import LimberError, Status, kernels
from .files import Dataset, DatasetMotion, DatasetPose, Trajectories, Trajectory, read_metrics, read_trajectories
from .flesh import FleshBody, FleshModel, Interpolation, Layer, step_many
from .limb import Integrator, LimbBody, LimbKind, LimbModel, Torques
from .pack import Region, Skin, layers_from_safetensors, level, pack, pose_features

__all__ = [
    "Dataset",
    "DatasetMotion",
    "DatasetPose",
    "FleshBody",
    "FleshModel",
    "Integrator",
    "Interpolation",
    "Layer",
    "LimbBody",
    "LimbKind",
    "LimbModel",
    "LimberError",
    "Region",
    "Skin",
    "Status",
    "Torques",
    "Trajectories",
    "Trajectory",
    "kernels",
    "layers_from_safetensors",
    "level",
    "pack",
    "pose_features",
    "read_metrics",
    "read_trajectories",
    "step_many",
]
