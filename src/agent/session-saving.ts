/**
 * `SessionSaving`: that what has happened is on disk, and what the user is told where it is not.
 * Part of `agent/`; AgentSession has one.
 */
import { reasonOf } from "../session/session-errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SavingEvent } from "../session/session-writer.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import * as notices from "./session-notices.ts";

export interface SessionSavingHost {
  readonly sessionManager: SessionManager;
  emit(event: AgentSessionEvent): void;
}

export class SessionSaving {
  readonly #host: SessionSavingHost;
  readonly #goesOnUnsaved: boolean;
  /** Why the last save failed, which is said once. */
  #toldUnsaved: string | undefined;
  #toldOutage = false;

  /** `goesOnUnsaved`: see AgentSessionOptions. */
  constructor(host: SessionSavingHost, goesOnUnsaved: boolean) {
    this.#host = host;
    this.#goesOnUnsaved = goesOnUnsaved;
    host.sessionManager.watchSaving((event) => this.#watched(event), { keepsUnsaved: goesOnUnsaved });
  }

  /** What has happened stands even when it could not be saved, and the work goes on; the user is told once. */
  async saved(): Promise<void> {
    const { sessionManager } = this.#host;
    try {
      await sessionManager.flush();
      this.#toldUnsaved = undefined;
    } catch (error) {
      const reason = reasonOf(error);
      // Of entries that wait in memory the user knows already.
      if (sessionManager.getUnsavedCount() === 0 && reason !== this.#toldUnsaved)
        this.#host.emit({ type: "notice", level: "error", text: notices.notSaved(reason) });
      this.#toldUnsaved = reason;
    }
  }

  /** Before work that relies on it: rejects where it could not be saved, unless the session goes on unsaved. */
  workSaved(): Promise<void> {
    return this.#goesOnUnsaved ? this.saved() : this.#host.sessionManager.flush();
  }

  #watched(event: SavingEvent): void {
    if (event.type === "saved") {
      this.#toldOutage = false;
      this.#host.emit({ type: "notice", level: "info", text: notices.SAVED_AGAIN });
    } else if (event.type !== "unsaved") {
      this.#host.emit({ type: "notice", level: "warning", text: event.problem.text });
    } else if (!this.#toldOutage) {
      this.#toldOutage = true;
      const text = notices.goesOnUnsaved(reasonOf(event.error.cause ?? event.error));
      this.#host.emit({ type: "notice", level: "error", text });
    }
  }
}
