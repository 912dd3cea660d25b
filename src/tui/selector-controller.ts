/**
 * What happens around the selectors: opens the tree, the message, session and model lists in the editor's place, does
 * what was picked, and says how it ended. Part of `tui/`; made by interactive-mode, called by the slash commands and
 * the input controller.
 */
import type { Component, KeybindingsManager } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import type { ModelRegistry } from "../agent/models.ts";
import type { Model } from "../agent/providers.ts";
import { pathPromptTexts } from "../agent/prompt-entries.ts";
import { followingNotice } from "../agent/session-holding.ts";
import type { BranchSummarySettings } from "../agent/settings.ts";
import type { SessionInfo } from "../session/catalog.ts";
import { leaseOwner } from "../session/lease.ts";
import { SessionInUse, reasonOf } from "../session/session-errors.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { SessionEntry } from "../tree/entries.ts";
import type { Retrace } from "../tree/moves.ts";
import type { FilterMode } from "../tree/outline.ts";
import { ChoiceSelector } from "./choice-selector.ts";
import type { Question } from "./choice-selector.ts";
import { McpSelector } from "./mcp-selector.ts";
import type { PromptEditor } from "./prompt-editor.ts";
import { Questions } from "./questions.ts";
import { TreeJump } from "./tree-jump.ts";
import { ModelPicker } from "./model-picker.ts";
import { placeText } from "./place-text.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { SelectorScreen } from "./selector-list.ts";
import { copyOfBranch, inUseQuestion } from "./session-in-use.ts";
import type { OtherBough } from "./session-in-use.ts";
import { SessionPicker } from "./session-picker.ts";
import type { SessionSource } from "./session-picker.ts";
import { TreeSelector } from "./tree-selector.ts";
import { UserMessageSelector } from "./user-message-selector.ts";

/** The screen, as the selectors need it. session-screen implements it. */
export interface SelectorHost {
  /** Puts a component in the editor's place and gives it the keys; it replaces one that is already there. */
  show(component: Component): void;
  /** Brings the editor back. */
  hide(): void;
  setEditorText(text: string): void;
  getEditorText(): string;
  status(text: string): void;
  error(text: string): void;
  /** Draws the chat anew from the session's path. */
  rebuildChat(): void;
  requestRender(): void;
  /** Says itself whether it could. */
  copyToClipboard(text: string): void;
  /** Height of the terminal in rows. */
  rows(): number;
  /** An editor like that for prompts, for another text. */
  newEditor(): PromptEditor;
}

/** The settings the selectors obey; read each time one opens. */
export interface SelectorSettings {
  /** What double Escape opens, which also decides what /branch opens. "fork" is another word for "branch". */
  doubleEscapeAction?: "tree" | "branch" | "fork" | "none" | undefined;
  /** The filter the tree opens with; unset: "default". */
  treeFilterMode?: FilterMode | undefined;
  branchSummary?: Pick<BranchSummarySettings, "skipPrompt"> | undefined;
}

/** The models that can be chosen. */
export type ModelChoices = Pick<ModelRegistry, "available">;

export interface SelectorControllerOptions {
  session: AgentSession;
  host: SelectorHost;
  keybindings: KeybindingsManager;
  models: ModelChoices;
  sessions: SessionSource;
  settings(): SelectorSettings;
  /** A folder shown as `~` in the tree. */
  home?: string | undefined;
}

const COPIED = "Copied the branch to a session of your own";
const NO_PROMPT = "No messages to branch from; those of other branches are in /tree";
const NO_MCP_SERVER = "No MCP server is set up; ~/.bough/mcp.json names them, and docs/mcp.md says how.";
const JUMP_STOPS = "Jumping stops it. What it has written so far stays on its own branch.";

export class SelectorController {
  readonly #options: SelectorControllerOptions;
  readonly #session: AgentSession;
  readonly #host: SelectorHost;
  readonly #screen: SelectorScreen;
  readonly #jumps: TreeJump;
  /** What else has to be asked in the editor's place. */
  readonly questions: Questions;
  /** Ends what the open selector needs beside the screen. */
  #release: (() => void) | undefined;

  constructor(options: SelectorControllerOptions) {
    const { host, keybindings, session } = options;
    this.#options = options;
    this.#session = session;
    this.#host = host;
    this.#screen = { keybindings, rows: () => host.rows(), requestRender: () => host.requestRender() };
    this.questions = new Questions({
      screen: this.#screen,
      open: (component) => this.#open(component),
      close: () => this.#close(),
      newEditor: () => host.newEditor(),
    });
    this.#jumps = new TreeJump({
      session,
      host,
      questions: this.questions,
      skipsQuestion: () => options.settings().branchSummary?.skipPrompt ?? false,
      reopenTree: (entryId) => this.showTreeSelector(entryId),
    });
  }

  /** `/tree`. Starts on `initialId`, else where the user stands. Can be read while the agent works. */
  showTreeSelector(initialId?: string): void {
    const index = this.#session.sessionManager.getIndex();
    if (index.size === 0) return this.#host.status("No entries in session");
    const selector = new TreeSelector({
      screen: this.#screen,
      source: index,
      filter: this.#options.settings().treeFilterMode ?? "default",
      selectedId: initialId !== undefined && index.has(initialId) ? initialId : undefined,
      home: this.#options.home,
      onSelect: (entry, isCurrent) => this.#jump(entry, isCurrent),
      onCancel: () => this.#close(),
      onLabel: (entryId, label) => void this.#attempt(() => this.#session.setLabel(entryId, label)),
      onCopy: (text) => this.#copy(text),
    });
    this.#open(selector, { onEntry: () => selector.refresh() });
  }

  /** `/back` and `/forward`. */
  retrace(via: Retrace): void {
    if (this.#session.sessionManager.getRetraceTarget(via) === undefined)
      return this.#host.status(`Nothing to go ${via} to`);
    this.#whileWorking(
      JUMP_STOPS,
      (isWorking) => this.#retrace(via, isWorking),
      () => undefined,
    );
  }

  /** `/branch` and `/fork`: the user's messages on this branch, or the tree where the settings give it to double Escape. */
  showUserMessageSelector(): void {
    if (this.#options.settings().doubleEscapeAction === "tree") return this.showTreeSelector();
    const messages = pathPromptTexts(this.#session.sessionManager);
    if (messages.length === 0) return this.#host.status(NO_PROMPT);
    const selector = new UserMessageSelector({
      screen: this.#screen,
      messages,
      onSelect: (entryId) => {
        this.#close();
        this.#afterStop(
          () => this.#branch(entryId),
          () => this.showUserMessageSelector(),
        );
      },
      onCancel: () => this.#close(),
    });
    this.#open(selector);
  }

  /** `/resume`. */
  showSessionPicker(): void {
    const picker = new SessionPicker({
      screen: this.#screen,
      source: this.#options.sessions,
      currentPath: this.#session.sessionManager.getSessionFile(),
      onSelect: (session) => {
        this.#close();
        if (session.path === this.#session.sessionManager.getSessionFile())
          return this.#host.status("This session is already open");
        if (session.cwdMissing) this.#askForFolder(session);
        else this.#resume(session);
      },
      onCancel: () => this.#close(),
    });
    this.#open(picker, { onClose: () => picker.dispose() });
  }

  /** For a session that bough was started with and another program writes: it is followed already. */
  showInUse(): void {
    const { sessionManager } = this.#session;
    const copy = async (): Promise<void> => {
      if (!(await this.#session.clone()).cancelled) this.#host.status(COPIED);
    };
    this.#ask(
      inUseQuestion(leaseOwner(sessionManager.getSessionId()) ?? {}, {
        follow: () => undefined,
        copy: () => void this.#attempt(copy),
        handOver: () => void this.#attempt(() => this.#session.takeOver()),
        cancel: () => undefined,
      }),
    );
  }

  /** `/model`: takes the one model that `query` names exactly, else opens the list with it as the search. */
  showModelPicker(query = ""): void {
    const models = this.#options.models.available();
    const named = models.filter(({ provider, id }) => query === id || query === `${provider}/${id}`);
    if (named.length === 1) return void this.#setModel(named[0]!);
    const picker = new ModelPicker({
      screen: this.#screen,
      models,
      current: this.#session.model,
      query,
      onSelect: (model) => {
        this.#close();
        void this.#setModel(model);
      },
      onCancel: () => this.#close(),
    });
    this.#open(picker);
  }

  /** `/mcp`. */
  showMcpSelector(): void {
    const { mcp } = this.#session;
    const selector = new McpSelector({
      screen: this.#screen,
      servers: () => mcp.servers,
      emptyText: NO_MCP_SERVER,
      onSave: (names) => {
        this.#close();
        void this.#attempt(() => {
          mcp.select(names);
          this.#host.status(`MCP tools of this branch: ${names.length}`);
        });
      },
      onRestart: (server) => void this.#attempt(() => mcp.restart(server)),
      onCancel: () => this.#close(),
    });
    this.#open(selector);
  }

  #open(component: Component, on: { onEntry?(): void; onClose?(): void; isQuestion?: boolean } = {}): void {
    this.#release?.();
    const unsubscribe = this.#session.subscribe((event) => {
      if (event.type === "entry_appended") on.onEntry?.();
      // What the selector shows is no longer what the session is; a question says nothing of what is in it.
      else if (event.type === "session_changed" && !(on.isQuestion === true && event.reason === "follow"))
        this.#close();
    });
    this.#release = () => {
      unsubscribe();
      on.onClose?.();
    };
    this.#host.show(component);
  }

  #close(): void {
    this.#release?.();
    this.#release = undefined;
    this.#host.hide();
  }

  #jump(entry: SessionEntry, isCurrent: boolean): void {
    this.#close();
    if (isCurrent) this.#host.status("Already at this point");
    else
      this.#whileWorking(
        JUMP_STOPS,
        (isWorking) => this.#jumps.go(entry.id, isWorking),
        () => this.showTreeSelector(entry.id),
      );
  }

  async #retrace(via: Retrace, abort: boolean): Promise<void> {
    const { cancelled, place } = await this.#session[via]({ abort });
    if (cancelled) return this.#host.status("Navigation cancelled");
    if (place === undefined) return this.#host.status(`Nothing to go ${via} to`);
    this.#host.rebuildChat();
    const here = placeText(this.#session.sessionManager.getIndex());
    this.#host.status(`Went ${via} to ${here} (/${via === "back" ? "forward" : "back"} returns)`);
  }

  async #branch(entryId: string): Promise<void> {
    const { selectedText, cancelled } = await this.#session.branch(entryId);
    if (cancelled) return;
    this.#host.rebuildChat();
    const draft = this.#host.getEditorText();
    this.#host.setEditorText(draft.trim() === "" ? selectedText : `${selectedText}\n\n${draft}`);
    this.#host.status("Branched to new session");
  }

  /** A session whose folder is gone can be opened as it is, or as a copy that works where the user is. */
  #askForFolder(session: SessionInfo): void {
    const here = this.#session.cwd;
    this.#ask({
      title: "The folder of this session is gone",
      text: sanitiseLine(
        `It worked in ${session.cwd}. A copy can go on in ${here}; the session itself stays as it is.`,
      ),
      choices: [
        { label: "Copy it into this folder", value: () => this.#resume(session, here) },
        { label: "Open it as it is", value: () => this.#resume(session) },
      ],
      onCancel: () => this.showSessionPicker(),
    });
  }

  #resume(session: SessionInfo, copyTo?: string): void {
    const open = async (): Promise<void> => {
      const path = copyTo === undefined ? session.path : await copiedTo(copyTo, session.path);
      const done = copyTo === undefined ? "Resumed session" : "Resumed a copy of the session in this folder";
      try {
        await this.#switchTo(path, () => done);
      } catch (error) {
        if (!(error instanceof SessionInUse)) throw error;
        this.#askInUse(path, error);
      }
    };
    this.#afterStop(open, () => this.showSessionPicker());
  }

  /** False when an extension did not want it. */
  async #switchTo(path: string, done: () => string, options: { follow?: boolean } = {}): Promise<boolean> {
    if ((await this.#session.switchSession(path, options)).cancelled) return false;
    this.#host.rebuildChat();
    this.#host.status(done());
    return true;
  }

  /** What was picked is another program's: the session on the screen stays until the user has chosen. */
  #askInUse(path: string, other: OtherBough): void {
    const follow = (): Promise<boolean> =>
      this.#switchTo(path, () => followingNotice(this.#session.sessionManager), { follow: true });
    this.#ask(
      inUseQuestion(other, {
        follow: () => void this.#attempt(async () => void (await follow())),
        copy: () => void this.#attempt(async () => void (await this.#switchTo(await copyOfBranch(path), () => COPIED))),
        handOver: () =>
          void this.#attempt(async () => {
            if (await follow()) await this.#session.takeOver();
          }),
        cancel: () => this.showSessionPicker(),
      }),
    );
  }

  #setModel(model: Model): Promise<void> {
    return this.#attempt(() => {
      this.#session.setModel(model);
      this.#host.status(`Model: ${model.provider}/${model.id}`);
    });
  }

  #copy(text: string | undefined): void {
    if (text === undefined) this.#host.status("Selected entry has no text to copy");
    else this.#host.copyToClipboard(text);
  }

  /** Does `action` at once, or after the user agreed to stop the agent and it has stopped. */
  #afterStop(action: () => Promise<void>, back: () => void): void {
    this.#whileWorking(
      "Leaving this session stops it. What it has written so far is kept.",
      async (isWorking) => {
        if (isWorking) await this.#session.abort();
        await action();
      },
      back,
    );
  }

  /** Asks before an action that interrupts the agent; No and Escape lead `back`. */
  #whileWorking(text: string, action: (isWorking: boolean) => Promise<void>, back: () => void): void {
    if (!this.#session.isStreaming) return void this.#attempt(() => action(false));
    this.#ask({
      title: "The agent is still working",
      text,
      choices: [
        { label: "Yes, stop it", value: () => void this.#attempt(() => action(true)) },
        { label: "No, go back", value: back },
      ],
      onCancel: back,
    });
  }

  #ask(question: Question): void {
    const answered = (then: () => void): void => {
      this.#close();
      then();
    };
    const selector = new ChoiceSelector({
      ...question,
      screen: this.#screen,
      onSelect: answered,
      onCancel: () => answered(question.onCancel),
    });
    this.#open(selector, { isQuestion: true });
  }

  /** What fails is one line for the user; the screen stays usable. */
  async #attempt(action: () => void | Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#host.error(reasonOf(error));
    }
  }
}

/** Copies a session file, all branches, into the sessions of a folder and returns the copy's path. */
async function copiedTo(cwd: string, path: string): Promise<string> {
  const copy = await SessionManager.forkFrom(path, cwd);
  await copy.close();
  return copy.getSessionFile()!;
}
