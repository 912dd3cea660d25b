/**
 * Stands between a program and node:fs: sees every call that changes files of one folder, and can make it fail, cut it
 * short or end the program in the middle of it. Needs no rights, unlike strace.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { sep } from "node:path";

export type DiskCallName = "open" | "write" | "fsync" | "fdatasync" | "rename" | "link" | "unlink" | "copy";

export interface DiskCall {
  name: DiskCallName;
  path: string;
  /** What a write was given. */
  bytes?: Uint8Array;
}

export interface DiskWatcher {
  /** Before the call. May throw in its place; a number lets only so many bytes of a write through. */
  before?(call: DiskCall): number | void;
  /** When it has succeeded. `written`: the bytes a write took. */
  after?(call: DiskCall, written: number): void;
}

/** An error as the kernel's. */
export const systemError = (code: string, call: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${call}`), { code, syscall: call });

const callsOf = ({
  openSync,
  writeSync,
  fdatasync,
  fsyncSync,
  renameSync,
  linkSync,
  unlinkSync,
  copyFileSync,
}: typeof fs): Pick<
  typeof fs,
  "openSync" | "writeSync" | "fdatasync" | "fsyncSync" | "renameSync" | "linkSync" | "unlinkSync" | "copyFileSync"
> => ({ openSync, writeSync, fdatasync, fsyncSync, renameSync, linkSync, unlinkSync, copyFileSync });

/** Watches files in `folder` from now on, in this process. Returns what ends it. */
export function watchCalls(folder: string, watcher: DiskWatcher): () => void {
  const original = callsOf(fs);
  const files = new Map<number, string>();
  const watched = (path: fs.PathLike): boolean => String(path) === folder || String(path).startsWith(folder + sep);
  const around = <T>(call: DiskCall, proceed: () => T): T => {
    if (!watched(call.path)) return proceed();
    watcher.before?.(call);
    const result = proceed();
    watcher.after?.(call, 0);
    return result;
  };
  const named = <A extends unknown[], R>(name: DiskCallName, call: (...args: A) => R) =>
    ((...args: A) =>
      around({ name, path: String(args[name === "unlink" ? 0 : 1]) }, () => call(...args))) as typeof call;

  const openSync = (path: fs.PathLike, flags: fs.OpenMode, mode?: fs.Mode): number => {
    const writes =
      typeof flags === "number" ? (flags & (fs.constants.O_RDWR | fs.constants.O_WRONLY)) !== 0 : flags !== "r";
    const open = (): number => original.openSync(path, flags, mode);
    const fd = writes ? around({ name: "open", path: String(path) }, open) : open();
    files.set(fd, String(path));
    return fd;
  };
  const writeSync = (fd: number, bytes: Uint8Array, offset = 0): number => {
    const path = files.get(fd);
    if (path === undefined || !watched(path)) return original.writeSync(fd, bytes, offset);
    const call: DiskCall = { name: "write", path, bytes: bytes.subarray(offset) };
    const limit = watcher.before?.(call);
    const written = original.writeSync(fd, bytes, offset, typeof limit === "number" ? limit : undefined);
    watcher.after?.(call, written);
    return written;
  };
  const fdatasync = (fd: number, done: fs.NoParamCallback): void => {
    const call: DiskCall = { name: "fdatasync", path: files.get(fd) ?? "" };
    if (!watched(call.path)) return original.fdatasync(fd, done);
    try {
      watcher.before?.(call);
    } catch (error) {
      setImmediate(() => done(error as NodeJS.ErrnoException));
      return;
    }
    original.fdatasync(fd, (error) => {
      if (error === null) watcher.after?.(call, 0);
      done(error);
    });
  };
  const fsync = (fd: number): void =>
    around({ name: "fsync", path: files.get(fd) ?? "" }, () => original.fsyncSync(fd));

  Object.assign(fs, {
    openSync,
    // Text goes to the original: it is never a session's.
    writeSync: (fd: number, data: Uint8Array | string, ...rest: number[]) =>
      typeof data === "string" ? original.writeSync(fd, data) : writeSync(fd, data, ...rest),
    fdatasync,
    fsyncSync: fsync,
    renameSync: named("rename", original.renameSync),
    linkSync: named("link", original.linkSync),
    unlinkSync: named("unlink", original.unlinkSync),
    copyFileSync: named("copy", original.copyFileSync),
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, original);
    syncBuiltinESMExports();
  };
}
