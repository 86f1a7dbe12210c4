// A board without a board: MicroPython's WebAssembly build at its own prompt, bytes on standard input and output.
//
// The interpreter, its prompt (raw mode too) and its file system are the real ones. What a board's main loop does
// around them is done here: a soft reset starts a fresh interpreter, and files survive it.
//
//   node repl_board.mjs micropython.mjs [folder to start from]

import { readFileSync, readSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { loadMicroPython } = await import(pathToFileURL(process.argv[2]).href);
const one = Buffer.alloc(1);
const readByte = () => (readSync(0, one, 0, 1, null) === 1 ? one[0] : null);
const SYSTEM = new Set(["dev", "proc", "tmp", "home"]);

function walk(fs, folder, found) {
  for (const name of fs.readdir(folder)) {
    if (name === "." || name === ".." || (folder === "/" && SYSTEM.has(name))) continue;
    const place = folder === "/" ? `/${name}` : `${folder}/${name}`;
    if (fs.isDir(fs.stat(place).mode)) {
      found.push([place, null]);
      walk(fs, place, found);
    } else {
      found.push([place, fs.readFile(place)]);
    }
  }
  return found;
}

async function boot(files) {
  const board = await loadMicroPython({
    heapsize: 1 << 20,
    stdin: readByte,
    stdout: (data) => writeSync(1, data),
    stderr: (data) => writeSync(1, data),
    linebuffer: false,
  });
  for (const [place, content] of files) {
    if (content === null) board.FS.mkdir(place);
    else board.FS.writeFile(place, content);
  }
  board.replInit();
  return board;
}

const FORCED_EXIT = 0x100;
const RAW = 1, FRIENDLY = 2, PASTE = 5;
let board = await boot([["/main.txt", Buffer.from("the user's own file")]]);
let raw = false;
for (;;) {
  const byte = readByte();
  if (byte === null) break;
  if (raw && byte === PASTE) {
    // "Raw paste" reads in a way that this build does not have; a board without it answers like this.
    readByte();
    readByte();
    writeSync(1, "R\x00");
    continue;
  }
  const ended = board.replProcessChar(byte);
  if (byte === RAW) raw = true;
  if (byte === FRIENDLY) raw = false;
  if (ended & FORCED_EXIT) {
    writeSync(1, "MPY: soft reboot\r\n");
    board = await boot(walk(board.FS, "/", []));
    if (raw) board.replProcessChar(RAW);
  }
}
