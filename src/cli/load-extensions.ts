/**
 * Looks for the extensions of a run and loads them. Part of `cli/`; used by every mode. Where there is nothing to load,
 * nothing of what loads is imported either.
 */
import { Settings } from "../agent/settings.ts";
import { withheld } from "../agent/trust.ts";
import type { WhenSlow } from "../extensions/loader.ts";
import { findExtensions } from "../extensions/places.ts";
import type { FoundPlaces } from "../extensions/places.ts";
import type { ExtensionMode } from "../extensions/ui-port.ts";
import { builtinCommandNames } from "../tui/builtin-registry.ts";
import { claimOptions } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { LoadedExtensions } from "./loaded-extensions.ts";
import type { ExtensionPlace } from "./loaded-extensions.ts";
import { UsageError } from "./usage.ts";

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
 * `earlier`: what `loadUserExtensions` has loaded, which stays.
 */
export async function loadExtensions(
  args: Arguments,
  place: ExtensionPlace,
  options: LoadOptions,
  earlier?: LoadedExtensions,
): Promise<{ args: Arguments; extensions: LoadedExtensions | undefined }> {
  const extensions = await loaded(args, place, options, earlier);
  if (extensions === undefined) {
    claimOptions(args, () => undefined);
    return { args, extensions };
  }
  const { host } = extensions;
  const types = new Map(host.getFlags().map(({ name, options: { type } }) => [name, type]));
  const { flags, prompt } = claimOptions(args, (name) => types.get(name));
  const [problem] = host.setFlags(flags);
  if (problem !== undefined) throw new UsageError(problem);
  return { args: { ...args, prompt }, extensions };
}

/** Those that lie outside of the project, before it is known whether it is trusted. */
export async function loadUserExtensions(
  args: Arguments,
  place: Omit<ExtensionPlace, "settings">,
  options: LoadOptions,
): Promise<LoadedExtensions | undefined> {
  const { stateDir, project } = place;
  return loaded(args, { ...place, settings: new Settings({ stateDir }), project: withheld(project) }, options);
}

async function loaded(
  args: Arguments,
  place: ExtensionPlace,
  options: LoadOptions,
  earlier?: LoadedExtensions,
): Promise<LoadedExtensions | undefined> {
  const { places, problems } = placesFor(args, place);
  if (earlier === undefined && places.length === 0 && problems.length === 0) return undefined;
  const extensions = earlier ?? (await newExtensions(args, place, options));
  extensions.settle(place);
  await extensions.host.load(options.whenSlow);
  return extensions;
}

/** That there are extensions now where there were none at the start, so nothing is there to load them. */
export function lateExtensionsNotice(args: Arguments, place: ExtensionPlace): string | undefined {
  const [first] = placesFor(args, place).places;
  return first && `${first.path} is new; bough had no extensions when it started, so start it again to load it.`;
}

async function newExtensions(
  args: Arguments,
  place: ExtensionPlace,
  { mode, isReservedKey }: LoadOptions,
): Promise<LoadedExtensions> {
  const [{ ExtensionHost }, { extensionNames }, { createTools }] = await Promise.all([
    import("../extensions/host.ts"),
    import("./extension-names.ts"),
    import("../agent/tools/create-tools.ts"),
  ]);
  const { cwd, stateDir, project, registry } = place;
  return new LoadedExtensions(
    place,
    (face, current) =>
      new ExtensionHost({
        mode,
        ...(isReservedKey === undefined ? {} : { isReservedKey }),
        ...face,
        cwd,
        project,
        registry,
        settings: { values: () => current().settings.values() },
        find: () => placesFor(args, current()),
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
