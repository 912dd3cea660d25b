/**
 * A program for tests: repairs the file it is given and is killed before its n-th call that changes anything on disk;
 * a write is then half done. Ends normally when there are fewer calls.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [, , path, step] = process.argv;
let callsLeft = Number(step);
const CHANGING = [
  "fchmodSync",
  "chmodSync",
  "writeSync",
  "fsyncSync",
  "linkSync",
  "renameSync",
  "unlinkSync",
  "rmSync",
] as const;
const originals = { ...fs };

const die = (): void => void process.kill(process.pid, "SIGKILL");

for (const name of CHANGING)
  Object.assign(fs, {
    [name]: (...args: unknown[]): unknown => {
      if (callsLeft-- === 0) {
        const [fd, bytes] = args;
        if (name === "writeSync") originals.writeSync(fd as number, (bytes as Uint8Array).subarray(0, 100));
        die();
      }
      return (originals[name] as (...args: unknown[]) => unknown)(...args);
    },
  });
fs.openSync = (file, flags, mode) => {
  if ((flags === "wx" || flags === "r+") && callsLeft-- === 0) die();
  return originals.openSync(file, flags, mode);
};
syncBuiltinESMExports();

const { repairSession } = await import("../../src/session/repair.ts");
repairSession(path!);
