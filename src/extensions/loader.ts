/**
 * Loads extensions: imports the file, calls its factory. One that fails or takes too long leaves nothing behind and
 * stops no other. Part of `extensions/`; the host uses it.
 */
import type { ProjectTrust } from "../agent/trust.ts";
import { messageOf } from "./dispatch.ts";
import type { ExtensionAPI, ExtensionFactory } from "./api.ts";
import { Extension } from "./extension.ts";
import * as notices from "./extension-notices.ts";
import type { ExtensionPlace } from "./places.ts";
import { withoutMarks } from "./typescript-loading.ts";
import type { ExtensionModules } from "./typescript-loading.ts";

export interface LoadOptions {
  modules: ExtensionModules;
  /** Where the files of project extensions come from. */
  project: ProjectTrust;
  /** The object for an extension. */
  apiFor(extension: Extension): ExtensionAPI;
  /** How long one may take, in milliseconds. */
  factoryMs: number;
  /** Settles when what the extension has registered counts. */
  settled(): Promise<void>;
  /** Called for one that takes long. */
  whenSlow?: WhenSlow | undefined;
}

/** Tells the user; what it gives lets the extension be left out. */
export type WhenSlow = (path: string) => {
  /** Settles when the user wants it left out. */
  skipped: Promise<void>;
  /** It is loaded, or not. */
  end(): void;
};

/** One that takes longer is slow, in milliseconds. */
const SLOW_LOAD_MS = 1_000;

export interface LoadError {
  path: string;
  /** One plain sentence. */
  error: string;
  stack?: string;
}

/** What came of a file. */
export type Loaded = Extension | LoadError;

/** In the order of the places, one after the other. What is among the `loaded` is not loaded again. */
export async function loadExtensions(
  places: readonly ExtensionPlace[],
  loaded: Map<string, Loaded>,
  options: LoadOptions,
): Promise<{ extensions: Extension[]; errors: LoadError[] }> {
  const extensions: Extension[] = [];
  const errors: LoadError[] = [];
  for (const place of places) {
    const outcome = loaded.get(place.path) ?? (await outcomeOf(place, options));
    loaded.set(place.path, outcome);
    if (outcome instanceof Extension) extensions.push(outcome);
    else errors.push(outcome);
  }
  return { extensions, errors };
}

async function outcomeOf(place: ExtensionPlace, options: LoadOptions): Promise<Loaded> {
  const extension = new Extension(place.source);
  try {
    await load(extension, place, options);
    extension.activate();
    return extension;
  } catch (error) {
    extension.retire();
    return loadError(place.path, error);
  }
}

async function load(extension: Extension, place: ExtensionPlace, options: LoadOptions): Promise<void> {
  const { modules, project, apiFor, factoryMs, settled, whenSlow } = options;
  const work = async (): Promise<void> => {
    const trust = place.source.scope === "project" ? project : undefined;
    const factory = place.factory ?? factoryIn(await modules.import(place.path, trust));
    if (factory === undefined) throw new Error(notices.NO_FACTORY);
    await factory(apiFor(extension));
    await settled();
  };
  const skipped = Promise.withResolvers<never>();
  let told: ReturnType<WhenSlow> | undefined;
  const slow = setTimeout(() => {
    told = whenSlow?.(place.path);
    void told?.skipped.then(() => skipped.reject(new Error(notices.SKIPPED)));
  }, SLOW_LOAD_MS);
  const tooSlow = (): Error => new Error(notices.factoryTooSlow(factoryMs / 1000));
  try {
    await Promise.race([extension.clock.within(factoryMs, work, tooSlow), skipped.promise]);
  } finally {
    clearTimeout(slow);
    told?.end();
  }
}

/** Modules of the older kind have theirs one level deeper. */
function factoryIn(exports: Record<string, unknown>): ExtensionFactory | undefined {
  const { default: outer } = exports;
  const inner = typeof outer === "object" && outer !== null && "default" in outer ? outer.default : outer;
  return typeof inner === "function" ? (inner as ExtensionFactory) : undefined;
}

function loadError(path: string, error: unknown): LoadError {
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    path,
    error: notices.loadFailed(path, withoutMarks(messageOf(error))),
    ...(stack === undefined ? {} : { stack: withoutMarks(stack) }),
  };
}
