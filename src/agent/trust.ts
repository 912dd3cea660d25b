/**
 * Whether the files with which a project can act on bough may be used: only those the user has seen and accepted.
 * Part of `agent/`; used by cli/ before anything in a project's `.bough/` is interpreted.
 *
 * All of `.bough/` counts, not a list of names: what acts from there may read any file beside it. Trust is a SHA-256
 * over every name and content, kept in `<state>/trust.json` under the real path of the project; one changed byte asks
 * again. What is used later are the very bytes that were hashed.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { canonicalPath } from "../session/locations.ts";
import { reasonOf, systemCode } from "../session/session-errors.ts";
import { entriesOf, readJsonFile, writeJsonFile } from "./json-file.ts";
import { counted, formatSize } from "./output-limits.ts";

/** Folder of a project with settings and, later, extensions, rules and servers. */
export const PROJECT_FOLDER = ".bough";

/** Beyond these a project's folder is not hashed, and so cannot be trusted. */
const MAX_FILES = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Files up to this size, directly in the folder or in a folder of it, are kept in memory as they were hashed. */
const MAX_KEPT_BYTES = 1024 * 1024;

export interface ProjectFile {
  /** Absolute. */
  path: string;
  text: string;
}

export interface ProjectTrust {
  /** The project has files that can act. */
  needed: boolean;
  /** They may be used. True as well when there is nothing to use. */
  trusted: boolean;
  /** Of all of them; undefined when there are none or they cannot be trusted at all. */
  digest: string | undefined;
  /** `.bough/` without links; undefined when there is nothing to use. */
  folder: string | undefined;
  /** Absolute paths, sorted, for the question to the user. */
  files: readonly string[];
  /** Why they cannot be trusted whatever the user says; one sentence. */
  problem: string | undefined;
  /** A file directly in `.bough/` as it was hashed; undefined unless trusted. */
  file(name: string): ProjectFile | undefined;
  /**
   * The content of one of `files`, by its absolute path without links. Throws one plain sentence when it is no longer
   * what was hashed, was not there then, or the project is not trusted.
   */
  read(path: string): Buffer;
  /** The files directly in a folder of `.bough/`, sorted by path, as they were hashed; none unless trusted. */
  filesIn(folder: string): ProjectFile[];
}

export interface TrustOptions {
  /** The state folder. */
  stateDir: string;
  /** The user's flag for this run: trusts without asking and without remembering. */
  trustThisRun?: boolean;
  /** Trusts exactly these files for this run. */
  trustedDigest?: string | undefined;
}

/** Looks at a project without using anything in it. Without a decision for exactly these files the answer is no. */
export function projectTrust(
  cwd: string,
  { stateDir, trustThisRun = false, trustedDigest }: TrustOptions,
): ProjectTrust {
  const project = canonicalPath(cwd);
  const folder = join(project, PROJECT_FOLDER);
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  // In the home folder the state folder itself has that name.
  if (found === undefined || canonicalPath(folder) === canonicalPath(stateDir)) return NOTHING_TO_TRUST;
  const survey = new FolderSurvey(folder);
  survey.run(found);
  if (survey.problem === undefined && survey.files.length === 0) return NOTHING_TO_TRUST;
  const digest = survey.problem === undefined ? survey.digest() : undefined;
  const known = (): boolean => digest === trustedDigest || digest === storedDigest(stateDir, project);
  const trusted = digest !== undefined && (trustThisRun || known());
  return {
    needed: true,
    trusted,
    digest,
    folder,
    files: survey.files,
    problem: survey.problem,
    read: (path) => {
      if (!trusted) throw new Error(`${path} is not used until the project is trusted.`);
      return survey.read(path);
    },
    file: (name) => (trusted && dirname(name) === "." ? survey.kept.get(name) : undefined),
    filesIn: (name) => (trusted ? survey.keptIn(name) : []),
  };
}

/** The same project with nothing of it to be used. */
export const withheld = (project: ProjectTrust): ProjectTrust => ({
  ...project,
  trusted: false,
  read: (path) => {
    throw new Error(`${path} is not used until the project is trusted.`);
  },
  file: () => undefined,
  filesIn: () => [],
});

const NOTHING_TO_TRUST: ProjectTrust = {
  needed: false,
  trusted: true,
  digest: undefined,
  folder: undefined,
  files: [],
  problem: undefined,
  read: (path) => {
    throw new Error(`${path} is no file of a trusted project.`);
  },
  file: () => undefined,
  filesIn: () => [],
};

/**
 * Remembers that the user trusts the project at `cwd` with exactly the files of `digest`, which `projectTrust` gave
 * and the user was asked about. Throws one plain sentence when that cannot be written.
 */
export function trustProject(cwd: string, digest: string, stateDir: string): void {
  const path = trustPath(stateDir);
  const file = readJsonFile(path);
  if (file.kind === "broken") throw new Error(`${file.problem} Trust was not saved; correct or delete the file.`);
  const entries = file.kind === "object" ? file.entries : new Map<string, unknown>();
  entries.set(canonicalPath(cwd), { digest, trustedAt: new Date().toISOString() });
  try {
    writeJsonFile(path, entries);
  } catch (error) {
    throw new Error(`Trust was not saved: ${path} cannot be written: ${reasonOf(error)}.`, { cause: error });
  }
}

const trustPath = (stateDir: string): string => join(stateDir, "trust.json");

/** A file that cannot be read trusts nobody. */
function storedDigest(stateDir: string, project: string): string | undefined {
  const file = readJsonFile(trustPath(stateDir));
  const entry = file.kind === "object" ? entriesOf(file.entries.get(project)) : undefined;
  const digest = entry?.get("digest");
  return typeof digest === "string" ? digest : undefined;
}

/** Hashes a folder. The first thing that cannot be hashed, or leads out of it, ends the survey with a problem. */
class FolderSurvey {
  readonly files: string[] = [];
  readonly kept = new Map<string, ProjectFile>();
  problem: string | undefined;
  readonly #folder: string;
  readonly #records: string[] = [];
  /** Of every file, for those that are too many to keep. */
  readonly #hashes = new Map<string, string>();
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  run(found: fs.Stats): void {
    if (!found.isDirectory()) return this.#refuse(this.#folder, "is not a folder; links to one are not followed");
    const pending = [this.#folder];
    while (pending.length > 0 && this.problem === undefined) pending.push(...this.#folderIn(pending.pop()!));
    this.files.sort();
  }

  read(path: string): Buffer {
    const hash = this.#hashes.get(path);
    const content = hash === undefined ? undefined : readIfThere(path);
    if (content === undefined || sha256(content) !== hash)
      throw new Error(`${path} is not as it was when the project was trusted; start bough again to be asked about it.`);
    return content;
  }

  keptIn(folder: string): ProjectFile[] {
    const inside = [...this.kept].filter(([name]) => dirname(name) === folder);
    return inside.map(([, file]) => file).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Order of reading has no say. */
  digest(): string {
    return createHash("sha256").update(this.#records.sort().join("")).digest("hex");
  }

  /** Takes in the files of one folder and returns the folders in it. */
  #folderIn(folder: string): string[] {
    const folders: string[] = [];
    let entries: fs.Dirent[] = [];
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      this.#refuse(folder, `cannot be read: ${reasonOf(error)}`);
    }
    for (const entry of entries) {
      if (this.problem !== undefined) break;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isSymbolicLink()) this.#link(path);
      else this.#file(path);
    }
    return folders;
  }

  /** A link within the folder is its text: what it leads to is hashed in its own place. */
  #link(path: string): void {
    const target = fs.readlinkSync(path);
    const inside = relative(this.#folder, canonicalPath(resolve(path, "..", target)));
    if (inside === ".." || inside.startsWith(`..${sep}`)) {
      return this.#refuse(path, "is a link that leads out of the folder");
    }
    this.#record("link", path, target);
  }

  #file(path: string): void {
    let fd: number | undefined;
    try {
      fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
      const stats = fs.fstatSync(fd);
      if (!stats.isFile()) return this.#refuse(path, "is not a regular file");
      this.#bytes += stats.size;
      if (this.#bytes > MAX_BYTES) return this.#refuse(this.#folder, `holds more than ${formatSize(MAX_BYTES)}`);
      this.#hash(path, fs.readFileSync(fd));
    } catch (error) {
      if (systemCode(error) === "") throw error;
      this.#refuse(path, `cannot be read: ${reasonOf(error)}`);
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }

  #hash(path: string, content: Buffer): void {
    const hash = sha256(content);
    this.#hashes.set(path, hash);
    this.#record("file", path, hash);
    const name = relative(this.#folder, path);
    if (name.split(sep).length > 2 || content.length > MAX_KEPT_BYTES) return;
    this.kept.set(name, { path, text: content.toString().replace(/^\ufeff/, "") });
  }

  #record(kind: "file" | "link", path: string, content: string): void {
    this.files.push(path);
    if (this.files.length > MAX_FILES)
      return this.#refuse(this.#folder, `holds more than ${counted(MAX_FILES, "file")}`);
    this.#records.push(`${JSON.stringify([kind, relative(this.#folder, path), content])}\n`);
  }

  #refuse(path: string, reason: string): void {
    this.problem ??= `${path} ${reason}, so nothing in ${this.#folder} is used.`;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
