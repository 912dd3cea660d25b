/**
 * Where extensions are found. Part of `extensions/`; cli/ asks it at the start and at each reload.
 *
 * In this order: `.bough/extensions` of a trusted project, `extensions` of the state folder, what the settings name,
 * packages the settings name, what `-e` names. In a folder count the files directly in it, and the folders directly in
 * it that have a manifest or an index file.
 */
import * as fs from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { entriesOf } from "../agent/json-file.ts";
import type { ProjectTrust } from "../agent/trust.ts";
import { canonicalPath } from "../session/locations.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { ExtensionFactory, SourceInfo } from "./api.ts";
import * as notices from "./extension-notices.ts";

/** The file of one extension. */
export interface ExtensionPlace {
  /** Absolute, without links. */
  path: string;
  source: SourceInfo;
  /** Instead of a file, from a program that embeds bough. */
  factory?: ExtensionFactory;
}

export interface PlacesOptions {
  cwd: string;
  stateDir: string;
  project: ProjectTrust;
  /** The settings of these names. */
  extensions?: readonly string[];
  packages?: readonly string[];
  /** What `-e` names, relative to `cwd`. */
  paths?: readonly string[];
  /** `--no-extensions`: only `paths` count. */
  onlyPaths?: boolean;
}

export interface FoundPlaces {
  places: ExtensionPlace[];
  /** What was named and is not there; one plain sentence each. */
  problems: string[];
}

/** Each file counts once, where it is found first. Nothing of them is run. */
export function findExtensions(options: PlacesOptions): FoundPlaces {
  const { cwd, stateDir, project, extensions = [], packages = [], paths = [], onlyPaths = false } = options;
  const search = new Search();
  if (!onlyPaths) {
    if (project.trusted && project.folder !== undefined)
      search.folder(join(project.folder, "extensions"), origin("project", "project"), trustedFiles(project));
    search.folder(join(stateDir, "extensions"), origin("user", "user"));
    for (const source of extensions) search.named(resolve(stateDir, fromHome(source)), origin(source, "user"));
    for (const source of packages)
      search.package(packageFolder(source, stateDir), { ...origin(source, "user"), origin: "package" });
  }
  for (const source of paths) search.named(resolve(cwd, fromHome(source)), origin(source, "temporary"));
  return { places: [...search.found.values()], problems: search.problems };
}

const origin = (source: string, scope: SourceInfo["scope"]): Origin => ({ source, scope, origin: "top-level" });
type Origin = Omit<SourceInfo, "path">;

/** What is asked of a file system. */
interface Files {
  kind(path: string): "file" | "folder" | undefined;
  names(folder: string): string[];
  read(path: string): string;
}

const EXTENSION_FILE = /(?<!\.d)\.(?:[cm]?ts|[cm]?js)$/;
const INDEX_FILES = ["index.ts", "index.js", "index.mts", "index.mjs"];
/** Whose lists of extensions in a package.json are taken; the first that is there. */
const MANIFEST_KEYS = ["bough", "pi", "omp"];
const MANIFEST = "package.json";

class Search {
  readonly found = new Map<string, ExtensionPlace>();
  readonly problems: string[] = [];

  /** A folder of extensions; none is no mistake. */
  folder(folder: string, origin: Origin, files: Files = DISK): void {
    if (files.kind(folder) !== "folder") return;
    for (const name of files.names(folder).sort()) {
      const path = join(folder, name);
      const kind = files.kind(path);
      if (kind === "file" && EXTENSION_FILE.test(name)) this.#add(path, origin);
      else if (kind === "folder") this.#inside(path, origin, files);
    }
  }

  /** A file, a folder with one extension, or a folder of extensions. */
  named(path: string, origin: Origin): void {
    const kind = DISK.kind(path);
    if (kind === "file") this.#add(path, origin);
    else if (kind === undefined) this.problems.push(notices.notThere(path, origin.source));
    else if (!this.#inside(path, origin, DISK)) this.folder(path, origin);
  }

  package(folder: string, origin: Origin): void {
    if (DISK.kind(folder) === undefined) this.problems.push(notices.packageNotThere(origin.source, folder));
    else if (DISK.kind(folder) === "file") this.#add(folder, origin);
    else if (!this.#inside(folder, origin, DISK)) {
      const inner = join(folder, "extensions");
      if (DISK.kind(inner) === "folder") this.folder(inner, origin);
      else this.problems.push(notices.packageWithout(folder));
    }
  }

  /** The extensions a folder declares or is; false when it is none. */
  #inside(folder: string, origin: Origin, files: Files): boolean {
    const declared = this.#declared(folder, files);
    for (const entry of declared ?? []) {
      const path = resolve(folder, entry);
      const kind = files.kind(path);
      if (kind === "file") this.#add(path, origin);
      else if (kind === "folder") this.folder(path, origin, files);
      else this.problems.push(notices.notInPackage(join(folder, MANIFEST), entry));
    }
    if (declared !== undefined) return true;
    const index = INDEX_FILES.map((name) => join(folder, name)).find((path) => files.kind(path) === "file");
    if (index !== undefined) this.#add(index, origin);
    return index !== undefined;
  }

  /** The list in a folder's package.json. */
  #declared(folder: string, files: Files): string[] | undefined {
    const path = join(folder, MANIFEST);
    if (files.kind(path) !== "file") return undefined;
    try {
      const manifest = entriesOf(JSON.parse(files.read(path)) as unknown);
      for (const key of MANIFEST_KEYS) {
        const list = entriesOf(manifest?.get(key))?.get("extensions");
        if (Array.isArray(list)) return list.filter((entry) => typeof entry === "string");
      }
    } catch (error) {
      this.problems.push(notices.badManifest(path, reasonOf(error)));
    }
    return undefined;
  }

  #add(path: string, origin: Origin): void {
    const real = canonicalPath(path);
    if (!this.found.has(real)) this.found.set(real, { path: real, source: { path: real, ...origin } });
  }
}

const DISK: Files = {
  kind: (path) => {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? "folder" : "file";
  },
  names: (folder) => fs.readdirSync(folder),
  read: (path) => fs.readFileSync(path, "utf8"),
};

/** The files that were hashed, as they were: what has come since is not there. */
function trustedFiles(project: ProjectTrust): Files {
  const files = new Set(project.files);
  const folders = new Map<string, Set<string>>();
  for (const file of files)
    for (let path = file; path !== project.folder && path !== dirname(path); path = dirname(path)) {
      const parent = dirname(path);
      const names = folders.get(parent) ?? new Set<string>();
      folders.set(parent, names.add(basename(path)));
    }
  return {
    kind: (path) => (files.has(path) ? "file" : folders.has(path) ? "folder" : undefined),
    names: (folder) => [...(folders.get(folder) ?? [])],
    read: (path) => project.read(path).toString(),
  };
}

const fromHome = (path: string): string =>
  path === "~" || path.startsWith(`~${sep}`) ? homedir() + path.slice(1) : path;

/** "npm:name", a bare name, or a path. A version behind the name is for whoever installs it. */
function packageFolder(source: string, stateDir: string): string {
  const name = /^(?:npm:)?((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:@[^/]*)?$/.exec(source)?.[1];
  return name === undefined
    ? resolve(stateDir, fromHome(source))
    : join(stateDir, "packages", "node_modules", ...name.split("/"));
}
