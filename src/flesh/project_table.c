#include "flesh/project_table.h"

#include <math.h>
#include <stddef.h>

_Static_assert( sizeof( lmbTimeStepping ) == sizeof( int ) && sizeof( lmbOptimizer ) == sizeof( int ) &&
                    sizeof( lmbTargetInterpolation ) == sizeof( int ) && sizeof( lmbLayer ) == sizeof( int ),
                "choices are read and written as int" );

static const char *const steppingNames[] = { "trapezoidal", "bdf2", "backward_euler", NULL };
static const char *const optimizerNames[] = { "levenberg_marquardt", "adam", NULL };
static const char *const interpolationNames[] = { "cubic", "linear", NULL };
static const char *const layerNames[] = { "none", "vertex", "modal_unfitted", "modal", "hybrid", NULL };

const lmbProjectNoun lmbProjectBones = { "a bone", "bones" };
const lmbProjectNoun lmbProjectClips = { "an animation", "animations" };

static const lmbProjectSection sections[] = {
    { "", "The character, and what holds for all stages." },
    { "tissue", "The soft body around the bones; the stage `tissue`." },
    { "motions",
      "Which animations are simulated: `train` teaches the network and the springs, `held_out` only "
      "judges them." },
    { "simulate", "Still and moving shapes by finite elements; the stage `simulate`." },
    { "modes", "The tissue's vibration modes; the stage `modes`." },
    { "train", "The quasistatic network; the stage `train`." },
    { "fit", "Stiffness and damping of the springs; the stage `fit`." },
    { "evaluate", "What is judged against the simulation; the stage `evaluate`." },
    { "bake", "Motion with its dynamics, back into files; the stage `bake`." },
};

/* The value of an omitted number that the project's own replaces. */
#define UNSET NAN

static const lmbMaterial defaultMaterial = { NULL, 50e3, 0.45, 1000.0 };
static const lmbBoneRadius defaultRadius = { NULL, 0.0 };
static const lmbPoseRange defaultRange = { NULL, 0.0 };
static const lmbProjectMotion defaultMotion = { .keyRate = UNSET, .cutoff = UNSET, .warpIn = UNSET };

static const lmbProjectRecord records[] = {
    { "material", sizeof( lmbMaterial ), &defaultMaterial, NULL,
      "Entries of `tissue.materials`. Where none fits, the defaults below hold." },
    { "radius", sizeof( lmbBoneRadius ), &defaultRadius, NULL, "Entries of `tissue.radii`." },
    { "range", sizeof( lmbPoseRange ), &defaultRange, NULL, "Entries of `simulate.ranges`." },
    { "motion", sizeof( lmbProjectMotion ), &defaultMotion, "clip",
      "Entries of `motions.train` and `motions.held_out`. The name of an animation alone stands "
      "for an entry with that `clip`." },
};

#define AT( field ) .offset = offsetof( lmbProject, field )
#define COUNT_AT( field ) .countOffset = offsetof( lmbProject, field )
#define IN( record, field ) .offset = offsetof( record, field )
#define RANGE( low, high ) .minimum = ( low ), .maximum = ( high )

static const lmbProjectKey keys[] = {
    { "", "character", lmb_keyPath, AT( character ),
      .says = "The rigged character, glTF 2.0 (.glb or .gltf). The only key that must be there." },
    { "", "name", lmb_keyText, AT( name ), .unset = "the file's name, or its folder's for project.yaml",
      .says = "What the results are called: the default output folder is `out/NAME`." },
    { "", "unit", lmb_keyNumber, AT( import.metresPerUnit ), RANGE( 0.0, 1e6 ), .unit = "m",
      .says = "Metres for each unit of length in the character's file; 0: measured from the skeleton." },
    { "", "seed", lmb_keyCount, AT( seed ), RANGE( 0.0, 2147483647.0 ),
      .says = "Start of all random numbers. The same seed and settings give the same files. `--seed` wins." },
    { "", "instant", lmb_keyFlag, AT( instant ),
      .says = "Make the model without simulation, network and fit, as `--instant` does." },

    { "tissue", "cell", lmb_keyNumber, AT( tissue.cell ), RANGE( 0.0, 10.0 ), .unit = "m",
      .says = "Edge of a lattice cell; 0: found from `nodes`." },
    { "tissue", "nodes", lmb_keyCount, AT( tissue.nodeTarget ), RANGE( 50.0, 200000.0 ),
      .says = "Lattice nodes to aim at when `cell` is 0." },
    { "tissue", "bone_thickness", lmb_keyNumber, AT( tissue.boneThickness ), RANGE( 0.0, 0.9 ),
      .says = "Share of the body's local thickness that bone fills." },
    { "tissue", "materials", lmb_keyRecords, AT( tissue.materials ), COUNT_AT( tissue.materialCount ),
      .record = "material", .says = "Materials by region; where several fit, the later one wins." },
    { "tissue", "radii", lmb_keyRecords, AT( tissue.radii ), COUNT_AT( tissue.radiusCount ),
      .record = "radius", .says = "Bone radii in place of the measured ones." },
    { "tissue", "rigid", lmb_keyNames, AT( tissue.rigidBones ), .what = &lmbProjectBones,
      COUNT_AT( tissue.rigidCount ),
      .says = "Bones whose skin, and that of all bones below them, keeps the artist's skinning." },

    { "motions", "train", lmb_keyRecords, AT( trained ), COUNT_AT( trainedCount ), .record = "motion",
      .says = "Motions to learn from: names of clips, or entries with settings of their own." },
    { "motions", "held_out", lmb_keyRecords, AT( heldOut ), COUNT_AT( heldOutCount ), .record = "motion",
      .says = "Motions to judge by; nothing is learned from them." },
    { "motions", "key_rate", lmb_keyNumber, AT( motion.keyRate ), RANGE( 0.0, 1000.0 ), .unit = "Hz",
      .says =
          "Rate at which keys are resampled for the smooth curve; 0: the clip's own densest, at most 120." },
    { "motions", "cutoff", lmb_keyNumber, AT( motion.cutoff ), RANGE( 0.0, 500.0 ), .unit = "Hz",
      .says = "Low-pass against capture noise in the keys; 0: keys as they are." },
    { "motions", "warp_in", lmb_keyNumber, AT( motion.warpIn ), RANGE( 0.0, 5.0 ), .unit = "s",
      .says = "Time in which a motion comes up to speed from rest." },

    { "simulate", "poses", lmb_keyCount, AT( simulate.poseCount ), RANGE( 0.0, 100000.0 ),
      .says = "Random poses around frames of the training motions." },
    { "simulate", "spread", lmb_keyNumber, AT( simulate.poseSpread ), RANGE( 0.0, 90.0 ), .unit = "degrees",
      .says = "Standard deviation of each joint's random turn." },
    { "simulate", "range", lmb_keyNumber, AT( simulate.poseRange ), RANGE( 0.0, 180.0 ), .unit = "degrees",
      .says = "Largest turn of any joint away from bind in a random pose." },
    { "simulate", "ranges", lmb_keyRecords, AT( simulate.ranges ), COUNT_AT( simulate.rangeCount ),
      .record = "range", .says = "The same for single joints." },
    { "simulate", "rate", lmb_keyNumber, AT( simulate.rate ), RANGE( 5.0, 1000.0 ), .unit = "Hz",
      .says = "Frames per second that are kept." },
    { "simulate", "step_rate", lmb_keyNumber, AT( simulate.stepRate ), RANGE( 5.0, 10000.0 ), .unit = "Hz",
      .says = "Time steps per second; rounded up to a multiple of `rate`." },
    { "simulate", "stepping", lmb_keyChoice, AT( simulate.stepping ), .choices = steppingNames,
      .says = "Time integration. Backward Euler damps what it should show; it is there for comparison." },
    { "simulate", "damping_mass", lmb_keyNumber, AT( simulate.dampingMass ), RANGE( 0.0, 1000.0 ),
      .unit = "1/s", .says = "Rayleigh damping by mass (alpha)." },
    { "simulate", "damping_stiffness", lmb_keyNumber, AT( simulate.dampingStiffness ), RANGE( 0.0, 1.0 ),
      .unit = "s", .says = "Rayleigh damping by stiffness (beta)." },
    { "simulate", "gravity", lmb_keyVector, AT( simulate.gravity ), .length = 3, RANGE( -1000.0, 1000.0 ),
      .unit = "m/s^2", .says = "In scene space. None by default: the artist's shape already hangs in it." },
    { "simulate", "tolerance", lmb_keyNumber, AT( simulate.tolerance ), RANGE( 1e-14, 0.1 ),
      .says = "Where Newton's iteration ends: residual relative to a scale of the forces." },
    { "simulate", "iterations", lmb_keyCount, AT( simulate.iterationLimit ), RANGE( 1.0, 10000.0 ),
      .says = "Newton iterations after which a solve counts as not converged." },

    { "modes", "count", lmb_keyCount, AT( modeCount ), RANGE( 1.0, 512.0 ),
      .says = "Vibration modes, lowest first." },

    { "train", "coefficients", lmb_keyCount, AT( train.coefficients ), RANGE( 1.0, 64.0 ),
      .says = "Shape coefficients of each region at most." },
    { "train", "variance_kept", lmb_keyNumber, AT( train.varianceKept ), RANGE( 0.01, 1.0 ),
      .says = "Fewer coefficients where they keep this share of a region's variance." },
    { "train", "hidden", lmb_keyCount, AT( train.hidden ), RANGE( 0.0, 1024.0 ),
      .says = "Width of the hidden layers; 0: regression only." },
    { "train", "layers", lmb_keyCount, AT( train.layers ), RANGE( 1.0, 4.0 ), .says = "Hidden layers." },
    { "train", "reach", lmb_keyCount, AT( train.reach ), RANGE( 0.0, 64.0 ),
      .says = "Bones within this many steps of a region's bone are its inputs." },
    { "train", "ridge", lmb_keyNumber, AT( train.ridge ), RANGE( 0.0, 1e6 ),
      .says = "Relative ridge of the regression; 0: chosen by cross-validation." },
    { "train", "mirror", lmb_keyFlag, AT( train.mirror ),
      .says = "Add left-right mirrored samples when the character is symmetric." },
    { "train", "held_out_poses", lmb_keyNumber, AT( train.heldOutPoses ), RANGE( 0.05, 0.5 ),
      .says = "Share of the poses kept for early stopping and for the report." },
    { "train", "adam_steps", lmb_keyCount, AT( train.adamSteps ), RANGE( 0.0, 1e6 ),
      .says = "Steps of Adam." },
    { "train", "lbfgs_steps", lmb_keyCount, AT( train.lbfgsSteps ), RANGE( 0.0, 1e6 ),
      .says = "Steps of L-BFGS after them." },
    { "train", "weight_decay", lmb_keyNumber, AT( train.weightDecay ), RANGE( 0.0, 1.0 ),
      .says = "Decay of the perceptrons' weights." },

    { "fit", "interpolation", lmb_keyChoice, AT( fit.interpolation ), .choices = interpolationNames,
      .says = "How the target moves between two frames." },
    { "fit", "optimizer", lmb_keyChoice, AT( fit.optimizer ), .choices = optimizerNames,
      .says = "What finds stiffness and damping." },
    { "fit", "drop_share", lmb_keyNumber, AT( fit.dropShare ), RANGE( 0.0, 0.5 ),
      .says = "Share of the worst frames that the second fit leaves out." },
    { "fit", "use_seconds", lmb_keyNumber, AT( fit.useSeconds ), RANGE( 0.0, 1e6 ), .unit = "s",
      .says = "How much of each training motion is fitted on; 0: all." },
    { "fit", "pose_stiffness", lmb_keyFlag, AT( fit.poseStiffness ),
      .says = "Let the stiffness of the vibration modes follow the pose, as the tissue's does." },

    { "evaluate", "softness", lmb_keyNumber, AT( softSkin ), RANGE( 0.0, 1.0 ),
      .says =
          "Vertices that tissue moves at least this much (0 the artist's skinning, 1 tissue) are judged." },
    { "evaluate", "sheet", lmb_keyFlag, AT( sheet ),
      .says = "Draw contact sheets, `sheet-MOTION.png`, of the held-out motions." },

    { "bake", "targets", lmb_keyCount, AT( bake.targets ), RANGE( 1.0, 64.0 ),
      .says = "Morph targets of the GLB at most." },
    { "bake", "layer", lmb_keyChoice, AT( bake.layer ), .choices = layerNames,
      .says = "Springs that are baked; the next best when the model does not have them." },
    { "bake", "rate", lmb_keyNumber, AT( bake.rate ), RANGE( 1.0, 1000.0 ), .unit = "Hz",
      .says = "Keys per second." },
    { "bake", "motions", lmb_keyTexts, AT( bake.motions ), COUNT_AT( bake.motionCount ),
      .says =
          "Names of the motions to bake; none: all of `motions`, or of the character when there are none." },
    { "bake", "glb", lmb_keyFlag, AT( bake.glb ),
      .says = "Write `baked-MOTION.glb`: the character with morph targets that carry the dynamics." },
    { "bake", "pc2", lmb_keyFlag, AT( bake.pc2 ), .says = "Write a PC2 point cache for each motion." },
    { "bake", "mdd", lmb_keyFlag, AT( bake.mdd ), .says = "Write an MDD point cache for each motion." },
    { "bake", "usda", lmb_keyFlag, AT( bake.usda ), .says = "Write USD with the points of each motion." },

    { "material", "bone", lmb_keyName, IN( lmbMaterial, bone ), .what = &lmbProjectBones,
      .unset = "everywhere", .says = "Where this bone has the largest weight." },
    { "material", "young", lmb_keyNumber, IN( lmbMaterial, young ), RANGE( 100.0, 1e9 ), .unit = "Pa",
      .says = "Young's modulus." },
    { "material", "poisson", lmb_keyNumber, IN( lmbMaterial, poisson ), RANGE( 0.0, 0.495 ),
      .says = "Poisson's ratio." },
    { "material", "density", lmb_keyNumber, IN( lmbMaterial, density ), RANGE( 1.0, 1e5 ), .unit = "kg/m^3",
      .says = "Density." },

    { "radius", "bone", lmb_keyName, IN( lmbBoneRadius, bone ), .what = &lmbProjectBones,
      .says = "The bone. Must be there." },
    { "radius", "radius", lmb_keyNumber, IN( lmbBoneRadius, radius ), RANGE( 0.0, 10.0 ), .unit = "m",
      .says = "Its radius; 0: it holds no tissue." },

    { "range", "bone", lmb_keyName, IN( lmbPoseRange, bone ), .what = &lmbProjectBones,
      .says = "The bone. Must be there." },
    { "range", "degrees", lmb_keyNumber, IN( lmbPoseRange, degrees ), RANGE( 0.0, 180.0 ), .unit = "degrees",
      .says = "Largest turn away from bind." },

    { "motion", "clip", lmb_keyName, IN( lmbProjectMotion, clip ), .what = &lmbProjectClips,
      .says = "The animation. Must be there." },
    { "motion", "name", lmb_keyText, IN( lmbProjectMotion, name ), .unset = "the clip's name",
      .says = "What the motion is called in results; names must differ." },
    { "motion", "start", lmb_keyNumber, IN( lmbProjectMotion, start ), RANGE( 0.0, 1e6 ), .unit = "s",
      .says = "Where it starts, from the clip's first key." },
    { "motion", "duration", lmb_keyNumber, IN( lmbProjectMotion, duration ), RANGE( 0.0, 1e6 ), .unit = "s",
      .says = "How long it is; 0: to the clip's last key." },
    { "motion", "key_rate", lmb_keyNumber, IN( lmbProjectMotion, keyRate ), RANGE( 0.0, 1000.0 ),
      .unit = "Hz", .unset = "`motions.key_rate`", .says = "As there." },
    { "motion", "cutoff", lmb_keyNumber, IN( lmbProjectMotion, cutoff ), RANGE( 0.0, 500.0 ), .unit = "Hz",
      .unset = "`motions.cutoff`", .says = "As there." },
    { "motion", "warp_in", lmb_keyNumber, IN( lmbProjectMotion, warpIn ), RANGE( 0.0, 5.0 ), .unit = "s",
      .unset = "`motions.warp_in`", .says = "As there." },
};

static void Defaults( void *out )
{
	lmbProject *project = out;
	project->tissue = lmbDefaultTissueDef();
	/* The list starts empty for the file to fill; lmbProject_TissueDef puts the default in front. */
	project->tissue.materials = NULL;
	project->tissue.materialCount = 0;
	project->motion = lmbDefaultMotionDef();
	project->simulate = lmbDefaultSimulateDef();
	project->modeCount = 64;
	project->train = lmbDefaultTrainDef();
	project->fit = lmbDefaultFitDef();
	project->softSkin = 0.5;
	project->sheet = true;
	project->bake = ( lmbProjectBake ){ .targets = 8, .layer = lmb_layerHybrid, .rate = 30.0, .glb = true };
}

const lmbProjectTable lmbFleshProjectTable = {
    .keys = keys,
    .keyCount = (int)( sizeof( keys ) / sizeof( keys[0] ) ),
    .sections = sections,
    .sectionCount = (int)( sizeof( sections ) / sizeof( sections[0] ) ),
    .records = records,
    .recordCount = (int)( sizeof( records ) / sizeof( records[0] ) ),
    .needed = "character",
    .missing = "it names a .glb or .gltf file (a limb's project has the section \"limb\" instead)",
    .example = "character: character.glb",
    .size = sizeof( lmbProject ),
    .defaults = Defaults,
    .title = "The project file",
    .introduction =
        "A YAML file with everything that `limber run` needs to know. Every key but `character` may be left "
        "out. Paths are relative to the file's own folder. A key that is not listed here, a value of "
        "another type or outside its range is an error that names line and column.\n\n"
        "Lengths are metres of the character's own size, after `unit`.\n\n"
        "This page is printed by `limber run --reference character`; `limber run --defaults` prints a "
        "project file with every key at its default. Limbs have a project file of their own "
        "([limb-project.md](limb-project.md)).",
};
