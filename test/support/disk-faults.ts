/**
 * The writes this process makes, counted and, on request, failing: what a full disk does, without one.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";

type Fault = { code: string; /** Bytes that still go through before the call fails. */ partly?: number };

export class Disk {
  /** What each call of writeSync was given, but for the small files that say who holds a lease. */
  readonly writes: string[] = [];
  /** Calls of fdatasync on files opened since: the sessions of other tests are synced in the background. */
  syncs = 0;
  /** What happens to the next writes; undefined: they go through. */
  writeFault: Fault | undefined;
  syncFault: Fault | undefined;
  /** What happens when a file is opened for writing. */
  openFault: Fault | undefined;

  write(original: typeof fs.writeSync, fd: number, bytes: Uint8Array, offset = 0): number {
    this.writes.push(Buffer.from(bytes.subarray(offset)).toString());
    const fault = this.writeFault;
    if (fault === undefined) return original(fd, bytes, offset);
    if (fault.partly === undefined || fault.partly === 0) throw failure(fault.code, "write");
    const count = original(fd, bytes, offset, fault.partly);
    this.writeFault = { code: fault.code };
    return count;
  }
}

/** Stands between the program and node:fs until the test is over. */
export function watchDisk(t: TestContext): Disk {
  const disk = new Disk();
  const opened = new Set<number>();
  const ofLeases = new Set<number>();
  const { writeSync: write, fdatasync, openSync: open } = fs;
  fs.openSync = ((path: fs.PathLike, flags: fs.OpenMode, mode?: fs.Mode) => {
    const writes =
      typeof flags === "number" ? (flags & (fs.constants.O_RDWR | fs.constants.O_WRONLY)) !== 0 : flags !== "r";
    const isOfLease = String(path).includes("/locks/");
    if (writes && disk.openFault !== undefined && !isOfLease) throw failure(disk.openFault.code, "open");
    const fd = open(path, flags, mode);
    opened.add(fd);
    if (isOfLease) ofLeases.add(fd);
    else ofLeases.delete(fd);
    return fd;
  }) as typeof open;
  fs.writeSync = ((fd: number, bytes: Uint8Array, offset?: number) =>
    ofLeases.has(fd) ? write(fd, bytes, offset) : disk.write(write, fd, bytes, offset)) as typeof write;
  fs.fdatasync = ((fd: number, done: fs.NoParamCallback) => {
    if (!opened.has(fd)) return fdatasync(fd, done);
    disk.syncs++;
    const fault = disk.syncFault;
    if (fault === undefined) fdatasync(fd, done);
    else setImmediate(() => done(failure(fault.code, "fdatasync")));
  }) as typeof fdatasync;
  syncBuiltinESMExports();
  t.after(() => {
    Object.assign(fs, { writeSync: write, fdatasync, openSync: open });
    syncBuiltinESMExports();
  });
  return disk;
}

function failure(code: string, call: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${call}`), { code, syscall: call });
}
