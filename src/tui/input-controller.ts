/**
 * What the user's keys and lines do: send, queue, stop, run, quit.
 * Part of `tui/`; interactive-mode gives it the session and the screen.
 */
import { matchesKey } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import type { UnsentMessage } from "../agent/queue-file.ts";
import { imagesAttached } from "../agent/session-notices.ts";
import type { ImageContent } from "../tree/messages.ts";
import { type BuiltinCommand, builtinCommand, type CommandHost, parseCommand } from "./builtin-registry.ts";
import type { DraftEditor } from "./editor-slot.ts";
import type { EditorAction } from "./prompt-editor.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { ScreenExtensions } from "./screen-extensions.ts";

/** Two presses within this time are a double press, in milliseconds. */
const DOUBLE_PRESS = 500;

/** The screen as the controller needs it. */
export interface InputScreen extends CommandHost {
  readonly editor: DraftEditor;
  readonly extensions: ScreenExtensions;
  /** What the user's settings say: the tree, the list of messages, or nothing. */
  doubleEscape(): void;
  /** Milliseconds from any start, never backwards. */
  now(): number;
  toggleExpanded(): void;
  toggleThinking(): void;
  cycleModel(direction: 1 | -1): void;
  suspend(): void;
  editDraftOutside(): Promise<void>;
  /** Shows the command as running until the promise settles. */
  whileCommandRuns(command: string, running: Promise<unknown>): Promise<void>;
  showError(text: string): void;
}

export class InputController {
  readonly #screen: InputScreen;
  readonly #session: AgentSession;
  readonly #editor: DraftEditor;
  /** What returns false has nothing to do with the key and leaves it to the editor. */
  readonly #actions: Readonly<Record<EditorAction, () => unknown>>;
  #retryWaits = false;
  #summaryRuns = false;
  #lastEscape = -Infinity;
  #lastClear = -Infinity;
  /** Of messages that came back from the queue; the editor itself holds text alone. */
  #images: ImageContent[] = [];

  constructor(screen: InputScreen) {
    this.#screen = screen;
    this.#session = screen.session;
    this.#editor = screen.editor;
    this.#actions = this.#newActions(screen);
  }

  /** A failed answer is about to be asked for again: Escape ends the wait. */
  setRetryWaits(waits: boolean): void {
    this.#retryWaits = waits;
  }

  /** A summary is being written for a jump: Escape ends both, and nothing else that runs. */
  setSummaryRuns(runs: boolean): void {
    this.#summaryRuns = runs;
  }

  /** Something was typed: Escapes before and after it are no double press. */
  draftChanged(): void {
    this.#lastEscape = -Infinity;
  }

  /** A line the user entered; the editor is already empty. */
  submit(line: string): void {
    const text = line.trim();
    if (text === "" && this.#images.length === 0) return;
    const command = parseCommand(text);
    if (command !== undefined) this.#runCommand(text, command.name, command.argument);
    else if (/^!!?\s*\S/.test(text)) this.#runShell(text);
    else this.#send(text, "steer");
  }

  /** Runs what an extension has put on the key; false leaves it to the editor. */
  runShortcut(data: string): boolean {
    const shortcut = this.#screen.extensions.shortcuts().find(({ key }) => matchesKey(data, key));
    if (shortcut !== undefined) this.#attempt(shortcut.run(), () => undefined);
    return shortcut !== undefined;
  }

  /** False leaves the key to the editor. */
  runAction(action: EditorAction): boolean {
    return this.#actions[action]() !== false;
  }

  #newActions(screen: InputScreen): Record<EditorAction, () => unknown> {
    return {
      "app.interrupt": () => this.#interrupt(),
      "app.clear": () => this.#clear(),
      "app.exit": () => this.#editor.getText() === "" && screen.quit(),
      "app.suspend": () => screen.suspend(),
      "app.session.new": () => this.#runCommand("/new", "new", ""),
      "app.session.tree": () => screen.openTree(),
      "app.session.back": () => screen.retrace("back"),
      "app.session.forward": () => screen.retrace("forward"),
      "app.session.fork": () => screen.openBranch(),
      "app.session.resume": () => screen.openSessions(),
      "app.thinking.cycle": () => this.#cycleThinking(),
      "app.thinking.toggle": () => screen.toggleThinking(),
      "app.model.cycleForward": () => screen.cycleModel(1),
      "app.model.cycleBackward": () => screen.cycleModel(-1),
      "app.model.select": () => screen.chooseModel(""),
      "app.plan.toggle": () => this.#runCommand("/plan", "plan", ""),
      "app.tools.expand": () => screen.toggleExpanded(),
      "app.editor.external": () => this.#attempt(screen.editDraftOutside(), () => undefined),
      "app.message.followUp": () => this.#followUp(),
      "app.message.dequeue": () => void this.restoreQueue(),
      "app.message.copy": () => screen.copyLastAnswer(),
    };
  }

  /** Puts the queued messages before the draft; true when there were any. */
  restoreQueue(): boolean {
    const queue = this.#session.takeQueue();
    if (queue.length > 0) this.takeBack(queue);
    return queue.length > 0;
  }

  /** Messages that were not sent: their texts go before the draft, their images with the next prompt. */
  takeBack(messages: readonly UnsentMessage[]): void {
    const draft = this.#editor.getExpandedText();
    const texts = [...messages.map(({ text }) => text), draft];
    this.#editor.setText(texts.filter((text) => text.trim() !== "").join("\n\n"));
    this.#attach(messages.flatMap(({ images = [] }) => images));
  }

  #attach(images: readonly ImageContent[]): void {
    if (images.length === 0) return;
    this.#images = [...this.#images, ...images];
    this.#screen.setStatus(imagesAttached(this.#images.length));
  }

  #send(text: string, queueAs: "steer" | "followUp"): void {
    this.#editor.addToHistory(text);
    const images = this.#images;
    this.#images = [];
    // What is queued for a turn that was stopped would wait for the next prompt.
    if (this.#session.isCompacting) {
      if (queueAs === "steer") this.#session.steer(text, images);
      else this.#session.followUp(text, images);
      return;
    }
    const isQueued = this.#session.isStreaming && !this.#session.isStopping;
    const options = { images, ...(isQueued ? { streamingBehavior: queueAs } : {}) };
    this.#attempt(this.#session.prompt(text, options), () => {
      this.#giveBack(text);
      this.#attach(images);
    });
  }

  #followUp(): boolean {
    const text = this.#editor.getExpandedText().trim();
    if (text === "") return false;
    this.#editor.setText("");
    if (parseCommand(text) === undefined && !text.startsWith("!")) this.#send(text, "followUp");
    else this.submit(text);
    return true;
  }

  #runCommand(line: string, name: string, argument: string): void {
    const command = builtinCommand(name) ?? this.#extensionCommand(name);
    if (command === undefined) {
      this.#giveBack(line);
      this.#screen.setStatus(`There is no command /${sanitiseLine(name)}; type / to see those there are.`);
      return;
    }
    this.#editor.addToHistory(line);
    // A bare name is typed again at once; in the editor the next command would be written behind it.
    const refused = (): void => {
      if (argument !== "") this.#giveBack(line);
    };
    this.#attempt((async () => command.run(this.#screen, argument))(), refused);
  }

  #extensionCommand(name: string): Pick<BuiltinCommand, "run"> | undefined {
    const command = this.#screen.extensions.commands().find((known) => known.name === name);
    return command && { run: (_screen, args) => command.run(args) };
  }

  #runShell(line: string): void {
    const excludeFromContext = line.startsWith("!!");
    const command = line.replace(/^!!?\s*/, "");
    if (this.#session.isBashRunning) {
      this.#giveBack(line);
      this.#screen.setStatus("A command is still running; Escape stops it.");
      return;
    }
    this.#editor.addToHistory(line);
    const running = this.#session.runBash(command, { excludeFromContext });
    this.#attempt(this.#screen.whileCommandRuns(command, running), () => undefined);
  }

  /** What runs is stopped first, then a shell draft is left, then a double press opens what the user chose. */
  #interrupt(): boolean {
    if (this.#retryWaits) {
      this.#session.abortRetry();
      return true;
    }
    if (this.#summaryRuns) {
      this.#attempt(this.#session.abort(), () => undefined);
      return true;
    }
    if (this.#session.isCompacting) {
      this.#session.compaction.abort();
      return true;
    }
    if (this.#session.isStreaming) {
      this.restoreQueue();
      this.#attempt(this.#session.abort(), () => undefined);
      return true;
    }
    if (this.#session.isBashRunning) {
      this.#session.abortBash();
      return true;
    }
    if (!this.#session.isIdle) {
      this.#attempt(this.#session.abort(), () => undefined);
      return true;
    }
    if (this.#editor.isBashDraft) {
      this.#editor.setText("");
      return true;
    }
    const isDouble = this.#screen.now() - this.#lastEscape <= DOUBLE_PRESS;
    this.#lastEscape = isDouble ? -Infinity : this.#screen.now();
    if (isDouble) this.#screen.doubleEscape();
    // One press over a draft may mean something to the editor.
    return isDouble || this.#editor.isBlank;
  }

  #clear(): void {
    const isDouble = this.#screen.now() - this.#lastClear <= DOUBLE_PRESS;
    this.#lastClear = this.#screen.now();
    if (isDouble) {
      this.#screen.quit();
      return;
    }
    // A draft cleared by mistake is one key press away.
    this.#editor.addToHistory(this.#editor.getExpandedText());
    this.#editor.setText("");
    this.#images = [];
    this.#screen.setStatus("Press it again to quit.");
  }

  #cycleThinking(): void {
    const level = this.#session.cycleThinkingLevel();
    this.#screen.setStatus(
      level === undefined ? "Current model does not support thinking" : `Thinking level: ${level}`,
    );
  }

  /** A line that was not taken goes back, unless the user has begun another. */
  #giveBack(text: string): void {
    if (this.#editor.isBlank) this.#editor.setText(text);
  }

  #attempt(work: Promise<unknown>, failed: () => void): void {
    work.catch((error: unknown) => {
      failed();
      this.#screen.showError(error instanceof Error ? error.message : String(error));
    });
  }
}
