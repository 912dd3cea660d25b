/**
 * The catalog: which sessions there are, and which one the user means.
 * Part of `session/`; used by SessionManager, the session picker and the command line.
 */
import * as fs from "node:fs";
import { basename, join, resolve } from "node:path";
import { allSessionsDir, canonicalPath, examplesDir, sessionsDir } from "./locations.ts";
import { Listing, entriesOf, sessionFilesIn } from "./listing.ts";
import type { ListRow, SessionInfo } from "./listing.ts";
import { ambiguous, missing, notFound } from "./session-errors.ts";
import { headerOf } from "./session-summary.ts";

export type { SessionInfo } from "./listing.ts";

/** For lists that show themselves while they grow. */
export interface ListOptions {
  /** Told of each session as soon as it is known, and again when it is known completely. */
  found?(session: SessionInfo): void;
  /** Ends the reading early, with what has been read. */
  signal?: AbortSignal;
  /**
   * Whether to read whole files where their beginning and end do not tell everything (`isComplete`), the last used first,
   * after all have been found. Default false.
   */
  complete?: boolean;
}

/**
 * The sessions of a working directory, the last used first. In a folder shared by several directories only those that
 * were recorded in `cwd` count; files that are no sessions are listed wherever they lie.
 */
export async function listSessions(
  cwd: string,
  sessionDir: string = sessionsDir(cwd),
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  return list([sessionDir], options, recordedIn(cwd));
}

/** The sessions of all working directories, the last used first. */
export async function listAllSessions(options: ListOptions = {}): Promise<SessionInfo[]> {
  return list(sessionFolders(), options);
}

/** The copies of sessions that come with bough, made for a working directory. */
export async function listExamples(cwd: string, options: ListOptions = {}): Promise<SessionInfo[]> {
  return list([examplesDir()], options, recordedIn(cwd));
}

/** What continuing means. */
export interface Recent {
  /** Undefined when there is none. */
  path: string | undefined;
  /** A file that cannot be continued, though it was used after all that can. */
  passedOver: SessionInfo | undefined;
}

/**
 * The session of a working directory that was used last; subagents' do not count. The newest message may be anywhere in
 * a file, but it cannot be newer than the file: a file is read whole if it could hold a newer one than is known of it
 * and of all others.
 */
export async function recentSession(cwd: string, sessionDir: string): Promise<Recent> {
  const listing = new Listing([sessionDir]);
  try {
    const rows: ListRow[] = [];
    const belongs = recordedIn(cwd);
    for await (const some of listing.rows()) rows.push(...some.filter((row) => belongs(row.session)));
    const recent = await newestOf(listing, rows);
    const since = recent?.session.modified.getTime() ?? Number.NEGATIVE_INFINITY;
    // What cannot be read has no time but that of its file.
    const usedAt = ({ session, state }: ListRow): number =>
      session.kind === "newer" ? session.modified.getTime() : state.mtimeMs;
    const [passedOver] = rows
      .filter((row) => row.session.kind !== "ok" && !row.session.isSubagent && usedAt(row) > since)
      .sort((a, b) => usedAt(b) - usedAt(a));
    return { path: recent?.session.path, passedOver: passedOver?.session };
  } finally {
    listing.close();
  }
}

async function newestOf(listing: Listing, rows: readonly ListRow[]): Promise<ListRow | undefined> {
  const isGood = ({ session }: ListRow): boolean => session.kind === "ok" && !session.isSubagent;
  // The one that could be the newest comes last.
  const open = rows.filter(isGood).sort(earlierFirst);
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    const rival = open.at(-1);
    if (row.session.isComplete || rival === undefined || row.session.modified.getTime() > latest(rival)) return row;
    await listing.complete(row);
    if (!isGood(row)) continue;
    const later = open.findLastIndex((other) => earlierFirst(other, row as ListRow) < 0);
    open.splice(later + 1, 0, row);
  }
  return undefined;
}

/** The latest that the newest message of a file can be from. */
const latest = ({ session, state }: ListRow): number =>
  session.isComplete ? session.modified.getTime() : Math.max(session.modified.getTime(), state.mtimeMs);

const earlierFirst = (a: ListRow, b: ListRow): number =>
  latest(a) - latest(b) || (a.session.path < b.session.path ? -1 : 1);

/** Whether a session belongs to a working directory; files that are no sessions do wherever they lie. */
function recordedIn(cwd: string): (session: SessionInfo) => boolean {
  const here = canonicalPath(cwd);
  const known = new Map([["", true]]);
  return (session) => {
    let belongs = known.get(session.cwd);
    if (belongs === undefined) known.set(session.cwd, (belongs = canonicalPath(session.cwd) === here));
    return belongs;
  };
}

/**
 * The file of the session the user means: a path, or the beginning of an id or of a file's name, in any case; those
 * of `cwd` go before all others. Throws SessionFileError when there is none or more than one.
 */
export function findSession(asked: string, cwd: string): string {
  if (/[/\\]/.test(asked) || asked.endsWith(".jsonl")) {
    const path = resolve(cwd, asked);
    if (fs.existsSync(path)) return path;
    if (/[/\\]/.test(asked)) throw missing(path);
  }
  const here = sessionFilesIn(sessionsDir(cwd));
  const everywhere = [...everySessionFile(), ...sessionFilesIn(examplesDir())];
  for (const files of [here, everywhere]) {
    // A file that was given another name is still known by the id in it; that costs a look into each.
    const named = matching(files, asked, namesOfFile);
    const found = named.length > 0 ? named : matching(files, asked, (path) => [headerOf(path)?.id ?? ""]);
    if (found.length > 1) throw ambiguous(asked, found);
    if (found[0] !== undefined) return found[0];
  }
  throw notFound(asked);
}

/** Those with a name that is `asked`; if there are none, those with a name that begins so. */
function matching(paths: readonly string[], asked: string, namesOf: (path: string) => string[]): string[] {
  const wanted = asked.toLowerCase();
  if (wanted === "") return [];
  const named = paths.map((path) => ({ path, names: namesOf(path).map((name) => name.toLowerCase()) }));
  const exact = named.filter(({ names }) => names.includes(wanted));
  const found = exact.length > 0 ? exact : named.filter(({ names }) => names.some((name) => name.startsWith(wanted)));
  return found.map(({ path }) => path);
}

function namesOfFile(path: string): string[] {
  const name = basename(path, ".jsonl");
  return [basename(path), name, name.slice(name.indexOf("_") + 1)];
}

async function list(
  dirs: readonly string[],
  { found, signal, complete }: ListOptions,
  belongs: (session: SessionInfo) => boolean = () => true,
): Promise<SessionInfo[]> {
  const listing = new Listing(dirs);
  const rows: ListRow[] = [];
  try {
    if (signal?.aborted) return [];
    for await (const some of listing.rows()) {
      for (const row of some) {
        if (!belongs(row.session)) continue;
        rows.push(row);
        found?.(row.session);
      }
      if (signal?.aborted) break;
    }
    const incomplete = complete === true ? rows.filter(({ session }) => !session.isComplete) : [];
    for (const row of incomplete.sort((a, b) => newestFirst(a.session, b.session))) {
      if (signal?.aborted) break;
      await listing.complete(row);
      found?.(row.session);
    }
  } finally {
    listing.close();
  }
  return rows.map(({ session }) => session).sort(newestFirst);
}

const newestFirst = (a: SessionInfo, b: SessionInfo): number =>
  b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? 1 : -1);

/** Every session file in a folder and the folders in it, by path. Links are not followed. */
export function sessionFilesBelow(dir: string): string[] {
  const found: string[] = [];
  const open = [dir];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    found.push(...sessionFilesIn(folder));
    for (const entry of entriesOf(folder)) if (entry.isDirectory()) open.push(join(folder, entry.name));
  }
  return found.sort();
}

const everySessionFile = (): string[] => sessionFolders().flatMap(sessionFilesIn);

/** Those of all working directories. */
function sessionFolders(): string[] {
  const all = allSessionsDir();
  return entriesOf(all)
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(all, entry.name));
}
