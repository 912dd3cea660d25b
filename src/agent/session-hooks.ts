/**
 * `SessionHooks`: telling the hooks of one session, and that their failures stay theirs; opening and leaving a session.
 * Part of `agent/`; AgentSession has one, and whatever asks hooks goes through it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../session/session-errors.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { HookEvent, HookName, HookPort, HookResult, SessionShutdownReason } from "./hook-port.ts";
import * as notices from "./session-notices.ts";

/** For all that is done before a session is left, in milliseconds. */
export const SHUTDOWN_MS = 2_000;

export class SessionHooks {
  readonly #port: HookPort;
  readonly #emit: (event: AgentSessionEvent) => void;
  #isOpen = false;

  constructor(port: HookPort, emit: (event: AgentSessionEvent) => void) {
    this.#port = port;
    this.#emit = emit;
  }

  has(name: HookName): boolean {
    return this.#port.has(name);
  }

  /** Never rejects: a failure is told to the user and counts as no answer. */
  async emit<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined> {
    try {
      return await this.emitStrictly(name, event);
    } catch {
      return undefined;
    }
  }

  /** Where a failure must stop what was asked about: tells the user as well, and rejects. */
  async emitStrictly<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined> {
    if (!this.#port.has(name)) return undefined;
    try {
      return await this.#port.emit(name, event);
    } catch (error) {
      this.#emit({ type: "notice", level: "error", text: notices.hookFailed(name, reasonOf(error)) });
      throw error;
    }
  }

  /** An answer that makes no sense counts as none, and the user is told. */
  refused(name: HookName, what: string): undefined {
    this.#emit({ type: "notice", level: "error", text: notices.hookRefused(name, what) });
  }

  /** The session is open for the hooks; nothing when it is so already. */
  async opened(event: HookEvent<"session_start">): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    await this.emit("session_start", event);
  }

  /** The session is about to be left; nothing when it was not open. Whoever takes longer than 2 s is left behind. */
  async leaving(event: HookEvent<"session_shutdown">): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.has("session_shutdown")) return;
    const clock = new AbortController();
    const late = sleep(SHUTDOWN_MS, undefined, { signal: clock.signal }).catch(() => undefined);
    await Promise.race([this.emit("session_shutdown", event), late]);
    clock.abort();
  }

  /**
   * One session in place of another, which is left before and opened anew if `change` fails. Hooks that were never told of
   * a session are not told of its end.
   */
  async replacing(
    left: HookEvent<"session_shutdown"> & { reason: Exclude<SessionShutdownReason, "quit"> },
    previousSessionFile: string | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    const wasOpen = this.#isOpen;
    const previous = previousSessionFile === undefined ? {} : { previousSessionFile };
    await this.leaving(left);
    try {
      await change();
    } catch (error) {
      if (wasOpen) await this.opened({ reason: "resume", ...previous });
      throw error;
    }
    if (wasOpen) await this.opened({ reason: left.reason, ...previous });
  }
}
