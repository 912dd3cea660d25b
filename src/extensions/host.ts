/**
 * `ExtensionHost`: the extensions of a run of bough. It loads them, tells them what happens (it is the HookPort of the
 * AgentSession), gives bough what they have registered, and keeps them from doing harm by mistake.
 * Part of `extensions/`; cli/ assembles it, tui/ and cli/ ask it.
 */
import type { AgentTool } from "@earendil-works/pi-agent-core";
import { basename } from "node:path";
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { HookEvent, HookName, HookPort, HookResult } from "../agent/hook-port.ts";
import type { ModelRegistry } from "../agent/models.ts";
import { Settings } from "../agent/settings.ts";
import type { ProjectTrust } from "../agent/trust.ts";
import type { CommandInfo, ExtensionContext, ReplacedSessionContext } from "./api.ts";
import { Dispatcher, messageOf } from "./dispatch.ts";
import type { ExtensionError } from "./dispatch.ts";
import { createEventBus } from "./event-bus.ts";
import type { Extension } from "./extension.ts";
import { createApi } from "./extension-api.ts";
import type { ApiHost } from "./extension-api.ts";
import { createCommandContext, createContext } from "./extension-context.ts";
import type { ContextHost } from "./extension-context.ts";
import { readFlags } from "./extension-flags.ts";
import type { GivenFlag } from "./extension-flags.ts";
import { extensionModels } from "./extension-models.ts";
import * as notices from "./extension-notices.ts";
import { startServer } from "./mcp-api.ts";
import { ExtensionTools } from "./extension-tools.ts";
import { loadExtensions } from "./loader.ts";
import type { LoadError, Loaded, WhenSlow } from "./loader.ts";
import type { FoundPlaces } from "./places.ts";
import * as registrations from "./registrations.ts";
import { ReadonlySession } from "./session-facade.ts";
import type { ExtensionSession } from "./session-port.ts";
import { catchStrays } from "./stray-errors.ts";
import { ExtensionModules, withoutMarks } from "./typescript-loading.ts";
import type { ModuleNames } from "./typescript-loading.ts";
import { NO_UI } from "./ui-port.ts";
import type { ExtensionMode, UiFor, UiOwner, UiPort } from "./ui-port.ts";

export interface ExtensionHostOptions {
  cwd: string;
  project: ProjectTrust;
  registry: ModelRegistry;
  /** Default: those of a bough without settings. */
  settings?: Pick<Settings, "values">;
  /** Looks for the extensions, at the start and at each reload; see places.ts. */
  find: () => FoundPlaces;
  /** What the peers' package names stand for. Default: nothing. */
  names?: ModuleNames;
  mode?: ExtensionMode;
  /** Names of bough's own commands. */
  builtInCommands?: ReadonlySet<string>;
  /** Commands that are neither bough's own nor an extension's: prompts and skills. */
  otherCommands?: () => readonly CommandInfo[];
  builtInTools?: () => readonly AgentTool[];
  /** Keys that no extension may have; they come in lower case, modifiers in any order. */
  isReservedKey?: (key: string) => boolean;
  /** For the user. */
  tell?: (level: "warning" | "error", text: string) => void;
  /** The user's wish to leave, by an extension. */
  shutdown?: () => void;
  /** Before a reload: takes away what extensions have put on the screen. */
  clearScreen?: () => void;
  /** Something was registered or everything loaded anew: lists of commands, keys and tools are others. */
  changed?: () => void;
  limits?: Partial<HostLimits>;
  /** Show where in an extension something went wrong. Default: whether $BOUGH_DEBUG is set. */
  debug?: boolean;
}

/** Milliseconds. */
export interface HostLimits {
  factoryMs: number;
  handlerMs: number;
  shutdownMs: number;
}
/** omp's, which extensions are written for. */
export const HOST_LIMITS: HostLimits = { factoryMs: 30_000, handlerMs: 30_000, shutdownMs: 2_000 };

export class ExtensionHost implements HookPort {
  readonly tools: ExtensionTools;
  readonly #options: ExtensionHostOptions;
  readonly #limits: HostLimits;
  readonly #modules: ExtensionModules;
  readonly #dispatcher: Dispatcher;
  readonly #contextHost: ContextHost;
  readonly #apiHost: ApiHost;
  readonly #contexts = new WeakMap<Extension, { event: ExtensionContext; command: ReplacedSessionContext }>();
  readonly #errorListeners = new Set<(error: ExtensionError) => void>();
  /** Failures that were told of. */
  readonly #told = new Set<string>();
  #extensions: readonly Extension[] = [];
  readonly #loaded = new Map<string, Loaded>();
  #project: ProjectTrust;
  #problems: readonly string[] = [];
  #session: ExtensionSession | undefined;
  #facade: ReadonlySession | undefined;
  #uiFor: UiFor = NO_UI_FOR;
  #uis = new WeakMap<Extension, UiPort>();
  readonly #owners = new WeakMap<Extension, UiOwner>();
  #endStrays: (() => void) | undefined;
  #givenFlags: readonly GivenFlag[] = [];
  #flagValues: ReadonlyMap<string, boolean | string> = new Map();

  constructor(options: ExtensionHostOptions) {
    this.#options = options;
    this.#project = options.project;
    this.#limits = { ...HOST_LIMITS, ...options.limits };
    this.#modules = new ExtensionModules(options.names ?? new Map());
    const shared = {
      extensions: () => this.#extensions,
      contextOf: (extension: Extension) => this.#contextsOf(extension).event,
      failed: (extension: Extension, event: string, error: unknown) => this.#failed(extension, event, error),
      session: (method: string) => this.#sessionFor(method),
      models: extensionModels(options.registry),
      providers: options.registry,
      handlerMs: this.#limits.handlerMs,
      openSession: () => this.#session,
      settings: () => (options.settings ?? new Settings()).values(),
    };
    this.tools = new ExtensionTools({ ...shared, builtInTools: options.builtInTools ?? (() => []) });
    this.#dispatcher = new Dispatcher({
      ...shared,
      limits: this.#limits,
      additions: (name, told) => this.#addTo(name, told),
    });
    const { tools } = this;
    this.#apiHost = {
      ...shared,
      cwd: options.cwd,
      tools,
      bus: createEventBus(),
      commands: () => this.getCommands(),
      runCommand: (name, args) => this.runCommand(name, args),
      flag: (name) => this.#flagValues.get(name),
      registered: () => this.#options.changed?.(),
    };
    this.#contextHost = this.#createContextHost(shared);
  }

  /** The loaded extensions, in the order in which they hear of things. */
  get extensions(): readonly Extension[] {
    return this.#extensions;
  }
  /** What was wrong with the latest loading, one plain sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** What may be used of the project from now on. */
  trust(project: ProjectTrust): void {
    this.#project = project;
  }

  /** Finds and loads what is not loaded yet. Never rejects: what fails is among `problems`, and is not there. */
  async load(whenSlow?: WhenSlow): Promise<void> {
    const { places, problems } = this.#options.find();
    this.#endStrays ??= catchStrays((error) => this.#strayed(error));
    const { extensions, errors } = await loadExtensions(places, this.#loaded, {
      modules: this.#modules,
      project: this.#project,
      apiFor: (extension) => createApi(extension, this.#apiHost),
      factoryMs: this.#limits.factoryMs,
      settled: () => this.#options.registry.settled(),
      whenSlow,
    });
    this.#extensions = extensions;
    this.#flagValues = readFlags(this.#givenFlags, registrations.flagsOf(extensions)).values;
    this.#problems = [
      ...problems,
      ...errors.map((error) => this.#loadProblem(error)),
      ...registrations.clashes(extensions, this.#builtInCommands, this.#isReserved),
    ];
    this.#options.changed?.();
  }

  /** The session that extensions act on from now on. */
  attach(session: ExtensionSession): void {
    this.#session = session;
    this.#facade = new ReadonlySession(session.sessionManager);
    for (const extension of this.#extensions) this.#startServers(extension, session);
  }

  /** Those it has registered before there was a session. */
  #startServers(extension: Extension, session: ExtensionSession): void {
    for (const server of extension.mcpServers.values())
      try {
        startServer(server, session);
      } catch (error) {
        this.#failed(extension, "registerMcpServer", error);
      }
  }

  /** The screen from now on, as each extension has it. Default: none. */
  setUi(uiFor: UiFor = NO_UI_FOR): void {
    this.#uiFor = uiFor;
    this.#uis = new WeakMap();
  }

  /** An extension, as the screen deals with it. */
  ownerOf(extension: Extension): UiOwner {
    let owner = this.#owners.get(extension);
    if (owner === undefined) {
      const gone = new AbortController();
      extension.whenRetired(() => gone.abort());
      const failed: UiOwner["failed"] = (event, error) => this.#failed(extension, event, error);
      owner = { name: basename(extension.path), gone: gone.signal, failed };
      this.#owners.set(extension, owner);
    }
    return owner;
  }

  /**
   * What the command line says beyond bough's own flags; counts after every load. Returns what is wrong with it, one
   * plain sentence each. To be called once the extensions are loaded.
   */
  setFlags(given: readonly GivenFlag[]): string[] {
    this.#givenFlags = given;
    const { values, problems } = readFlags(given, registrations.flagsOf(this.#extensions));
    this.#flagValues = values;
    return problems;
  }

  has(name: HookName): boolean {
    return this.#dispatcher.has(name);
  }

  /** Never rejects. */
  emit<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined> {
    return this.#dispatcher.emit(name, event);
  }

  /** Hears of every failure, each time; returns a function that ends it. `tell` is told of each kind once. */
  onError(listener: (error: ExtensionError) => void): () => void {
    this.#errorListeners.add(listener);
    return () => void this.#errorListeners.delete(listener);
  }

  /**
   * Makes the extensions' objects useless and loads everything anew; `loaded` is called before the new ones hear of the
   * session. Rejects while something runs.
   */
  async reload(loaded?: () => void): Promise<void> {
    await this.#sessionFor("reload").reload(async (signal) => {
      this.#retireAll();
      this.#options.clearScreen?.();
      this.#modules.forget();
      this.tools.reset();
      await this.load((path) => this.#slowLoad(path, signal));
      loaded?.();
      for (const problem of this.#problems) this.#options.tell?.("warning", problem);
    });
  }

  /** While the session is open: one that is slow to load is left out when the loading is stopped. */
  #slowLoad(path: string, signal: AbortSignal): ReturnType<WhenSlow> {
    this.#options.tell?.("warning", notices.slowLoad(path));
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    signal.addEventListener("abort", stop);
    return { skipped: promise, end: () => signal.removeEventListener("abort", stop) };
  }

  /** After the last event: the extensions' objects become useless. */
  dispose(): void {
    this.#retireAll();
    this.#endStrays?.();
    this.#modules.dispose();
  }

  /** All commands but bough's own. */
  getCommands(): CommandInfo[] {
    return [...this.#commands, ...(this.#options.otherCommands?.() ?? [])];
  }

  /** Runs `/name args`; false when no extension has such a command. Never rejects: failures are told. */
  async runCommand(name: string, args: string): Promise<boolean> {
    const command = this.#commands.find((known) => known.name === name);
    if (command === undefined) return false;
    const { extension, options } = command;
    await this.#guarded(extension, `/${name}`, () => options.handler(args, this.#contextsOf(extension).command));
    return true;
  }

  /** What may follow `/name prefix`; null for nothing. */
  async completeCommand(name: string, prefix: string): Promise<AutocompleteItem[] | null> {
    const command = this.#commands.find((known) => known.name === name);
    if (command?.options.getArgumentCompletions === undefined) return null;
    const { extension, options } = command;
    const items = await this.#guarded(extension, `/${name} completions`, () => options.getArgumentCompletions!(prefix));
    return Array.isArray(items) ? items : null;
  }

  getShortcuts(): registrations.ExtensionShortcut[] {
    return registrations.shortcutsOf(this.#extensions, this.#isReserved);
  }
  /** Never rejects: failures are told. */
  async runShortcut({ key, extension, options }: registrations.ExtensionShortcut): Promise<void> {
    await this.#guarded(extension, `key ${key}`, () => options.handler(this.#contextsOf(extension).event));
  }

  /** Flags of extensions, for the help text. */
  getFlags(): registrations.ExtensionFlag[] {
    return [...registrations.flagsOf(this.#extensions).values()];
  }

  get #commands(): registrations.ExtensionCommand[] {
    return registrations.commandsOf(this.#extensions, this.#builtInCommands);
  }
  get #builtInCommands(): ReadonlySet<string> {
    return this.#options.builtInCommands ?? new Set();
  }
  readonly #isReserved = (key: string): boolean => this.#options.isReservedKey?.(key) ?? false;

  #createContextHost(shared: Pick<ContextHost, "session" | "models" | "failed">): ContextHost {
    const { mode = "print", cwd, shutdown } = this.#options;
    return {
      ...shared,
      mode,
      cwd: () => this.#session?.cwd ?? cwd,
      hasUI: () => this.#uiFor !== NO_UI_FOR && (mode === "tui" || mode === "rpc"),
      isProjectTrusted: () => this.#project.trusted,
      shutdown: () => shutdown?.(),
      reload: () => this.reload(),
      ui: (extension) => this.#uiOf(extension),
      facade: () => {
        this.#sessionFor("ctx");
        return this.#facade!;
      },
    };
  }

  #contextsOf(extension: Extension): { event: ExtensionContext; command: ReplacedSessionContext } {
    let contexts = this.#contexts.get(extension);
    if (contexts === undefined) {
      const event = createContext(extension, this.#contextHost);
      contexts = { event, command: createCommandContext(extension, this.#contextHost) };
      this.#contexts.set(extension, contexts);
    }
    return contexts;
  }

  #uiOf(extension: Extension): UiPort {
    let ui = this.#uis.get(extension);
    if (ui === undefined) {
      ui = this.#uiFor(this.ownerOf(extension));
      this.#uis.set(extension, ui);
    }
    return ui;
  }

  #sessionFor(method: string): ExtensionSession {
    if (this.#session === undefined) throw new Error(notices.noSession(method));
    return this.#session;
  }

  #addTo(name: HookName, told: Record<string, unknown>): void {
    if (name !== "before_agent_start") return;
    const selectedTools = this.tools.active();
    Object.assign(told["systemPromptOptions"] as object, { cwd: this.#options.cwd, selectedTools });
  }

  /** What the user has asked for is told of each time it fails. */
  async #guarded<T>(extension: Extension, event: string, work: () => T): Promise<Awaited<T> | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#told.delete(keyOf(extension.path, event));
      this.#failed(extension, event, error);
      return undefined;
    }
  }

  #strayed(error: unknown): boolean {
    const path = this.#modules.originOf(error);
    if (path === undefined) return false;
    this.#failed({ path }, notices.NO_EVENT, error);
    return true;
  }

  #failed({ path }: Pick<Extension, "path">, event: string, error: unknown): void {
    const text = withoutMarks(messageOf(error));
    const stack = error instanceof Error && error.stack !== undefined ? withoutMarks(error.stack) : undefined;
    const failure = { extensionPath: path, event, error: text, ...(stack === undefined ? {} : { stack }) };
    for (const listener of this.#errorListeners) listener(failure);
    const key = keyOf(path, event);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#options.tell?.("error", this.#withStack(notices.failed(path, event, text), stack));
  }

  #loadProblem({ error, stack }: LoadError): string {
    return this.#withStack(error, stack);
  }
  #withStack(text: string, stack: string | undefined): string {
    const { debug = Boolean(process.env["BOUGH_DEBUG"]) } = this.#options;
    return debug && stack !== undefined ? `${text}\n${stack}` : text;
  }

  #retireAll(): void {
    for (const extension of this.#extensions) extension.retire();
    this.#extensions = [];
    this.#loaded.clear();
    this.#told.clear();
  }
}

const NO_UI_FOR: UiFor = () => NO_UI;
const keyOf = (path: string, event: string): string => `${path}\n${event}`;
