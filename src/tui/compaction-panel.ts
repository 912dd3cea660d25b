/**
 * What the screen does around a compaction: shows that one runs, lets the user change a summary before it is written,
 * asks what to do when it failed, and goes back above one.
 * Part of `tui/`; made by interactive-mode, called by `/compact` and `/uncompact`.
 */
import type { KeybindingsManager } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import { CompactionFailed, NothingToCompact } from "../agent/compaction.ts";
import type { CompactOptions } from "../agent/compaction.ts";
import { reasonOf } from "../session/session-errors.ts";
import { keyNames } from "./keybindings.ts";
import type { PromptEditor } from "./prompt-editor.ts";
import type { Questions } from "./questions.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { SelectorHost } from "./selector-controller.ts";
import type { StatusLine } from "./status-line.ts";
import { SummaryEditor } from "./summary-editor.ts";

export interface CompactionPanelOptions {
  session: AgentSession;
  host: SelectorHost;
  keybindings: KeybindingsManager;
  questions: Pick<Questions, "choose">;
  status: Pick<StatusLine, "show" | "showWorking" | "hide">;
  /** What the status line says while a turn runs. */
  working(): string;
  makeEditor(): PromptEditor;
}

export class CompactionPanel {
  readonly #options: CompactionPanelOptions;

  constructor(options: CompactionPanelOptions) {
    this.#options = options;
  }

  apply(event: AgentSessionEvent): void {
    const { session, status, working } = this.#options;
    if (event.type === "compaction_start") {
      const doing = event.reason === "manual" ? "Compacting context…" : "Auto-compacting…";
      status.show(`${doing} (${this.#key("app.interrupt")} to cancel)`);
    } else if (event.type === "compaction_end") {
      if (session.isStreaming) status.showWorking(working());
      else status.hide();
    }
  }

  /** `/compact`. Settles when it is written, dropped or has failed, which is told. */
  async compact(options: Pick<CompactOptions, "focus" | "digest">): Promise<void> {
    const { session, host } = this.#options;
    try {
      const { cancelled } = await session.compact({
        ...options,
        review: ({ summary }, signal) => this.#review(summary, signal),
      });
      if (cancelled) host.status("Compaction cancelled");
    } catch (error) {
      if (error instanceof NothingToCompact) host.status(error.message);
      else if (error instanceof CompactionFailed) void this.#ask(error.message, options);
      else throw error;
    }
  }

  /** `/uncompact`. */
  async uncompact(): Promise<void> {
    const { session, host } = this.#options;
    const { cancelled, editorText } = await session.compaction.uncompact();
    if (cancelled) return host.status("Navigation cancelled");
    if (editorText !== undefined && host.getEditorText().trim() === "") host.setEditorText(editorText);
    host.status(
      "The conversation is back above its last compaction; what came after it is on a branch of its own (/back returns)",
    );
  }

  #review(summary: string, signal: AbortSignal): Promise<string | undefined> {
    const { host, keybindings, makeEditor, status } = this.#options;
    status.hide();
    return new Promise((resolve) => {
      const close = (result: string | undefined): void => {
        // The summary is still being written then, and another list may be open.
        signal.removeEventListener("abort", drop);
        host.hide();
        resolve(result);
      };
      const drop = (): void => close(undefined);
      signal.addEventListener("abort", drop, { once: true });
      const editor = new SummaryEditor({
        editor: makeEditor(),
        summary,
        keybindings,
        onAccept: close,
        onDrop: drop,
      });
      host.show(editor);
      host.requestRender();
    });
  }

  async #ask(reason: string, options: Pick<CompactOptions, "focus" | "digest">): Promise<void> {
    const { host, questions } = this.#options;
    const next = await questions.choose<Pick<CompactOptions, "focus" | "digest"> | undefined>({
      title: "The context was not compacted",
      text: sanitiseLine(reason),
      choices: [
        { label: "Try again", value: options },
        {
          label: "Write a digest without a model: prompts, files, commands, errors, last words",
          value: { digest: true },
        },
        { label: "Leave the context as it is", value: undefined },
      ],
    });
    if (next !== undefined) this.compact(next).catch((error: unknown) => host.error(reasonOf(error)));
  }

  #key(action: "app.interrupt"): string {
    return keyNames(this.#options.keybindings, action).split(", ", 1)[0] ?? "";
  }
}
