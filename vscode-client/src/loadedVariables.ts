// Variables by which a library, or code of Python, is loaded before any line of a program. Tools that set variables as one enters a folder, and a
// shell that started the editor there, have such from it: what they name in an opened folder is not loaded into what the extension starts.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

// as in workers/loaded_before.py of the server
const names =
  /^(?:LD_(?:LIBRARY_PATH|PRELOAD|AUDIT)|DYLD_\w*(?:PATH|LIBRARIES)|GCONV_PATH|LOCPATH|NLSPATH|PYTHON(?:HOME|PYCACHEPREFIX|USERBASE|PLATLIBDIR)|_PYTHON_(?:SYSCONFIGDATA_PATH|PROJECT_BASE)|OPENSSL_(?:CONF|CONF_INCLUDE|MODULES|ENGINES)|OMP_TOOL_LIBRARIES|(?:CUDA|NVTX)_INJECTION(?:32|64)_PATH|HSA_TOOLS_LIB)$/;
const importPath = "PYTHONPATH";
// the loader of libraries takes semicolons and, in lists of libraries, blanks, too; and it fills in `$LIB` and the like
const ofLoader = /^LD_/;
/** Where the server finds what was left out, as JSON: programs get it with their runs (bundled/tool/lsp_server.py). */
const givenVariable = "COMPILE_LENS_GIVEN";

type Variables = Readonly<Record<string, string | undefined>>;

/** What to set for a process that is to load nothing from `folders`, nor from where it is started. To all, an empty variable is none. */
export function loadedElsewhere(given: Variables, folders: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value && (names.test(name) || name === importPath)) {
      const entries = ofLoader.test(name) ? value.split(/[:;\s]/) : value.split(path.delimiter);
      const kept = entries.filter((entry) => isElsewhere(ofLoader.test(name) ? (entry.split("$", 1)[0] ?? "") : entry, folders));
      if (kept.length < entries.length) {
        found[name] = kept.join(path.delimiter);
      }
    }
  }
  return found;
}

/** The same for a process of ours, which passes on to programs what was left out. */
export function startVariables(given: Variables, folders: readonly string[]): Record<string, string> {
  const changed = loadedElsewhere(given, folders);
  const whole = Object.fromEntries(Object.keys(changed).map((name) => [name, given[name]]));
  return { ...changed, [givenVariable]: JSON.stringify(whole) };
}

/** Whether `place` is absolute, and in none of `folders`, by its name or where it leads. A folder around the user's home does not count. */
export function isElsewhere(place: string, folders: readonly string[]): boolean {
  if (!path.isAbsolute(place)) {
    return false;
  }
  const home = real(os.userInfo().homedir);
  const around = folders.flatMap((folder) => [path.resolve(folder), real(folder)]).filter((folder) => !isIn(home, folder));
  return ![path.resolve(place), real(place)].some((name) => around.some((folder) => isIn(name, folder)));
}

function isIn(place: string, folder: string): boolean {
  const way = path.relative(folder, place);
  return way === "" || !(way === ".." || way.startsWith(`..${path.sep}`) || path.isAbsolute(way));
}

/** Where a path leads; of what does not exist, where the part leads that does. */
function real(place: string): string {
  try {
    return fs.realpathSync(place);
  } catch {
    const around = path.dirname(place);
    return around === place ? place : path.join(real(around), path.basename(place));
  }
}
