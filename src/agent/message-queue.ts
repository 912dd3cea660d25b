/**
 * `MessageQueue`: what the user typed while a turn ran, each with an id.
 * Part of `agent/`; AgentSession holds one, a run takes from it.
 */
import type { ImageContent } from "../tree/messages.ts";

/** A steering message goes in after the current tool calls; a follow-up when the agent would stop. */
export type QueuedKind = "steer" | "followUp";

export interface QueuedMessage {
  id: string;
  kind: QueuedKind;
  text: string;
  images?: ImageContent[];
}

/** How many messages one delivery takes. */
export type QueueMode = "one-at-a-time" | "all";

export class MessageQueue {
  #messages: readonly QueuedMessage[] = [];
  #lastNumber = 0;
  readonly #changed: (messages: readonly QueuedMessage[], isSending: boolean) => void;

  /** `changed` is called after every change with the new content, and whether what is missing is on its way to the model. */
  constructor(changed: (messages: readonly QueuedMessage[], isSending: boolean) => void) {
    this.#changed = changed;
  }

  /** In the order they were added; a new array after each change. */
  get messages(): readonly QueuedMessage[] {
    return this.#messages;
  }

  /** Adds a message and returns its id. */
  add(kind: QueuedKind, text: string, images?: readonly ImageContent[]): string {
    this.#lastNumber += 1;
    const id = `queued-${this.#lastNumber}`;
    const message = { id, kind, text, ...(images?.length ? { images: [...images] } : {}) };
    this.#set([...this.#messages, message]);
    return id;
  }

  /** Takes one out; false when it is not there any more. */
  remove(id: string): boolean {
    const rest = this.#messages.filter((message) => message.id !== id);
    if (rest.length === this.#messages.length) return false;
    this.#set(rest);
    return true;
  }

  /** Takes what is to be delivered now of one kind: the oldest, or all. */
  take(kind: QueuedKind, mode: QueueMode): QueuedMessage[] {
    const ofKind = this.#messages.filter((message) => message.kind === kind);
    const taken = mode === "all" ? ofKind : ofKind.slice(0, 1);
    if (taken.length > 0)
      this.#set(
        this.#messages.filter((message) => !taken.includes(message)),
        true,
      );
    return taken;
  }

  /** Empties the queue and returns what was in it. */
  takeAll(): QueuedMessage[] {
    const all = [...this.#messages];
    if (all.length > 0) this.#set([]);
    return all;
  }

  #set(messages: readonly QueuedMessage[], isSending = false): void {
    this.#messages = messages;
    this.#changed(messages, isSending);
  }
}
