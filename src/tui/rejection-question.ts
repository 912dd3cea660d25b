/**
 * What to do when a provider refuses the conversation in every form that was tried: go on from the last good point.
 * Part of `tui/`; used by interactive-mode.
 */
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import { historyRejected } from "../agent/compaction-notices.ts";
import { reasonOf } from "../session/session-errors.ts";
import { placeText } from "./place-text.ts";
import type { Questions } from "./questions.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { SelectorHost } from "./selector-controller.ts";

export interface RejectionQuestionOptions {
  session: AgentSession;
  host: Pick<SelectorHost, "status" | "error" | "getEditorText" | "setEditorText">;
  questions: Pick<Questions, "choose">;
  /** The user is in another list and must not be torn from it. */
  isSelectorOpen(): boolean;
}

type Rejection = Extract<AgentSessionEvent, { type: "history_rejected" }>;

export class RejectionQuestion {
  readonly #options: RejectionQuestionOptions;
  #rejection: Rejection | undefined;

  constructor(options: RejectionQuestionOptions) {
    this.#options = options;
  }

  apply(event: AgentSessionEvent): void {
    if (event.type === "history_rejected") this.#rejection = event;
    if (event.type !== "agent_settled" || this.#rejection === undefined) return;
    const { reason, entryId, goodEntryId } = this.#rejection;
    this.#rejection = undefined;
    const { host, isSelectorOpen } = this.#options;
    if (goodEntryId === undefined || isSelectorOpen()) host.error(historyRejected(sanitiseLine(reason), entryId));
    else void this.#ask(historyRejected(sanitiseLine(reason), entryId), goodEntryId);
  }

  async #ask(text: string, goodEntryId: string): Promise<void> {
    const { host, questions } = this.#options;
    const goes = await questions.choose({
      title: "The provider refuses this conversation",
      text,
      choices: [
        { label: "Go on from the last good point; what came after it stays in the tree", value: true },
        { label: "Stay here; another model may take it (/model)", value: false },
      ],
    });
    if (goes === true) this.#goOnFrom(goodEntryId).catch((error: unknown) => host.error(reasonOf(error)));
    else host.error(text);
  }

  async #goOnFrom(entryId: string): Promise<void> {
    const { session, host } = this.#options;
    const { cancelled, editorText } = await session.navigateTree(entryId);
    if (cancelled) return host.status("Navigation cancelled");
    if (editorText !== undefined && host.getEditorText().trim() === "") host.setEditorText(editorText);
    host.status(`Went back to ${placeText(session.sessionManager.getIndex())} (/back returns)`);
  }
}
