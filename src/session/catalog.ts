/**
 * The catalog: which sessions there are, and which one the user means.
 * Part of `session/`; used by SessionManager, the session picker and the command line.
 */
import * as fs from "node:fs";
import { basename, join, resolve } from "node:path";
import { allSessionsDir, canonicalPath, examplesDir, sessionsDir } from "./locations.ts";
import { ambiguous, missing, notFound } from "./session-errors.ts";
import { headerOf, summarise } from "./session-summary.ts";
import type { SessionSummary } from "./session-summary.ts";

export interface SessionInfo extends SessionSummary {
  path: string;
  /** One of the sessions that come with bough. */
  isExample: boolean;
  /** The recorded working directory is gone. */
  cwdMissing: boolean;
}

/** For lists that show themselves while they grow. */
export interface ListOptions {
  /** Told of each session as soon as its file has been read. */
  found?(session: SessionInfo): void;
  /** Ends the reading early, with what has been read. */
  signal?: AbortSignal;
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
  const here = canonicalPath(cwd);
  const belongs = (session: SessionInfo): boolean => session.cwd === "" || canonicalPath(session.cwd) === here;
  return listFiles(sessionFilesIn(sessionDir), options, belongs);
}

/** The sessions of all working directories, the last used first. */
export async function listAllSessions(options: ListOptions = {}): Promise<SessionInfo[]> {
  return listFiles(everySessionFile(), options);
}

/** The sessions that come with bough. */
export async function listExamples(options: ListOptions = {}): Promise<SessionInfo[]> {
  return listFiles(sessionFilesIn(examplesDir()), options);
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

async function listFiles(
  paths: readonly string[],
  { found, signal }: ListOptions,
  belongs: (session: SessionInfo) => boolean = () => true,
): Promise<SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  const examples = examplesDir();
  const present = new Map<string, boolean>();
  for (const path of paths) {
    if (signal?.aborted) break;
    const summary = await summarise(path);
    const { cwd } = summary;
    if (cwd !== "" && !present.has(cwd)) present.set(cwd, fs.existsSync(cwd));
    const cwdMissing = cwd !== "" && present.get(cwd) === false;
    const session = { ...summary, path, isExample: path.startsWith(join(examples, "/")), cwdMissing };
    if (!belongs(session)) continue;
    sessions.push(session);
    found?.(session);
  }
  return sessions.sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? 1 : -1));
}

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

function everySessionFile(): string[] {
  const all = allSessionsDir();
  return entriesOf(all)
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => sessionFilesIn(join(all, entry.name)));
}

/** Regular files only: a link could lead anywhere. */
function sessionFilesIn(dir: string): string[] {
  return entriesOf(dir)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => join(dir, entry.name));
}

/** A folder that cannot be read holds nothing for us. */
function entriesOf(dir: string): fs.Dirent[] {
  try {
    return fs.readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}
