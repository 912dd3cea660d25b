/**
 * The contexts handlers are given: views of the session as it is at each call. Part of `extensions/`; the host makes one
 * of each kind for an extension.
 */
import type { Model, ThinkingLevel } from "../agent/providers.ts";
import type {
  CompactRequest,
  ContextUsageInfo,
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionModels,
  Moved,
  ReplacedSessionContext,
  WithSession,
} from "./api.ts";
import { messageOf } from "./dispatch.ts";
import type { Extension } from "./extension.ts";
import { draftOf } from "./merge-rules.ts";
import type { ReadonlySession } from "./session-facade.ts";
import type { ExtensionSession } from "./session-port.ts";
import type { ExtensionMode, UiPort } from "./ui-port.ts";

/** What contexts need of the host. */
export interface ContextHost {
  session(method: string): ExtensionSession;
  facade(): ReadonlySession;
  ui(extension: Extension): UiPort;
  readonly mode: ExtensionMode;
  readonly models: ExtensionModels;
  /** The session's, else the one bough was started in. */
  cwd(): string;
  /** Whether somebody answers dialogs now. */
  hasUI(): boolean;
  isProjectTrusted(): boolean;
  shutdown(): void;
  reload(): Promise<void>;
  failed(extension: Extension, event: string, error: unknown): void;
}

const DIALOGS: ReadonlySet<PropertyKey> = new Set<keyof UiPort>(["select", "confirm", "input", "editor", "custom"]);

/** The screen as one extension has it: its clocks stand while it asks the user something. */
function uiOf(extension: Extension, host: ContextHost): UiPort {
  return new Proxy({} as UiPort, {
    get: (_target, key) => {
      extension.mustExist();
      const ui = host.ui(extension);
      const member: unknown = Reflect.get(ui, key, ui);
      if (typeof member !== "function") return member;
      const call = (...args: unknown[]): unknown => Reflect.apply(member, ui, args);
      return DIALOGS.has(key) ? (...args: unknown[]) => extension.clock.standing(async () => call(...args)) : call;
    },
    has: (_target, key) => key in host.ui(extension),
  });
}

/** How a context reaches bough. Kept beside it: what lies in a context, an extension can reach too. */
interface Inside {
  extension: Extension;
  host: ContextHost;
  ui: UiPort;
}
const INSIDE = new WeakMap<LiveContext, Inside>();

function insideOf(context: LiveContext): Inside {
  const inside = INSIDE.get(context)!;
  inside.extension.mustExist();
  return inside;
}
const sessionOf = (context: LiveContext): ExtensionSession => insideOf(context).host.session("ctx");

class LiveContext implements ExtensionContext {
  constructor(extension: Extension, host: ContextHost) {
    INSIDE.set(this, { extension, host, ui: uiOf(extension, host) });
  }

  get ui(): UiPort {
    return insideOf(this).ui;
  }
  get mode(): ExtensionMode {
    return insideOf(this).host.mode;
  }
  get hasUI(): boolean {
    return insideOf(this).host.hasUI();
  }
  get cwd(): string {
    return insideOf(this).host.cwd();
  }
  get sessionManager(): ReadonlySession {
    return insideOf(this).host.facade();
  }
  get modelRegistry(): ExtensionModels {
    return insideOf(this).host.models;
  }
  get model(): Model | undefined {
    return sessionOf(this).model;
  }
  get thinkingLevel(): ThinkingLevel {
    return sessionOf(this).thinkingLevel;
  }
  get scopedModels(): readonly { model: Model }[] {
    return [];
  }
  get signal(): AbortSignal | undefined {
    return sessionOf(this).signal;
  }
  isIdle(): boolean {
    return sessionOf(this).isIdle;
  }
  isProjectTrusted(): boolean {
    return insideOf(this).host.isProjectTrusted();
  }
  abort(): void {
    const { extension, host } = insideOf(this);
    sessionOf(this)
      .abort()
      .catch((error: unknown) => host.failed(extension, "abort", error));
  }
  hasPendingMessages(): boolean {
    return sessionOf(this).hasPendingMessages;
  }
  hasQueuedMessages(): boolean {
    return this.hasPendingMessages();
  }
  shutdown(): void {
    insideOf(this).host.shutdown();
  }
  getContextUsage(): ContextUsageInfo | undefined {
    const usage = sessionOf(this).getContextUsage();
    return usage && { tokens: usage.tokens, contextWindow: usage.window, percent: usage.percent };
  }
  async compact(request: CompactRequest | string = {}): Promise<void> {
    const { customInstructions, onComplete, onError } =
      typeof request === "string" ? { customInstructions: request } : request;
    const { extension, host } = insideOf(this);
    try {
      const { entry } = await sessionOf(this).compact(
        customInstructions === undefined ? {} : { focus: customInstructions },
      );
      if (entry === undefined) throw new Error("The compaction was cancelled.");
      onComplete?.(entry);
    } catch (error) {
      if (onError === undefined) host.failed(extension, "compact", error);
      else onError(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
  getSystemPrompt(): string {
    return sessionOf(this).getSystemPrompt();
  }
}

class LiveCommandContext extends LiveContext implements ReplacedSessionContext {
  waitForIdle(): Promise<void> {
    return sessionOf(this).waitForIdle();
  }
  async newSession({ withSession, ...options }: Parameters<ExtensionCommandContext["newSession"]>[0] = {}) {
    return this.#moved(await sessionOf(this).newSession(options), { withSession });
  }
  branch(entryId: string, options: { withSession?: WithSession } = {}): Promise<Moved> {
    return this.fork(entryId, options);
  }
  async fork(entryId: string, options: Parameters<ExtensionCommandContext["fork"]>[1] = {}): Promise<Moved> {
    const { position = "before", withSession } = options;
    if (position === "at") return this.#moved(await sessionOf(this).clone(entryId), { withSession });
    const { cancelled, selectedText } = await sessionOf(this).branch(entryId);
    return this.#moved({ cancelled }, { withSession, editorText: selectedText });
  }
  async navigateTree(targetId: string, options: Parameters<ExtensionCommandContext["navigateTree"]>[1] = {}) {
    const { editorText, ...result } = await sessionOf(this).navigateTree(targetId, options);
    return this.#moved(result, { editorText });
  }
  async switchSession(path: string, { withSession }: { withSession?: WithSession } = {}): Promise<Moved> {
    return this.#moved(await sessionOf(this).switchSession(path), { withSession });
  }
  reload(): Promise<void> {
    return insideOf(this).host.reload();
  }
  async sendMessage(...[message, options = {}]: Parameters<ReplacedSessionContext["sendMessage"]>): Promise<void> {
    await sessionOf(this).sendCustomMessage(draftOf(message), options);
  }
  async sendUserMessage(...[content, options = {}]: Parameters<ReplacedSessionContext["sendUserMessage"]>) {
    await sessionOf(this).sendUserMessage(content, options);
  }

  /** What the user would see after a move of their own, and then what the extension wants to do there. */
  async #moved<M extends Moved>(
    move: M,
    then: { editorText?: string | undefined; withSession?: WithSession | undefined },
  ): Promise<M> {
    if (move.cancelled) return move;
    if (then.editorText !== undefined) insideOf(this).ui.setEditorText(then.editorText);
    await then.withSession?.(this);
    return move;
  }
}

export const createContext = (extension: Extension, host: ContextHost): ExtensionContext =>
  new LiveContext(extension, host);
export const createCommandContext = (extension: Extension, host: ContextHost): ReplacedSessionContext =>
  new LiveCommandContext(extension, host);
