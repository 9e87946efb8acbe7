"""Limber in Blender: File > Import > Limber bake. docs/guide/blender.md tells how to install and use it."""

import json
import os
import struct

import bpy
import mathutils
import numpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

bl_info = {
    "name": "Limber",
    "author": "The Limber developers",
    "version": (1, 0, 0),
    "blender": (3, 4, 0),
    "location": "File > Import > Limber bake (.glb)",
    "description": "Characters whose soft tissue Limber has baked, as morph targets or as a point cache",
    "category": "Import-Export",
}


def bakes(path):
    """The animations that `limber bake` added to a .glb, as {name: frames per second}."""
    with open(path, "rb") as file:
        head = file.read(20)
        if len(head) < 20 or head[:4] != b"glTF" or head[16:20] != b"JSON":
            raise ValueError(f"{path}: this is not a binary glTF file")
        document = json.loads(file.read(struct.unpack("<I", head[12:16])[0]))
    found = {}
    for animation in document.get("animations", []):
        times = [document["accessors"][sampler["input"]] for sampler in animation["samplers"]]
        densest = max(times, key=lambda accessor: accessor["count"])
        length = densest["max"][0] - densest["min"][0]
        if "(limber)" in animation.get("name", ""):
            found[animation["name"]] = (densest["count"] - 1) / length if length > 0 else 0.0
    if not found:
        raise ValueError(f"{path}: no animation called \"... (limber)\"; is it a file that `limber bake` wrote?")
    return found


def cache_points(path):
    """How many points a PC2 or MDD file has."""
    with open(path, "rb") as file:
        head = file.read(32)
    if len(head) == 32 and head[:12] == b"POINTCACHE2\0":
        return struct.unpack("<i", head[16:20])[0]
    if len(head) >= 8 and path.lower().endswith(".mdd"):
        return struct.unpack(">i", head[4:8])[0]
    raise ValueError(f"{path}: neither a PC2 nor an MDD file")


def _owners(objects):
    for thing in objects:
        yield thing
        if thing.type == "MESH" and thing.data.shape_keys:
            yield thing.data.shape_keys


def play(objects, name):
    """Plays the animation of that name on imported objects, alone."""
    for owner in _owners(objects):
        if owner.animation_data:
            owner.animation_data.action = None
            for track in owner.animation_data.nla_tracks:
                track.mute = track.name != name
                track.is_solo = False


def import_bake(context, path, set_rate=True):
    """Imports a baked .glb and plays its dynamics. Returns the objects and {animation: frames per second}."""
    found = bakes(path)
    name, rate = next(iter(found.items()))
    render = context.scene.render
    # The importer counts key times in frames of the scene as it is then.
    if set_rate and rate > 0:
        render.fps, render.fps_base = max(1, round(rate)), 1.0
    before = set(bpy.data.objects)
    # Blender 3.4 asks NumPy for a name that NumPy 1.24 no longer has when it takes normals from the file.
    shading = "NORMALS" if "bool" in dir(numpy) else "SMOOTH"
    bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False, import_shading=shading)
    objects = [thing for thing in bpy.data.objects if thing not in before]
    for thing in objects:
        if thing.type == "MESH" and thing.data.shape_keys:
            for key in thing.data.shape_keys.key_blocks:
                if key.name.startswith("limber "):
                    key.slider_min, key.slider_max = -1.0, 1.0  # Blender clips weights to this
    play(objects, name)
    for owner in _owners(objects):
        for track in owner.animation_data.nla_tracks if owner.animation_data else ():
            if track.name == name:
                context.scene.frame_start = 0
                context.scene.frame_end = max(1, round(track.strips[0].frame_end))
    return objects, found


def attach_cache(mesh, path, rate, scene):
    """Lets a point cache of `limber bake` (rate: its frames per second) move an imported mesh instead of bones."""
    points = cache_points(path)
    if points != len(mesh.data.vertices):
        raise ValueError(
            f"{path}: {points} points, but {mesh.name} has {len(mesh.data.vertices)} vertices; "
            "import the character again without merging vertices, and take the cache of this mesh"
        )
    mesh.parent = None
    # A quarter turn from glTF's axes to Blender's. The modifier's own "Forward" and "Up" turn the other way round.
    mesh.matrix_world = mathutils.Matrix(((1, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)))
    for modifier in [m for m in mesh.modifiers if m.type in {"ARMATURE", "MESH_CACHE"}]:
        mesh.modifiers.remove(modifier)
    cache = mesh.modifiers.new("Limber", "MESH_CACHE")
    cache.cache_format = "MDD" if path.lower().endswith(".mdd") else "PC2"
    cache.filepath = path
    cache.frame_start = 0.0
    cache.frame_scale = rate / (scene.render.fps / scene.render.fps_base)
    return cache


class IMPORT_SCENE_OT_limber_bake(bpy.types.Operator, ImportHelper):
    """Import a character that `limber bake` wrote, with its soft tissue moving"""

    bl_idname = "import_scene.limber_bake"
    bl_label = "Import Limber bake"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".glb"
    filter_glob: StringProperty(default="*.glb", options={"HIDDEN"})
    set_rate: BoolProperty(name="Set frame rate", default=True, description="Give the scene the bake's frame rate")
    cache: StringProperty(
        name="Point cache", subtype="FILE_PATH", description="PC2 or MDD of the same motion, exact; empty: morph targets"
    )

    def execute(self, context):
        try:
            path = bpy.path.abspath(self.cache) if self.cache else ""
            points = cache_points(path) if path else 0
            objects, found = import_bake(context, self.filepath, self.set_rate)
            if path:
                fits = [o for o in objects if o.type == "MESH" and len(o.data.vertices) == points]
                if not fits:
                    raise ValueError(f"{path}: no mesh of the character has {points} vertices")
                attach_cache(fits[0], path, next(iter(found.values())), context.scene)
        except (OSError, ValueError, KeyError, RuntimeError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{os.path.basename(self.filepath)}: playing {next(iter(found))}")
        return {"FINISHED"}


def _menu(self, context):
    self.layout.operator(IMPORT_SCENE_OT_limber_bake.bl_idname, text="Limber bake (.glb)")


def register():
    bpy.utils.register_class(IMPORT_SCENE_OT_limber_bake)
    bpy.types.TOPBAR_MT_file_import.append(_menu)


def unregister():
    bpy.types.TOPBAR_MT_file_import.remove(_menu)
    bpy.utils.unregister_class(IMPORT_SCENE_OT_limber_bake)
