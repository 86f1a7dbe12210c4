// Run a Python program in MicroPython's own interpreter, compiled to WebAssembly.
//
// The interpreter's stock command line always exits with 0. This one copies the given files into the
// in-memory file system, passes output through as it comes, copies result files back, and exits with the
// program's status: sys.exit(n) gives n, an uncaught exception 1.
//
//   node runner.mjs job.json
//   job: { module, files: [[place, host file]], script, outputs: [[place, host file]],
//          heap_bytes, pystack_bytes, cap }

import { readFileSync, readSync, writeFileSync } from "node:fs";
import { dirname } from "node:path/posix";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { loadMicroPython } = await import(pathToFileURL(job.module).href);

// The runtime reports every refused growth of a capped heap; the program's own MemoryError says it better.
const report = console.error.bind(console);
console.error = (text, ...rest) => {
  if (!(job.cap && /grow|memory/i.test(String(text)))) report(text, ...rest);
};

// Node's own stream would make the pipe one that does not wait; a program here has to.
const typed = Buffer.alloc(1);
const readByte = () => (readSync(0, typed, 0, 1, null) === 1 ? typed[0] : null);

const interpreter = await loadMicroPython({
  heapsize: job.heap_bytes,
  pystack: job.pystack_bytes,
  stdin: readByte,
  stdout: (data) => process.stdout.write(data),
  stderr: (data) => process.stderr.write(data),
  linebuffer: false,
});

const made = new Set(["/", "."]);
function makeFolder(folder) {
  if (made.has(folder)) return;
  makeFolder(dirname(folder));
  try {
    interpreter.FS.mkdir(folder);
  } catch {
    interpreter.FS.stat(folder); // it is there already, or this throws
  }
  made.add(folder);
}

for (const [place, source] of job.files) {
  makeFolder(dirname(place));
  interpreter.FS.writeFile(place, readFileSync(source));
}

// The heap grows by asking malloc for more, and malloc by growing the memory. With growth refused and the
// free rest of malloc's arena taken, what the interpreter got at the start is all there is.
function capHeap() {
  WebAssembly.Memory.prototype.grow = () => {
    throw new RangeError("the heap is capped");
  };
  const { _malloc: allocate, _free: release } = interpreter._module;
  // The text of the program and of an error message pass through malloc.
  const spare = allocate(job.script.length + 4096);
  for (let size = 1 << 26; size >= 4096; size >>= 1) {
    while (allocate(size) !== 0);
  }
  release(spare);
}

function statusOf(error) {
  if (error.name !== "PythonError") throw error;
  if (error.type !== "SystemExit") {
    process.stderr.write(error.message);
    return 1;
  }
  const value = error.message.trimEnd().split("\n").pop().replace(/^SystemExit:?\s*/, "");
  if (value === "" || value === "None") return 0;
  if (/^-?\d+$/.test(value)) return Number(value) & 0xff;
  process.stderr.write(value + "\n");
  return 1;
}

let status = 0;
try {
  if (job.cap) capHeap();
  interpreter.runPython(job.script);
} catch (error) {
  status = statusOf(error);
}
for (const [place, target] of job.outputs) {
  if (interpreter.FS.analyzePath(place).exists) writeFileSync(target, interpreter.FS.readFile(place));
}
// Assigning instead of calling exit lets buffered output drain into a pipe first.
process.exitCode = status;
