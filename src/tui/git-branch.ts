/**
 * The git branch of a folder, read from `.git/HEAD` without starting git.
 * Part of `tui/`; used by the footer.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Enough for any reference name; the rest of a file that only claims to be a HEAD is not read. */
const HEAD_BYTES = 1024;

/** Branch name, the first 7 characters of a detached commit, or undefined outside a repository. */
export function gitBranch(folder: string): string | undefined {
  const head = firstLine(headPath(folder));
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/(.+)$/s.exec(head)?.[1];
  return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 7) : undefined);
}

function headPath(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const git = join(at, ".git");
    const kind = statSync(git, { throwIfNoEntry: false });
    if (kind?.isDirectory()) return join(git, "HEAD");
    // A worktree or submodule: a file that names the real folder.
    if (kind?.isFile()) {
      const named = /^gitdir: (.+)$/.exec(firstLine(git) ?? "")?.[1];
      return named === undefined ? undefined : join(resolve(at, named), "HEAD");
    }
    if (dirname(at) === at) return undefined;
  }
}

function firstLine(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let file: number;
  try {
    // A fifo or device in its place must not block the screen.
    if (!statSync(path).isFile()) return undefined;
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    const length = readSync(file, bytes, 0, HEAD_BYTES, 0);
    return bytes.toString("utf8", 0, length).split("\n", 1)[0]?.trim();
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
