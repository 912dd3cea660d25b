/**
 * `SessionHolding`: which of several programs writes a session: following one that another writes, taking it over, and
 * letting go of it when another asks.
 * Part of `agent/`; AgentSession has one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { leaseOwner } from "../session/lease.ts";
import { askForHandOver, onHandOverAsked } from "../session/hand-over.ts";
import type { AskedHandOver, HandOverRequest } from "../session/hand-over.ts";
import { SessionInUse } from "../session/session-errors.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import * as notices from "./session-notices.ts";

export interface HoldingHost {
  readonly sessionManager: SessionManager;
  emit(event: AgentSessionEvent): void;
  /** The path shown, its model and thinking level have changed. */
  changed(reason: "follow" | "take-over"): void;
  /** Runs when no turn, command or change of session is under way, and keeps others from starting. */
  whenIdle(change: () => Promise<void>): Promise<void>;
}

/** Between two attempts to take the lease; milliseconds. */
const ATTEMPT_MS = 50;

export class SessionHolding {
  readonly #host: HoldingHost;
  #stop: () => void = () => undefined;

  constructor(host: HoldingHost) {
    this.#host = host;
  }

  /** Whether another program may write the session, and this one only shows it. */
  get isFollowing(): boolean {
    return this.#host.sessionManager.isFollower();
  }

  /** To be called for each session: follows it, or waits to be asked for it. */
  attend(): void {
    this.#stop();
    const { sessionManager } = this.#host;
    if (sessionManager.getSessionFile() === undefined) this.#stop = () => undefined;
    else if (this.isFollowing) this.#stop = this.#follow();
    else this.#stop = onHandOverAsked(sessionManager.getSessionId(), (request) => void this.#handOver(request));
  }

  dispose(): void {
    this.#stop();
  }

  /** Becomes the writer. Asks the program that is, and waits until it lets go, or until `signal` says not to. */
  async takeOver(signal: AbortSignal): Promise<void> {
    const { sessionManager, emit, changed } = this.#host;
    const path = sessionManager.getSessionFile();
    if (path === undefined || !this.isFollowing) throw new Error(notices.NOT_FOLLOWING);
    let asked: AskedHandOver | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        try {
          await sessionManager.setSessionFile(path);
          break;
        } catch (error) {
          if (!(error instanceof SessionInUse)) throw error;
          if (asked === undefined) {
            asked = askForHandOver(sessionManager.getSessionId());
            emit({ type: "notice", level: "info", text: notices.askedForHandOver(error.pid) });
          } else asked.repeat();
          await sleep(ATTEMPT_MS, undefined, { signal });
        }
      }
    } catch (error) {
      if (signal.aborted) throw new Error(notices.HAND_OVER_STOPPED, { cause: error });
      throw error;
    } finally {
      asked?.takeBack();
    }
    this.attend();
    changed("take-over");
    emit({ type: "notice", level: "info", text: notices.TAKEN_OVER });
  }

  #follow(): () => void {
    const { sessionManager, emit, changed } = this.#host;
    return sessionManager.follow((news) => {
      if (news.type === "entries") changed("follow");
      else emit({ type: "notice", level: "warning", text: news.error.message });
    });
  }

  /** Finishes what runs, saves, and goes on as a follower. */
  async #handOver(request: HandOverRequest): Promise<void> {
    const { sessionManager, emit, changed, whenIdle } = this.#host;
    emit({ type: "notice", level: "info", text: notices.handOverAsked(request.pid) });
    try {
      await whenIdle(async () => {
        const path = sessionManager.getSessionFile();
        if (path === undefined || !sessionManager.hasFile()) return;
        if (!request.stands()) {
          emit({ type: "notice", level: "info", text: notices.noLongerAsked(request.pid) });
          return;
        }
        await sessionManager.setSessionFile(path, { readOnly: true });
        request.answered();
        this.attend();
        changed("follow");
        emit({ type: "notice", level: "warning", text: notices.handedOver(request.pid) });
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      emit({ type: "notice", level: "error", text: notices.notHandedOver(reason) });
    }
  }
}

/** What a follower is told when it begins. */
export function followingNotice(manager: SessionManager): string {
  return notices.following(leaseOwner(manager.getSessionId())?.pid);
}
