#include "limb/project.h"

#include <math.h>
#include <stddef.h>

_Static_assert( sizeof( lmbLimbSource ) == sizeof( int ) && sizeof( lmbPlantMotionKind ) == sizeof( int ) &&
                    sizeof( lmbLimbKind ) == sizeof( int ) && sizeof( lmbLimbMethod ) == sizeof( int ) &&
                    sizeof( lmbLimbChoice ) == sizeof( int ) && sizeof( lmbIntegrator ) == sizeof( int ),
                "choices are read and written as int" );

static const char *const sourceNames[] = { "arm", "mujoco", "recordings", NULL };
static const char *const motionNames[] = { "torques", "reaches", "swings", NULL };
static const char *const kindNames[] = { "lagrangian", "affine", "plain", "gru", "lstm", NULL };
static const char *const methodNames[] = { "auto", "regression", "shooting", NULL };
static const char *const choiceNames[] = { "auto", "true", "false", NULL };
static const char *const integratorNames[] = { "semi_implicit_euler", "rk4", "implicit_midpoint",
                                               "dormand_prince", NULL };
static const char *const holdNames[] = { "held", "linear", NULL };
static const char *const testNames[] = { "held_out",  "novel_velocity", "novel_posture", "pulse",
                                         "half_rate", "double_rate",    "noise",         NULL };

static const lmbProjectSection sections[] = {
    { "", "What holds for all stages." },
    { "limb", "What moves. The only section that must be there." },
    { "recordings",
      "Files of a limb that was measured, when `limb.plant` is recordings; the stage `simulate` "
      "reads them. docs/formats/recordings.md says what is guessed when a key is left out." },
    { "motions", "What the models learn from, sampled from a reference solution; the stage `simulate`." },
    { "train", "The models; the stage `train`." },
    { "evaluate", "What they are judged on, none of it seen in training; the stage `evaluate`." },
};

/* A number that the caller fills in when it is omitted. */
#define UNSET NAN

static const lmbLimbProjectMotion defaultMotion = { .kind = lmb_plantMotionTorques,
                                                    .count = 100,
                                                    .duration = UNSET,
                                                    .effort = 0.5,
                                                    .bandwidth = 2.0,
                                                    .speed = 60.0,
                                                    .noise = 0.1,
                                                    .centring = 3.0,
                                                    .feedback = 8.0 };
static const lmbLimbProjectModel defaultModel = { .kind = lmb_limbLagrangian,
                                                  .chainPrior = true,
                                                  .layers = -1,
                                                  .width = -1,
                                                  .adamEpochs = -1,
                                                  .lbfgsIterations = -1,
                                                  .stopShare = UNSET,
                                                  .window = UNSET,
                                                  .variants = true,
                                                  .seeds = 1 };

static const lmbProjectRecord records[] = {
    { "motion", sizeof( lmbLimbProjectMotion ), &defaultMotion, "kind",
      "Entries of `motions.train`. A kind alone stands for an entry with that `kind`." },
    { "model", sizeof( lmbLimbProjectModel ), &defaultModel, "kind",
      "Entries of `train.models`. A kind alone stands for an entry with that `kind`." },
};

static const lmbLimbProjectMotion defaultMotions[] = {
    { lmb_plantMotionTorques, 120, UNSET, 0.5, 2.0, 60.0, 0.1, 3.0, 8.0 },
    { lmb_plantMotionReaches, 60, UNSET, 0.5, 2.0, 0.0, 0.1, 3.0, 8.0 },
    { lmb_plantMotionSwings, 20, UNSET, 0.5, 2.0, 120.0, 0.1, 3.0, 8.0 },
};
static const int defaultTests[] = { lmb_limbTestHeldOut, lmb_limbTestNovelVelocity, lmb_limbTestNovelPosture,
                                    lmb_limbTestPulse,   lmb_limbTestHalfRate,      lmb_limbTestDoubleRate };

#define AT( field ) .offset = offsetof( lmbLimbProject, field )
#define COUNT_AT( field ) .countOffset = offsetof( lmbLimbProject, field )
#define IN( record, field ) .offset = offsetof( record, field )
#define RANGE( low, high ) .minimum = ( low ), .maximum = ( high )
#define KINDS_OWN "the kind's own"
#define GUESSED "guessed from the names"

static const lmbProjectKey keys[] = {
    { "", "name", lmb_keyText, AT( name ), .unset = "the file's name, or its folder's for project.yaml",
      .says = "What the results are called: the default output folder is `out/NAME`." },
    { "", "seed", lmb_keyCount, AT( seed ), RANGE( 0.0, 2147483647.0 ),
      .says = "Start of all random numbers. The same seed and settings give the same files. `--seed` wins." },

    { "limb", "plant", lmb_keyChoice, AT( source ), .choices = sourceNames,
      .says = "A planar two-segment arm in closed form, a MuJoCo model, or recordings of a limb whose "
              "equations nobody knows." },
    { "limb", "model", lmb_keyPath, AT( mujoco ), .unset = "none",
      .says = "The MuJoCo model (MJCF) when `plant` is mujoco: hinges and slides, driven by its actuators." },
    { "limb", "body_mass", lmb_keyNumber, AT( arm.bodyMass ), RANGE( 2.0, 500.0 ), .unit = "kg",
      .says = "Of the arm's owner; segments follow from it by de Leva's table." },
    { "limb", "body_height", lmb_keyNumber, AT( arm.bodyHeight ), RANGE( 0.4, 3.0 ), .unit = "m",
      .says = "Of the arm's owner." },
    { "limb", "female", lmb_keyFlag, AT( arm.female ), .says = "Which of de Leva's tables." },
    { "limb", "viscosity", lmb_keyVector, AT( arm.viscosity ), .length = 2, RANGE( 0.0, 1000.0 ),
      .unit = "N m s/rad", .says = "Of shoulder and elbow." },
    { "limb", "friction", lmb_keyVector, AT( arm.friction ), .length = 2, RANGE( 0.0, 1000.0 ), .unit = "N m",
      .says = "Dry friction of shoulder and elbow." },
    { "limb", "gravity", lmb_keyNumber, AT( arm.gravity ), RANGE( 0.0, 100.0 ), .unit = "m/s^2",
      .says = "Along -y; 0: the arm moves in a horizontal plane." },
    { "limb", "shoulder_limits", lmb_keyVector, AT( shoulderLimits ), .length = 2, RANGE( -720.0, 720.0 ),
      .unit = "degrees", .says = "Where a torque begins to push back." },
    { "limb", "elbow_limits", lmb_keyVector, AT( elbowLimits ), .length = 2, RANGE( -720.0, 720.0 ),
      .unit = "degrees", .says = "The same for the elbow." },
    { "limb", "limit_stiffness", lmb_keyNumber, AT( arm.limitStiffness ), RANGE( 0.0, 1e6 ),
      .unit = "N m/rad^2", .says = "Torque of a limit by the square of the depth; 0: there are no limits." },
    { "limb", "limit_damping", lmb_keyNumber, AT( arm.limitDamping ), RANGE( 0.0, 1e6 ),
      .unit = "N m s/rad^2", .says = "Damping inside a limit, by depth." },
    { "limb", "muscles", lmb_keyFlag, AT( arm.muscles ),
      .says = "Six muscles drive the arm in place of torques; inputs are activations." },

    { "recordings", "files", lmb_keyPaths, AT( files ), COUNT_AT( fileCount ),
      .says = "CSV, .sto, .mot, .npy or .npz." },
    { "recordings", "held_out", lmb_keyTexts, AT( heldOut ), COUNT_AT( heldOutCount ),
      .says = "Recordings that only judge, by the names of their files without ending; `*` stands for any "
              "letters, `?` for one." },
    { "recordings", "time", lmb_keyText, AT( recording.time ), .unset = GUESSED,
      .says = "Column of the time." },
    { "recordings", "positions", lmb_keyText, AT( recording.positions ), .unset = GUESSED,
      .says = "Columns of the angles, separated by commas; `*` stands for any letters, `#3` for the third." },
    { "recordings", "velocities", lmb_keyText, AT( recording.velocities ), .unset = GUESSED,
      .says = "Columns of the speeds; \"\": none." },
    { "recordings", "accelerations", lmb_keyText, AT( recording.accelerations ), .unset = GUESSED,
      .says = "Columns of the accelerations; \"\": none." },
    { "recordings", "inputs", lmb_keyText, AT( recording.inputs ), .unset = GUESSED,
      .says = "Columns of the torques, forces or activations; \"\": none." },
    { "recordings", "degrees", lmb_keyText, AT( recording.degrees ), .unset = GUESSED,
      .says = "Columns in degrees." },
    { "recordings", "radians", lmb_keyText, AT( recording.radians ), .unset = GUESSED,
      .says = "Columns in radians." },
    { "recordings", "slides", lmb_keyText, AT( recording.slides ), .unset = "none",
      .says = "Positions that are metres." },
    { "recordings", "time_unit", lmb_keyNumber, AT( recording.timeUnit ), RANGE( 0.0, 1e6 ), .unit = "s",
      .says = "One unit of the time column; 0: as the file says." },
    { "recordings", "rate", lmb_keyNumber, AT( recording.rate ), RANGE( 0.0, 1e6 ), .unit = "Hz",
      .says = "Resample to this; 0: the recording's own." },
    { "recordings", "longest_gap", lmb_keyNumber, AT( recording.longestGap ), RANGE( 0.0, 1e6 ), .unit = "s",
      .says = "Longer gaps split a recording; 0: five steps." },
    { "recordings", "unwrap", lmb_keyFlag, AT( recording.unwrap ),
      .says = "Angles that jump by more than half a turn go on instead." },
    { "recordings", "absolute", lmb_keyFlag, AT( recording.absolute ),
      .says = "Turn angles against the world into angles against the segment before." },
    { "recordings", "hold", lmb_keyChoice, AT( recording.hold ), .choices = holdNames,
      .says = "What inputs do between samples." },

    { "motions", "rate", lmb_keyNumber, AT( rate ), RANGE( 1.0, 10000.0 ), .unit = "Hz",
      .says = "Samples per second; an input holds from one sample to the next." },
    { "motions", "duration", lmb_keyNumber, AT( duration ), RANGE( 0.05, 3600.0 ), .unit = "s",
      .says = "Length of each motion." },
    { "motions", "start_range", lmb_keyNumber, AT( startRange ), RANGE( 0.0, 1.0 ),
      .says = "Share of the plant's range of starting positions, about its middle, that training uses." },
    { "motions", "noise", lmb_keyNumber, AT( noise ), RANGE( 0.0, 45.0 ), .unit = "degrees",
      .says = "Noise on the angles that training sees; speeds and accelerations are then not measured." },
    { "motions", "input_noise", lmb_keyNumber, AT( inputNoise ), RANGE( 0.0, 10.0 ),
      .says = "Noise on the inputs that training sees, normal and new at each sample, as a share of half the "
              "input's range." },
    { "motions", "train", lmb_keyRecords, AT( motions ), COUNT_AT( motionCount ), .record = "motion",
      .says = "What is drawn." },

    { "train", "models", lmb_keyRecords, AT( models ), COUNT_AT( modelCount ), .record = "model",
      .says = "Models to train; the first is the one to use, `model.safetensors`." },
    { "train", "trust", lmb_keyFlag, AT( trust ),
      .says = "Models carry a score of how far they are from what they learned from." },

    { "evaluate", "tests", lmb_keyChoices, AT( tests ), COUNT_AT( testCount ), .choices = testNames,
      .says = "Tests to run. `noise` trains the models that have `variants` once more, on noisy angles." },
    { "evaluate", "motions", lmb_keyCount, AT( testMotions ), RANGE( 1.0, 10000.0 ),
      .says = "Motions in each test but `pulse`." },
    { "evaluate", "pairs", lmb_keyCount, AT( pairs ), RANGE( 1.0, 90.0 ),
      .says = "Reaches of the test `pulse`, each without and with a pulse: 90 are all between ten targets, "
              "fewer are spread over them." },
    { "evaluate", "duration", lmb_keyNumber, AT( testDuration ), RANGE( 0.05, 3600.0 ), .unit = "s",
      .says = "Length of each of them." },
    { "evaluate", "integrator", lmb_keyChoice, AT( integrator ), .choices = integratorNames,
      .says = "For the models; the true equations always go by RK4." },
    { "evaluate", "step", lmb_keyNumber, AT( step ), RANGE( 1e-6, 1.0 ), .unit = "s",
      .says = "Longest step of the integrator." },
    { "evaluate", "noise", lmb_keyNumber, AT( testNoise ), RANGE( 0.0, 45.0 ), .unit = "degrees",
      .says = "Noise on measured angles in the test `noise`." },
    { "evaluate", "novel_velocity", lmb_keyVector, AT( novelVelocity ), .length = 2, RANGE( 0.0, 10000.0 ),
      .unit = "degrees/s", .says = "Starting speeds of the novel tests, from and to, of either sign." },
    { "evaluate", "novel_posture", lmb_keyVector, AT( novelPosture ), .length = 2, RANGE( 0.0, 100.0 ),
      .says =
          "Starting positions of `novel_posture`, from and to, as shares of half the plant's range from its "
          "middle; training starts within `motions.start_range`." },
    { "evaluate", "pulse", lmb_keyNumber, AT( pulse ), RANGE( 0.0, 100.0 ),
      .says = "Height of a pulse, as a share of the input's range." },
    { "evaluate", "fit_start", lmb_keyNumber, AT( fitStart ), RANGE( 0.0, 60.0 ), .unit = "s",
      .says =
          "Start each roll-out where it comes nearest to the measured angles of so much of the motion, for "
          "every model and row of reference alike; 0: in the recorded first state." },
    { "evaluate", "two_segments", lmb_keyFlag, AT( twoSegments ),
      .says = "Recordings of two hinges: a row of reference, `known_terms`, of two rigid segments in a plane "
              "with gravity, viscous and dry friction, whose numbers are found from the recordings that "
              "train." },
    { "evaluate", "pulse_time", lmb_keyNumber, AT( pulseTime ), RANGE( 0.001, 60.0 ), .unit = "s",
      .says = "Length of a pulse." },
    { "evaluate", "samples", lmb_keyNumbers, AT( sampleCounts ), COUNT_AT( sampleCountCount ),
      RANGE( 10.0, 1e9 ),
      .says = "Train models that have `variants` also on so many samples, and judge them on `held_out`." },

    { "motion", "kind", lmb_keyChoice, IN( lmbLimbProjectMotion, kind ), .choices = motionNames,
      .says = "Smooth random inputs; reaches between random postures; free swings." },
    { "motion", "count", lmb_keyCount, IN( lmbLimbProjectMotion, count ), RANGE( 1.0, 100000.0 ),
      .says = "How many." },
    { "motion", "duration", lmb_keyNumber, IN( lmbLimbProjectMotion, duration ), RANGE( 0.05, 3600.0 ),
      .unit = "s", .unset = "`motions.duration`", .says = "As there." },
    { "motion", "effort", lmb_keyNumber, IN( lmbLimbProjectMotion, effort ), RANGE( 0.0, 10.0 ),
      .says = "Share of the inputs' range that random inputs use." },
    { "motion", "bandwidth", lmb_keyNumber, IN( lmbLimbProjectMotion, bandwidth ), RANGE( 0.01, 1000.0 ),
      .unit = "Hz", .says = "Of random inputs." },
    { "motion", "speed", lmb_keyNumber, IN( lmbLimbProjectMotion, speed ), RANGE( 0.0, 10000.0 ),
      .unit = "degrees/s", .says = "Starting speeds lie between minus and plus this." },
    { "motion", "noise", lmb_keyNumber, IN( lmbLimbProjectMotion, noise ), RANGE( 0.0, 10.0 ),
      .says = "Random part of a reach's inputs, as a share of the inputs' range." },
    { "motion", "centring", lmb_keyNumber, IN( lmbLimbProjectMotion, centring ), RANGE( 0.0, 10000.0 ),
      .unit = "rad/s",
      .says = "How firmly random inputs pull a joint back that has left the plant's range of starts: as a "
              "critically damped spring of this frequency; 0: not at all." },
    { "motion", "feedback", lmb_keyNumber, IN( lmbLimbProjectMotion, feedback ), RANGE( 0.0, 10000.0 ),
      .unit = "rad/s", .says = "How firmly a reach follows its plan." },

    { "model", "kind", lmb_keyChoice, IN( lmbLimbProjectModel, kind ), .choices = kindNames,
      .says = "Equations of motion with the structure of mechanics; affine in the inputs; one plain network; "
              "or, without equations, one recurrent network from inputs to states." },
    { "model", "name", lmb_keyText, IN( lmbLimbProjectModel, name ),
      .unset = "`ape_lagrangian`, `ape_affine`, `ape_plain`, `gru`, `lstm`",
      .says = "What it is called in results; names must differ." },
    { "model", "layers", lmb_keyCount, IN( lmbLimbProjectModel, layers ), RANGE( 1.0, 7.0 ),
      .unset = KINDS_OWN, .says = "Hidden layers of each network; of recurrent models, layers." },
    { "model", "width", lmb_keyCount, IN( lmbLimbProjectModel, width ), RANGE( 1.0, 256.0 ),
      .unset = KINDS_OWN, .says = "Width of the hidden layers; of recurrent models, units." },
    { "model", "method", lmb_keyChoice, IN( lmbLimbProjectModel, method ), .choices = methodNames,
      .says = "Regression on accelerations, or shooting through the integrator." },
    { "model", "adam_epochs", lmb_keyCount, IN( lmbLimbProjectModel, adamEpochs ), RANGE( 0.0, 1e6 ),
      .unset = KINDS_OWN, .says = "Times that Adam goes through the data." },
    { "model", "lbfgs_iterations", lmb_keyCount, IN( lmbLimbProjectModel, lbfgsIterations ),
      RANGE( 0.0, 1e6 ), .unset = KINDS_OWN, .says = "Iterations of L-BFGS after them." },
    { "model", "stop_share", lmb_keyNumber, IN( lmbLimbProjectModel, stopShare ), RANGE( 0.001, 0.5 ),
      .unset = KINDS_OWN, .says = "Share of the training motions that do not train but stop the training." },
    { "model", "window", lmb_keyNumber, IN( lmbLimbProjectModel, window ), RANGE( 0.001, 60.0 ), .unit = "s",
      .unset = KINDS_OWN, .says = "Length of the stretches that shooting integrates." },
    { "model", "potential", lmb_keyChoice, IN( lmbLimbProjectModel, potential ), .choices = choiceNames,
      .says = "Lagrangian: gravity and springs. auto: unless the plant has none." },
    { "model", "friction", lmb_keyChoice, IN( lmbLimbProjectModel, frictionNetwork ), .choices = choiceNames,
      .says = "Lagrangian: damping that depends on posture and speed. auto: unless the plant has none." },
    { "model", "drive", lmb_keyChoice, IN( lmbLimbProjectModel, driveNetwork ), .choices = choiceNames,
      .says =
          "Lagrangian: learned moment arms. auto: where inputs are not joint torques, one for each joint." },
    { "model", "invariance", lmb_keyChoice, IN( lmbLimbProjectModel, invariance ), .choices = choiceNames,
      .says = "Nothing depends on the first angle. auto: the plant says it; for recordings, tried; never for "
              "plain." },
    { "model", "absolute_angles", lmb_keyFlag, IN( lmbLimbProjectModel, absoluteAngles ),
      .says = "Angles are against the world, not against the segment before." },
    { "model", "chain_prior", lmb_keyFlag, IN( lmbLimbProjectModel, chainPrior ),
      .says =
          "Lagrangian: inertia of rigid segments on hinges in postures that no motion reached, if the data "
          "agree with such a chain where they are." },
    { "model", "torque_noise", lmb_keyChoice, IN( lmbLimbProjectModel, torqueNoise ), .choices = choiceNames,
      .says = "Lagrangian: noise is in the measured inputs rather than in the accelerations, so what is made "
              "small is the error of torques. auto: when `motions.input_noise` is above 0." },
    { "model", "variants", lmb_keyFlag, IN( lmbLimbProjectModel, variants ),
      .says = "Train it also for the test `noise` and for `samples`." },
    { "model", "seeds", lmb_keyCount, IN( lmbLimbProjectModel, seeds ), RANGE( 1.0, 100.0 ),
      .says = "Train it so many times from different beginnings." },
    { "model", "best", lmb_keyChoice, IN( lmbLimbProjectModel, best ), .choices = choiceNames,
      .says = "Which of several seeds is reported: true, the one with the least error on the motions that "
              "stopped the training; false, the median of each number. auto: the best of recurrent ones." },
};

static void Defaults( void *out )
{
	lmbLimbProject *project = out;
	project->arm = lmbDefaultArmDef();
	project->shoulderLimits[0] = -90.0;
	project->shoulderLimits[1] = 150.0;
	project->elbowLimits[0] = 0.0;
	project->elbowLimits[1] = 145.0;
	project->recording = lmbDefaultRecordingDef();
	project->rate = 100.0;
	project->duration = 5.0;
	project->startRange = 0.6;
	project->motions = defaultMotions;
	project->motionCount = (int)( sizeof( defaultMotions ) / sizeof( defaultMotions[0] ) );
	project->models = &defaultModel;
	project->modelCount = 1;
	project->trust = true;
	project->tests = defaultTests;
	project->testCount = (int)( sizeof( defaultTests ) / sizeof( defaultTests[0] ) );
	project->testMotions = 40;
	project->pairs = 90;
	project->testDuration = 10.0;
	project->integrator = lmb_integratorRk4;
	project->step = 0.005;
	project->testNoise = 0.5;
	project->novelVelocity[0] = 150.0;
	project->novelVelocity[1] = 300.0;
	project->novelPosture[0] = 1.0;
	project->novelPosture[1] = 1.4;
	project->pulse = 1.0;
	project->pulseTime = 0.1;
}

const lmbProjectTable lmbLimbProjectTable = {
    .keys = keys,
    .keyCount = (int)( sizeof( keys ) / sizeof( keys[0] ) ),
    .sections = sections,
    .sectionCount = (int)( sizeof( sections ) / sizeof( sections[0] ) ),
    .records = records,
    .recordCount = (int)( sizeof( records ) / sizeof( records[0] ) ),
    .needed = "limb",
    .missing = "it says what moves, e.g. \"limb: { plant: arm }\"",
    .example = "limb: { plant: arm }",
    .size = sizeof( lmbLimbProject ),
    .defaults = Defaults,
    .title = "The project file of a limb",
    .introduction =
        "A YAML file with everything that `limber run` needs to know about a limb; the section `limb` tells "
        "it from the project of a character ([project.md](project.md)). Everything but that section may be "
        "left out. Paths are relative to the file's own folder. A key that is not listed here, a value of "
        "another type or outside its range is an error that names line and column.\n\n"
        "This page is printed by `limber run --reference limb`; `limber run --defaults limb` prints a "
        "project file with every key at its default.",
};

const char *lmbLimbTest_Name( lmbLimbTestKind test )
{
	return testNames[test];
}
