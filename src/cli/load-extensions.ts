/**
 * Looks for the extensions of a run and loads them. Part of `cli/`; used by every mode. Where there is nothing to load,
 * nothing of what loads is imported either.
 */
import type { ModelRegistry } from "../agent/models.ts";
import type { Settings } from "../agent/settings.ts";
import type { ProjectTrust } from "../agent/trust.ts";
import type { WhenSlow } from "../extensions/loader.ts";
import { findExtensions } from "../extensions/places.ts";
import type { FoundPlaces } from "../extensions/places.ts";
import type { ExtensionMode } from "../extensions/ui-port.ts";
import { builtinCommandNames } from "../tui/builtin-registry.ts";
import { claimOptions } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { LoadedExtensions } from "./loaded-extensions.ts";
import { UsageError } from "./usage.ts";

/** What the extensions of a run are looked for and loaded with. */
export interface ExtensionPlace {
  cwd: string;
  stateDir: string;
  project: ProjectTrust;
  settings: Settings;
  registry: ModelRegistry;
}

export interface LoadOptions {
  mode: ExtensionMode;
  /** Default: no key is. */
  isReservedKey?: (key: string) => boolean;
  /** Called for an extension that takes long to load. */
  whenSlow?: WhenSlow;
}

/**
 * Loads what there is to load, and gives the arguments as they read with the options of extensions. Rejects with
 * UsageError for an option that nobody has, or that has a wrong value. Extensions that fail are among `host.problems`.
 */
export async function loadExtensions(
  args: Arguments,
  place: ExtensionPlace,
  options: LoadOptions,
): Promise<{ args: Arguments; extensions: LoadedExtensions | undefined }> {
  const find = (): FoundPlaces => placesFor(args, place);
  const found = find();
  if (found.places.length === 0 && found.problems.length === 0) {
    claimOptions(args, () => undefined);
    return { args, extensions: undefined };
  }
  const extensions = await load(find, place, options);
  const { host } = extensions;
  await host.load(options.whenSlow);
  const types = new Map(host.getFlags().map(({ name, options: { type } }) => [name, type]));
  const { flags, prompt } = claimOptions(args, (name) => types.get(name));
  const [problem] = host.setFlags(flags);
  if (problem !== undefined) throw new UsageError(problem);
  return { args: { ...args, prompt }, extensions };
}

/** That there are extensions now where there were none at the start, so nothing is there to load them. */
export function lateExtensionsNotice(args: Arguments, place: ExtensionPlace): string | undefined {
  const [first] = placesFor(args, place).places;
  return first && `${first.path} is new; bough had no extensions when it started, so start it again to load it.`;
}

async function load(find: () => FoundPlaces, place: ExtensionPlace, options: LoadOptions): Promise<LoadedExtensions> {
  const [{ ExtensionHost }, { extensionNames }, { createTools }] = await Promise.all([
    import("../extensions/host.ts"),
    import("./extension-names.ts"),
    import("../agent/tools/create-tools.ts"),
  ]);
  const { cwd, stateDir, project, registry, settings } = place;
  const { mode, isReservedKey } = options;
  return new LoadedExtensions(
    (face) =>
      new ExtensionHost({
        mode,
        ...(isReservedKey === undefined ? {} : { isReservedKey }),
        ...face,
        cwd,
        project,
        registry,
        settings,
        find,
        names: extensionNames(),
        builtInCommands: new Set(builtinCommandNames()),
        builtInTools: () => createTools({ cwd, stateDir }),
      }),
  );
}

function placesFor(args: Arguments, { cwd, stateDir, project, settings }: ExtensionPlace): FoundPlaces {
  return findExtensions({
    cwd,
    stateDir,
    project,
    extensions: settings.get("extensions"),
    packages: settings.get("packages"),
    paths: args.extensions,
    onlyPaths: args.onlyNamedExtensions,
  });
}
