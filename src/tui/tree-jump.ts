/**
 * `TreeJump`: what happens between an entry that was chosen in the tree and the screen after the jump: the question
 * about a summary, the wait for it, and what to do when there is none.
 * Part of `tui/`; used by selector-controller.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import { SummaryFailedError } from "../agent/jump-summary.ts";
import type { SummaryOptions } from "../agent/jump-summary.ts";
import { leavesConversation } from "../agent/navigation.ts";
import { currentOrdinal } from "../tree/outline-layout.ts";
import type { Questions } from "./questions.ts";
import { sanitiseLine } from "./sanitise.ts";

export interface TreeJumpOptions {
  session: AgentSession;
  host: {
    setEditorText(text: string): void;
    getEditorText(): string;
    status(text: string): void;
    rebuildChat(): void;
  };
  questions: Questions;
  /** Jump without asking whether to summarise. */
  skipsQuestion(): boolean;
  /** Shows the tree again, on this entry. */
  reopenTree(entryId: string): void;
}

const NO_SUMMARY: SummaryOptions = {};
const SUMMARISE: SummaryOptions = { summarize: true };
const DIGEST: SummaryOptions = { summarize: "digest" };

export class TreeJump {
  readonly #options: TreeJumpOptions;

  constructor(options: TreeJumpOptions) {
    this.#options = options;
  }

  /** `abort`: a running turn is stopped. Rejects when the jump fails for another reason than its summary. */
  async go(entryId: string, abort: boolean): Promise<void> {
    let wanted = await this.#askForSummary(entryId);
    while (wanted !== undefined) {
      const failure = await this.#jump(entryId, wanted, abort);
      if (failure === undefined) return;
      wanted = await this.#askAfter(failure, wanted);
    }
    this.#options.reopenTree(entryId);
  }

  /** undefined: back to the tree. */
  async #askForSummary(entryId: string): Promise<SummaryOptions | undefined> {
    const { session, questions } = this.#options;
    const { sessionManager } = session;
    const asks = session.canSummarise && !this.#options.skipsQuestion() && leavesConversation(sessionManager, entryId);
    if (!asks) return NO_SUMMARY;
    for (;;) {
      const choice = await questions.choose<SummaryOptions | "custom">({
        title: "Summarise branch?",
        text: "",
        choices: [
          { label: "No summary", value: NO_SUMMARY },
          { label: "Summarise", value: SUMMARISE },
          { label: "Summarise with custom prompt", value: "custom" },
        ],
      });
      if (choice !== "custom") return choice;
      const customInstructions = await questions.write({ title: "Custom instructions for the summary", text: "" });
      if (customInstructions !== undefined) return { ...SUMMARISE, customInstructions };
    }
  }

  #askAfter(failure: SummaryFailedError, tried: SummaryOptions): Promise<SummaryOptions | undefined> {
    return this.#options.questions.choose<SummaryOptions>({
      title: "The branch was not summarised",
      text: sanitiseLine(failure.message),
      choices: [
        { label: "Try again", value: tried },
        { label: "Go without a summary", value: NO_SUMMARY },
        { label: "Use a digest (no model)", value: DIGEST },
      ],
    });
  }

  /** Returns why there is no summary; then nothing was moved. */
  async #jump(entryId: string, wanted: SummaryOptions, abort: boolean): Promise<SummaryFailedError | undefined> {
    const { session, host } = this.#options;
    const index = session.sessionManager.getIndex();
    const before = currentOrdinal(index);
    try {
      const { cancelled, aborted, editorText } = await session.navigateTree(entryId, { ...wanted, abort });
      if (aborted === true && wanted.summarize !== undefined) this.#summaryStopped(entryId);
      else if (cancelled) host.status("Navigation cancelled");
      else this.#arrived(editorText, currentOrdinal(index) === before);
      return undefined;
    } catch (error) {
      if (error instanceof SummaryFailedError) return error;
      throw error;
    }
  }

  #summaryStopped(entryId: string): void {
    this.#options.host.status("Branch summary cancelled");
    this.#options.reopenTree(entryId);
  }

  #arrived(editorText: string | undefined, isSamePlace: boolean): void {
    const { host } = this.#options;
    host.rebuildChat();
    const keepsDraft = host.getEditorText().trim() !== "";
    if (editorText !== undefined && !keepsDraft) host.setEditorText(editorText);
    const draft = editorText !== undefined && keepsDraft ? "; your draft stays in the editor" : "";
    host.status(`Navigated to selected point${draft}${isSamePlace ? "" : " (/back returns)"}`);
  }
}
