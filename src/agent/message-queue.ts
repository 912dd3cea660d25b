/**
 * `MessageQueue`: what waits to be said to the model, each with an id: what the user typed while a turn ran, and what
 * extensions sent, in one order.
 * Part of `agent/`; Delivery holds one, a run takes from it.
 */
import type { ImageContent } from "../tree/messages.ts";
import type { CustomMessageDraft } from "./hook-port.ts";

/** A steering message goes in after the current tool calls; a follow-up when the agent would stop. */
export type QueuedKind = "steer" | "followUp";

/** Of the user, or of an extension in the user's name. */
export interface QueuedMessage {
  id: string;
  kind: QueuedKind;
  text: string;
  images?: ImageContent[];
}

/** `nextTurn`: behind the user's next prompt; `turnEnd`: behind the current turn, without an answer of its own. */
export type CustomKind = QueuedKind | "nextTurn" | "turnEnd";

/** An extension's own. */
export interface QueuedCustom {
  id: string;
  kind: CustomKind;
  custom: CustomMessageDraft;
}

/** `starts`: it begins a run as soon as nothing else runs. */
export type WaitingMessage = (QueuedMessage | QueuedCustom) & { starts?: true };

/** How many messages one delivery takes. */
export type QueueMode = "one-at-a-time" | "all";

export const isCustom = (message: WaitingMessage): message is QueuedCustom & { starts?: true } => "custom" in message;

export class MessageQueue {
  #messages: readonly WaitingMessage[] = [];
  #lastNumber = 0;
  readonly #changed: (taken: readonly WaitingMessage[]) => void;

  /** `changed` is called after every change with what is on its way to the model. */
  constructor(changed: (taken: readonly WaitingMessage[]) => void) {
    this.#changed = changed;
  }

  /** In the order they were added; a new array after each change. */
  get messages(): readonly WaitingMessage[] {
    return this.#messages;
  }

  /** Those for people to see, as they are shown. */
  get typed(): QueuedMessage[] {
    return this.#messages.flatMap((message) => (isCustom(message) ? [] : [shown(message)]));
  }

  /** Adds a message and returns its id. */
  add(message: Omit<QueuedMessage, "id"> | Omit<QueuedCustom, "id">, starts = false): string {
    this.#lastNumber += 1;
    const id = `queued-${this.#lastNumber}`;
    this.#set([...this.#messages, { id, ...message, ...(starts ? { starts } : {}) } as WaitingMessage]);
    return id;
  }

  /** Puts messages first that were in a queue before; their ids stay. */
  putBack(messages: readonly WaitingMessage[]): void {
    if (messages.length === 0) return;
    const numbers = messages.map(({ id }) => Number(/^queued-(\d{1,15})$/.exec(id)?.[1] ?? 0));
    this.#lastNumber = Math.max(this.#lastNumber, ...numbers);
    this.#set([...messages, ...this.#messages]);
  }

  /** Takes one out; false when it is not there any more. */
  remove(id: string): boolean {
    return this.#takeWhere((message) => message.id === id, false).length > 0;
  }

  /** Takes what is to be delivered now of one kind: the oldest, or all. */
  take(kind: CustomKind, mode: QueueMode): WaitingMessage[] {
    let room = mode === "all" ? Infinity : 1;
    return this.#takeWhere((message) => message.kind === kind && room-- > 0, true);
  }

  /** Takes the oldest for which `isWanted` holds, to be delivered now. */
  takeFirst(isWanted: (message: WaitingMessage) => boolean): WaitingMessage | undefined {
    let room = 1;
    return this.#takeWhere((message) => isWanted(message) && room-- > 0, true)[0];
  }

  /** Takes out what the user has typed, for the editor. */
  takeTyped(): QueuedMessage[] {
    return this.#takeWhere((message) => !isCustom(message), false).flatMap((message) =>
      isCustom(message) ? [] : [shown(message)],
    );
  }

  /** Empties the queue and returns what was in it. */
  takeAll(): WaitingMessage[] {
    return this.#takeWhere(() => true, false);
  }

  #takeWhere(isTaken: (message: WaitingMessage) => boolean, isSending: boolean): WaitingMessage[] {
    const taken: WaitingMessage[] = [];
    const rest: WaitingMessage[] = [];
    for (const message of this.#messages) (isTaken(message) ? taken : rest).push(message);
    if (taken.length > 0) this.#set(rest, isSending ? taken : []);
    return taken;
  }

  #set(messages: readonly WaitingMessage[], taken: readonly WaitingMessage[] = []): void {
    this.#messages = messages;
    this.#changed(taken);
  }
}

const shown = ({ id, kind, text, images }: QueuedMessage): QueuedMessage => ({
  id,
  kind,
  text,
  ...(images === undefined ? {} : { images }),
});
