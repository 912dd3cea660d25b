/**
 * `ExtensionModules`: imports the file of an extension, and for it and everything it imports
 * - takes TypeScript, also inside node_modules and where imports name the `.js` file or no ending at all;
 * - answers the names of the peers' packages with bough's own modules;
 * - loads every file anew each time, so that `/reload` sees what has changed;
 * - takes of a project only the bytes that were trusted.
 * Nothing else in the process is touched. Part of `extensions/`; loader.ts uses it.
 */
import { readFileSync, statSync } from "node:fs";
import * as module from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ProjectTrust } from "../agent/trust.ts";
import * as notices from "./extension-notices.ts";
import { javaScriptOf, moduleFormat } from "./typescript-source.ts";

/** A module name of a peer's, such as "@earendil-works/pi-tui" -> the URL of the module it stands for. */
export type ModuleNames = ReadonlyMap<string, string>;

/** The files that one extension brings in. */
interface Territory {
  /** The file of the extension. */
  entry: string;
  /** Marks its modules, so that no other load shares them. */
  query: string;
  /** Set for an extension of a project: files of the project come from there. */
  project: ProjectTrust | undefined;
}

/** The mark in the URLs of modules; for texts it is taken out. */
const MARK = /\?bough=\d+/g;
export const withoutMarks = (text: string): string => text.replace(MARK, "");

let loads = 0;

export class ExtensionModules {
  readonly #names: ModuleNames;
  /** Modules that extensions have brought in, by URL. */
  readonly #members = new Map<string, Territory>();
  #hooks: { deregister(): void } | undefined;

  constructor(names: ModuleNames) {
    this.#names = names;
  }

  /** The exports of the module; rejects with whatever is wrong with it or throws in it. */
  async import(path: string, project?: ProjectTrust): Promise<Record<string, unknown>> {
    this.#hooks ??= module.registerHooks({
      resolve: (specifier, context, next) => this.#resolve(specifier, context, next),
      load: (url, context, next) => this.#load(url, context, next),
    });
    loads += 1;
    const territory = { entry: path, query: `?bough=${loads}`, project };
    return (await import(this.#enter(pathToFileURL(path).href, territory))) as Record<string, unknown>;
  }

  /** Makes the next imports read every file anew, those of the older kind included. What is loaded stays as it is. */
  forget(): void {
    const { cache } = module.createRequire(import.meta.url);
    for (const url of this.#members.keys()) delete cache[fileURLToPath(url)];
  }

  /** The file of the extension, loaded at any time, in whose modules an error has come up. */
  originOf(error: unknown): string | undefined {
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    for (const [url, { entry, query }] of this.#members)
      if (stack.includes(url.endsWith(query) ? `${query}:` : `${fileURLToPath(url)}:`)) return entry;
    return undefined;
  }

  /** Modules that are loaded stay as they are. */
  dispose(): void {
    this.#hooks?.deregister();
    this.#hooks = undefined;
  }

  /** Gives the URL under which it is imported. Modules of the older kind are known by their file alone. */
  #enter(file: string, territory: Territory): string {
    const marked = file + territory.query;
    this.#members.set(file, territory).set(marked, territory);
    return marked;
  }

  #resolve(
    specifier: string,
    context: module.ResolveHookContext,
    next: (specifier: string, context?: Partial<module.ResolveHookContext>) => module.ResolveFnOutput,
  ): module.ResolveFnOutput {
    const territory = this.#members.get(context.parentURL ?? "");
    if (territory === undefined || module.isBuiltin(specifier)) return next(specifier, context);
    const own = this.#names.get(specifier);
    if (own !== undefined) return { ...next(own, { ...context, parentURL: import.meta.url }), shortCircuit: true };
    const isRequired = context.conditions.includes("require");
    const meant = fileMeant(specifier, context.parentURL!);
    // What requires takes paths, what imports takes URLs.
    const exact = meant === undefined ? specifier : isRequired ? meant : pathToFileURL(meant).href;
    const resolved = next(exact, context);
    if (!resolved.url.startsWith("file:")) return resolved;
    const file = resolved.url.replace(/[?#].*$/, "");
    this.#mayEnter(fileURLToPath(file), territory);
    const marked = this.#enter(file, territory);
    return { ...resolved, url: isRequired ? file : marked, shortCircuit: true };
  }

  #load(
    url: string,
    context: module.LoadHookContext,
    next: (url: string, context?: Partial<module.LoadHookContext>) => module.LoadFnOutput,
  ): module.LoadFnOutput {
    const territory = this.#members.get(url);
    if (territory === undefined) return next(url, context);
    const path = fileURLToPath(url);
    const trusted = this.#mayEnter(path, territory);
    let loaded: module.LoadFnOutput;
    if (isTypeScript(path)) loaded = { ...javaScript(path, (trusted ?? readFileSync(path)).toString()) };
    else if (trusted === undefined) loaded = next(url, context);
    else loaded = { format: context.format ?? formatOf(path, trusted), source: trusted };
    const isImported = url.endsWith(territory.query);
    if (isImported && loaded.format === "commonjs") loaded = { format: "module", source: bridgeTo(path) };
    return { ...loaded, shortCircuit: true };
  }

  /** The content of a file that trust covers, undefined for one that it does not concern. */
  #mayEnter(path: string, { project }: Territory): Buffer | undefined {
    if (project?.folder === undefined || !isInside(path, dirname(project.folder))) return undefined;
    if (!isInside(path, project.folder)) throw new Error(notices.outsideTrust(path, project.folder));
    return project.read(path);
  }
}

const isInside = (path: string, folder: string): boolean => path.startsWith(folder + sep);
const isTypeScript = (path: string): boolean => /\.[cm]?ts$/.test(path);

function javaScript(path: string, source: string): { format: "module" | "commonjs"; source: string } {
  try {
    return javaScriptOf(source);
  } catch (error) {
    if (error instanceof Error) error.message = `${path}: ${error.message}`;
    throw error;
  }
}

const formatOf = (path: string, content: Buffer): module.ModuleFormat | undefined =>
  extname(path) === ".js" ? moduleFormat(content.toString()) : undefined;

/**
 * A module with the exports of one of the older kind. What Node itself makes of those asks no hooks for what they
 * require, on Node 22; what is required by this means does.
 */
function bridgeTo(path: string): string {
  const exported: unknown = module.createRequire(path)(path);
  const names = Object(exported) === exported ? Object.keys(exported as object) : [];
  const usable = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  return [
    `const exported = process.getBuiltinModule("module").createRequire(import.meta.url)(${JSON.stringify(path)});`,
    "export default exported;",
    ...usable.map((name, n) => `const e${n} = exported.${name}; export { e${n} as ${name} };`),
  ].join("\n");
}

/** Endings that may stand for another one, and what may be missing. */
const STANDS_FOR: ReadonlyMap<string, readonly string[]> = new Map([
  [".js", [".ts"]],
  [".mjs", [".mts"]],
  [".cjs", [".cts"]],
]);
const ENDINGS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];

/** The file that a path in an import means; undefined where there is none, or it is no path. */
function fileMeant(specifier: string, parentUrl: string): string | undefined {
  if (!/^(?:\.\.?(?:\/|$)|\/|file:)/.test(specifier)) return undefined;
  const path = fileURLToPath(new URL(specifier, parentUrl));
  const ending = extname(path);
  const stem = path.slice(0, path.length - ending.length);
  const candidates = [
    path,
    ...(STANDS_FOR.get(ending) ?? []).map((other) => stem + other),
    ...ENDINGS.map((added) => path + added),
    ...ENDINGS.map((added) => join(path, `index${added}`)),
  ];
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
}
