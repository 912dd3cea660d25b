/**
 * `ScreenCommands`: what commands and keys may do to the screen.
 * Part of `tui/`; made by interactive-mode for the slash commands (CommandHost) and input-controller (InputScreen).
 */
import type { KeybindingsManager } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import type { Model } from "../agent/providers.ts";
import type { Retrace } from "../tree/moves.ts";
import type { CompactionPanel } from "./compaction-panel.ts";
import type { EditorSlot } from "./editor-slot.ts";
import type { InputScreen } from "./input-controller.ts";
import { hotkeysText } from "./keybindings.ts";
import type { PlanDecision } from "./plan-decision.ts";
import type { ScreenExtensions } from "./screen-extensions.ts";
import type { ScreenLeaving } from "./screen-leaving.ts";
import type { ModelChoices, SelectorController, SelectorSettings } from "./selector-controller.ts";
import type { SessionScreen } from "./session-screen.ts";

export interface ScreenCommandsOptions {
  session: AgentSession;
  extensions: ScreenExtensions;
  screen: SessionScreen;
  selectors: SelectorController;
  plan: PlanDecision;
  compaction: CompactionPanel;
  leaving: ScreenLeaving;
  keybindings: KeybindingsManager;
  models: ModelChoices;
  /** Read each time; see InteractiveSettings. */
  settings: Pick<SelectorSettings, "doubleEscapeAction"> & { externalEditor?: string | undefined };
  env: NodeJS.ProcessEnv;
  /** Reads keys, settings, extensions, rules and context files anew, and draws all of it. */
  reload(): Promise<void>;
}

export class ScreenCommands implements InputScreen {
  readonly session: AgentSession;
  readonly editor: EditorSlot;
  readonly extensions: ScreenExtensions;
  readonly #options: ScreenCommandsOptions;
  readonly #screen: SessionScreen;
  readonly #selectors: SelectorController;

  constructor(options: ScreenCommandsOptions) {
    this.#options = options;
    this.session = options.session;
    this.extensions = options.extensions;
    this.#screen = options.screen;
    this.editor = options.screen.editor;
    this.#selectors = options.selectors;
  }

  openTree(): void {
    this.#selectors.showTreeSelector();
  }
  retrace(via: Retrace): void {
    this.#selectors.retrace(via);
  }
  openBranch(): void {
    this.#selectors.showUserMessageSelector();
  }
  openSessions(): void {
    this.#selectors.showSessionPicker();
  }
  doubleEscape(): void {
    const action = this.#options.settings.doubleEscapeAction ?? "tree";
    if (action === "tree") this.openTree();
    else if (action !== "none") this.openBranch();
  }
  openMcp(): void {
    this.#selectors.showMcpSelector();
  }
  chooseModel(query: string): void {
    this.#selectors.showModelPicker(query);
  }
  reviewPlan(): void {
    this.#options.plan.review((markdown) => this.showText(markdown));
  }
  compact(focus: string): Promise<void> {
    return this.#options.compaction.compact(focus === "" ? {} : { focus });
  }
  uncompact(): Promise<void> {
    return this.#options.compaction.uncompact();
  }
  modelNames(): string[] {
    return this.#options.models.available().map(({ provider, id }) => `${provider}/${id}`);
  }
  cycleModel(direction: 1 | -1): void {
    const models = this.#options.models.available();
    const current = this.session.model;
    const at = models.findIndex(({ provider, id }) => provider === current?.provider && id === current.id);
    const next = models.at((at + direction) % models.length);
    if (next === undefined || models.length === 1) this.setStatus("No other model can be used");
    else this.#useModel(next);
  }
  setStatus(text: string): void {
    this.#screen.setStatus(text);
  }
  showText(markdown: string): void {
    this.#screen.chat.addText(markdown);
    this.#screen.ui.requestRender();
  }
  showError(text: string): void {
    this.#screen.addNotice("error", text);
  }
  hotkeys(): string {
    return hotkeysText(this.#options.keybindings);
  }
  reload(): Promise<void> {
    return this.#options.reload();
  }
  copyLastAnswer(): void {
    const text = this.#screen.chat.lastAnswer;
    if (text === undefined || text === "") this.setStatus("No answer to copy yet");
    else this.#screen.copy(text, "Copied the last answer");
  }
  toggleExpanded(): void {
    const { chat, ui } = this.#screen;
    chat.setExpanded(!chat.isExpanded);
    ui.requestRender();
  }
  toggleThinking(): void {
    const { chat } = this.#screen;
    chat.hideThinking = !chat.hideThinking;
    this.setStatus(chat.hideThinking ? "Thinking is hidden" : "Thinking is shown");
  }
  now(): number {
    return performance.now();
  }
  async whileCommandRuns(command: string, running: Promise<unknown>): Promise<void> {
    const { pending, ui } = this.#screen;
    pending.setCommand(command);
    ui.requestRender();
    try {
      await running;
    } finally {
      pending.setCommand(undefined);
      ui.requestRender();
    }
  }
  suspend(): void {
    this.#options.leaving.suspend();
  }
  quit(): void {
    this.#options.leaving.quit();
  }
  async editDraftOutside(): Promise<void> {
    const { settings, env, leaving } = this.#options;
    const command = settings.externalEditor ?? env["VISUAL"] ?? env["EDITOR"];
    if (command) await leaving.editDraft(command);
    else this.setStatus("Set EDITOR in the environment, or externalEditor in the settings, to edit the draft there.");
  }

  #useModel(model: Model): void {
    try {
      this.session.setModel(model);
      const thinking = this.session.availableThinkingLevels().length > 1;
      this.setStatus(
        `Switched to ${model.provider}/${model.id}${thinking ? ` (thinking: ${this.session.thinkingLevel})` : ""}`,
      );
    } catch (error) {
      this.showError(error instanceof Error ? error.message : String(error));
    }
  }
}
