#include "cli/verbs.h"

/* The paragraph that all verbs on a project share. */
#define PROJECT_HELP                                                                                         \
	"PROJECT.yaml is described in docs/formats/project.md (characters) and limb-project.md (limbs);\n"       \
	"`limber run --defaults` prints one, `limber run --defaults limb` the other. A character (.glb, "        \
	".gltf)\n"                                                                                               \
	"in its place stands for a project with every key at its default. What earlier stages must give is\n"    \
	"made first; what is up to date is not made again, and a run that was stopped or killed goes on where\n" \
	"it was."

const lmbVerb lmbVerbs[] = {
    { "info", "FILE", 1, 1, "say what a character, a recording, a project or one of Limber's own files holds",
      "FILE is a character (.glb, .gltf), a recording of a limb (.csv, .tsv, .txt, .sto, .mot, .npy, .npz: "
      "rate,\n"
      "gaps, ranges and what is suspicious; docs/formats/recordings.md), a project file (.yaml), or a\n"
      ".safetensors file that Limber wrote.\n"
      "Nothing is written.",
      lmbVerb_Info },
    { "run", "PROJECT.yaml", 0, 1,
      "do the whole pipeline, from a character or a limb to a model and its report",
      PROJECT_HELP
      "\n\n"
      "With --instant the model comes from the tissue's vibration modes alone, without simulation,\n"
      "network and fit.",
      lmbVerb_Run },
    { "tissue", "PROJECT.yaml", 1, 1, "make the soft body: tissue.safetensors, and tissue.vtu for ParaView",
      PROJECT_HELP, lmbVerb_Tissue },
    { "simulate", "PROJECT.yaml", 1, 1, "simulate a character's poses and motions, or a limb's motions",
      PROJECT_HELP
      "\n\n"
      "With --shard I/N many processes, on one machine or many that share the folder, each make a share\n"
      "of the poses; a last `limber simulate` without it completes the data.",
      lmbVerb_Simulate },
    { "modes", "PROJECT.yaml", 1, 1, "find the tissue's vibration modes", PROJECT_HELP, lmbVerb_Modes },
    { "train", "PROJECT.yaml", 1, 1, "train the network from pose to shape at rest, or a limb's equations",
      PROJECT_HELP, lmbVerb_Train },
    { "fit", "PROJECT.yaml", 1, 1, "fit the springs and pack model.safetensors", PROJECT_HELP, lmbVerb_Fit },
    { "evaluate", "PROJECT.yaml", 1, 1,
      "judge models against the simulation: metrics.json, contact sheets, a page",
      PROJECT_HELP "\n\n"
                   "--report FILE writes one HTML file with plots and tables that opens in any browser, "
                   "without a server;\n"
                   "report/build makes what it needs (docs/guide/report.md). --svg and --png write the error "
                   "over time as\n"
                   "a figure; gnuplot draws it.",
      lmbVerb_Evaluate },
    { "bake", "PROJECT.yaml", 1, 1, "write motions with their dynamics as GLB, point caches and USD",
      PROJECT_HELP, lmbVerb_Bake },
    { "view", "PROJECT.yaml|MODEL.safetensors", 1, 1, "show a model live in the browser",
      "Serves a page on 127.0.0.1 that steps the model with the runtime itself, or with --html writes the\n"
      "page and all it needs to one file. Of a project it shows the model in its output folder, its motions\n"
      "and, where it is there, the simulation; a character's MODEL.safetensors takes its motions from\n"
      "--character. Of a limb it shows the motions of the project's tests beside the model, with torques by\n"
      "hand; a limb's MODEL.safetensors swings freely. docs/guide/view.md. Ctrl-C ends.",
      lmbVerb_View },
    { "predict", "MODEL.safetensors", 1, 1,
      "play a model of a limb: motion from torques, or torques from motion",
      "MODEL is a limb's model. --torques FILE has the inputs over time, as CSV (or any table that\n"
      "docs/formats/recordings.md names): a column \"time\" and one for each input by its name. The motion\n"
      "at those times goes to --out: time, the positions, the velocities (NAME_velocity), and how far from\n"
      "its training the model was (trust: below 1 within, growing beyond). The ending of --out says how:\n"
      ".sto and .mot for OpenSim (in radians), .npz for NumPy, .mat for MATLAB, else CSV.\n\n"
      "With --inverse FILE has positions (by name), velocities (NAME_velocity) and accelerations\n"
      "(NAME_acceleration), and what comes out are the torques that the motion takes, and their parts.",
      lmbVerb_Predict },
    { "export", "MODEL.safetensors", 1, 1, "write a limb's model as C or as ONNX",
      "--c DIR writes one .c and one .h in C99 that need no memory, no file and no library, for small\n"
      "devices: the same numbers as the runtime, bit for bit. --onnx FILE writes the accelerations alone,\n"
      "from positions, velocities and inputs, as a graph of fixed shape (batch of 1).",
      lmbVerb_Export },
    { "bench", "[NAME...]", 0, 16, "measure how fast the runtime is on this machine",
      "Each time stands beside what binds it here, memory or arithmetic, measured in the same run on one\n"
      "thread, and is of that thread's own time, the tenth quantile. NAME chooses among what --list names;\n"
      "without one all are run, which takes a minute or two. docs/formats/bench.md says what the numbers "
      "mean.",
      lmbVerb_Bench },
    { 0 },
};
