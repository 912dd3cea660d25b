/**
 * `SessionEvents`: who listens to a session, and that listeners disturb neither it nor each other.
 * Part of `agent/`; AgentSession has one.
 */
import type { AgentSessionEvent, AgentSessionListener } from "./agent-session-events.ts";

type Pace = () => Promise<void> | undefined;

export class SessionEvents {
  readonly #listeners = new Set<AgentSessionListener>();
  readonly #paces = new Set<Pace>();
  readonly #unheard: AgentSessionEvent[] = [];

  /** See AgentSession.subscribe. */
  subscribe(listener: AgentSessionListener, pace: Pace | undefined): () => void {
    this.#listeners.add(listener);
    if (pace !== undefined) this.#paces.add(pace);
    for (const notice of this.#unheard.splice(0)) this.emit(notice);
    return () => {
      this.#listeners.delete(listener);
      if (pace !== undefined) this.#paces.delete(pace);
    };
  }

  /** A listener that throws is a mistake of its own; it must not stop a turn. */
  emit(event: AgentSessionEvent): void {
    if (this.#listeners.size === 0 && event.type === "notice") this.#unheard.push(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  /** Settles when the listeners have taken in what they were told; undefined when they have. */
  paced(): Promise<unknown> | undefined {
    const waits = [...this.#paces].map((pace) => pace()).filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Promise.all(waits);
  }
}
