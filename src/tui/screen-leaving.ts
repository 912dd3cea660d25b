/**
 * `ScreenLeaving`: how the terminal is given up, for good, to the shell, or to the user's own editor meanwhile.
 * Part of `tui/`; made by interactive-mode, which waits for the end; commands and keys bring it about.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { editOutside } from "./external-editor.ts";
import { SIGNAL_EXIT_CODES, type EndingSignal, type ScreenEvents } from "./process-guard.ts";
import type { SessionScreen } from "./session-screen.ts";

/** Long enough for the signal to have stopped the process. Milliseconds. */
const RESUME_AFTER = 100;
/** Only a save that takes this long is worth a word. Milliseconds. */
const SLOW_SAVE = 300;

export class ScreenLeaving {
  readonly #screen: SessionScreen;
  readonly #left = Promise.withResolvers<void>();
  #editsOutside = false;
  #failure: { error: unknown } | undefined;
  #signal: EndingSignal | undefined;

  constructor(screen: SessionScreen) {
    this.#screen = screen;
  }

  /** Resolves when the user, or the system, wants to leave. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  /** An exception that nobody caught ends the program. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  quit(): void {
    this.#left.resolve();
  }

  /** Disposes of the session and resolves with the exit code; rejects with the exception that nobody caught. */
  async finish(session: AgentSession): Promise<number> {
    const exitCode = await this.#save(session);
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#signal === undefined ? exitCode : SIGNAL_EXIT_CODES[this.#signal];
  }

  async #save(session: AgentSession): Promise<number> {
    const { status, chat } = this.#screen;
    const slow = setTimeout(() => status.show("Saving…"), SLOW_SAVE);
    try {
      await session.dispose();
      return 0;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      chat.addNotice("error", `Not everything of this session could be saved: ${reason}`);
      return 1;
    } finally {
      clearTimeout(slow);
    }
  }

  suspend(): void {
    const { ui } = this.#screen;
    ui.stop();
    // Time stands still for a stopped process: this runs when it is continued, or at once where it cannot be stopped.
    setTimeout(() => {
      ui.start();
      ui.requestRender(true);
    }, RESUME_AFTER);
    // The whole group, as the terminal's own Ctrl+Z would: npm's wrapper and running commands too.
    process.kill(0, "SIGTSTP");
  }

  /** Opens the draft with the command line `command`; rejects as `editOutside` does. */
  async editDraft(command: string): Promise<void> {
    const { ui, editor } = this.#screen;
    ui.stop();
    this.#editsOutside = true;
    try {
      editor.setText(await editOutside(editor.getExpandedText(), command));
    } finally {
      this.#editsOutside = false;
      ui.start();
      ui.requestRender(true);
    }
  }

  /** What the process hears, for `guardScreen`. */
  events(): ScreenEvents {
    return {
      leave: (signal) => {
        this.#signal ??= signal;
        this.quit();
      },
      // Ctrl+C in the editor outside is meant for that editor alone.
      interrupted: () => {
        if (!this.#editsOutside) this.quit();
      },
      failed: (error) => {
        this.#failure ??= { error };
        this.quit();
      },
      stray: (text) => this.#screen.addNotice("warning", text.trim()),
    };
  }
}
