"""Why a row misses its goal, and what a profile said: by the row's name, for docs/performance.md."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "start": (
        "importing pygls and its types is most of it, and the same in both. Ours also parsed a command line (click, 20 ms), imported "
        "psutil (7 ms), and gave its features to pygls with options that are converted once only to see that they can be. None of the "
        "three comes before the answer any more: of 66 ms of a processor beside the empty server, on a busy machine, about 35 are "
        "left."
    ),
    "save": (
        "of 0.64 s for `clean_model.py`, Dynamo and the model took 0.36 s, 0.08 s of it in the kernel: a forked process copies each "
        "page that it writes to, here 24,000. To fork took 0.01 s; 0.02 s were over before the sandbox began, most of it while the "
        "kernel moved the process into its control groups; the sandbox took 0.03 s, two more forks above all, and the instruments "
        "0.013 s. To exit took 0.04 s, and to take down three copies of the standby 0.03 s. The pause of 0.1 s before each run, and "
        "the 0.04 s in which torch took its operators apart at the exit, are gone since then. `training_step.py` had become slower by "
        "three traces of AOTAutograd, which say whether a float recompiles for each value; arithmetic that is known to stay dynamic is "
        "no longer traced so. A process that is forked, and put into its groups, before it is needed would save a few hundredths of a "
        "second more; it was not tried. The rest is Dynamo's own time."
    ),
    "models": (
        "what is left is Dynamo's own work on the model: the packages of the last run are imported in a copy of the "
        "standby, which took 1.2 of 2.1 s from a save of BERT's script."
    ),
    "one-function": (
        "a save runs the whole file: an edited region may change what the others are given. A save right after an edit waited for the "
        "pause after which a long document is read; it is now read at once."
    ),
    "opening": (
        "before the run, a server and a standby start, and the standby imports torch and warms Dynamo: 3.3 s. The program then compiles "
        "what a plain run compiles, too."
    ),
    "gpu": (
        "where there is a GPU, the standby traces nothing before a run: Dynamo would make a context, and a process that has one cannot "
        "be forked. So each run imports and sets up what Dynamo uses. On the emulated device, the first run also tries whether the "
        "emulation works."
    ),
    "overhead": (
        "in turns with plain Python (0.35 s for the compilations, 0.52 s with the calls), a run without the sandbox took 0.38 and 0.56 s, "
        "and one in it 0.51 and 0.74 s. So three quarters of what is added come from the sandbox; which of its parts was not "
        "measured."
    ),
    "bisect": (
        "the search takes 20 steps, of which most compile the repro anew with Dynamo and Inductor: half a second to one second each, two "
        "at a time. With nothing in the cache, headers are precompiled first."
    ),
    "fixes": (
        "each fix is tried in a run of its own, which takes 0.4 to 0.5 s of a processor, most of it in Dynamo. "
        "The fix for most findings without one comes first, so that the only one of `training_step.py` needs "
        "one try. The last one of `transformer_block.py` needs three, and a run in eager: 1.6 s of a processor together, and "
        "2.3 while the threads of torch spun as they waited. Beside other work, it takes longer by the clock. "
        "Several fixes in one run were not tried: their effects on one region cannot be told apart. "
        "A fix that may fail after Dynamo takes a second run, in which Inductor lowers it: all fixes take longer."
    ),
    "idle": (
        "measured while it read torch in the background, which a server does once for each torch: a server that has "
        "done so sleeps."
    ),
    "edit": (
        "facts of 1,000 lines take 26 ms of a processor: nine queries 8, parsing 4, the rest are definitions, "
        "regions and candidates, which Python reads from the nodes of tree-sitter one by one. Up to 5,000 "
        "characters, they are read at once. A longer document is read in a thread or in another process after a "
        "pause, and what is known moves with the edits until then: callbacks took 1 to 2 ms of a processor "
        "beside other work, and 160 ms before. A callback that must wait for the interpreter's lock while the "
        "thread holds it takes up to 5 ms longer by the clock."
    ),
    "standby": (
        "a new standby imports torch and warms Dynamo. It is started when a file that imports torch is opened."
    ),
    "trace": (
        "at 12 MB, the start of Python and the import of its modules take half of the time; reading and finding take the rest. "
        "What is read and found are structs of msgspec in the place of data classes (65 ms), JSON is decoded by it, too, patterns and "
        "queries are compiled when they are used (20 ms), text is written without Rich (60 ms), and at the end Python does not look "
        "through all objects for cycles any more (35 ms). On this machine, which others share, the ratio of processor times of ten to "
        "fourteen openings was between 0.17 and 0.21 since then. Left are click (20 ms) and the 130 modules of the finders, all of which "
        "look at a trace. Of two ranks of 0.6 MB, a fifth of tlparse's time is less than Python takes to start."
    ),
    "memory": (
        "78 MB after the start, of which modules have most: 450 of ours and the protocol's types, beside 42 MB of "
        "the bare server, which loads the same protocol; tables of torch's names take 10 MB as JSON. It was 154 MB "
        "before syntax trees and what is read of them went with their documents."
    ),
}
