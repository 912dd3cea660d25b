/**
 * `Delivery`: how messages that were not typed as the next prompt reach the model: what the user queued, and what
 * extensions send in their own name or the user's. Each is delivered once, over a jump, an abort and a crash.
 * Part of `agent/`; AgentSession has one, runs take from it.
 */
import { textOf } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { sendable } from "../tree/json.ts";
import type { CustomMessage, ImageContent, TextContent, UserMessage } from "../tree/messages.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { SessionIndexView, SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { BranchWriter } from "./branch-writer.ts";
import type { CustomMessageDraft, InputSource } from "./hook-port.ts";
import { MessageQueue, isCustom } from "./message-queue.ts";
import type { QueuedKind, QueuedMessage, QueueMode, WaitingMessage } from "./message-queue.ts";
import { promptMessage, promptOf } from "./prompt-entries.ts";
import type { Prompt } from "./prompt-entries.ts";
import { QueueFile, isDraft } from "./queue-file.ts";
import type { KeptCustom, UnsentMessage } from "./queue-file.ts";
import * as notices from "./session-notices.ts";

/** What a run begins with or takes from the queue. */
export type RunMessage = UserMessage | CustomMessage;

export interface CustomMessageOptions {
  /** Idle: begin a run with the message; default false. Running: false adds it behind the turn; default true. */
  triggerTurn?: boolean;
  /** Running: `steer`, the default, or `followUp`. `nextTurn`, also when idle, holds it for the user's next prompt. */
  deliverAs?: QueuedKind | "nextTurn";
}

export interface DeliveryHost {
  readonly sessionManager: SessionManager;
  mode(kind: QueuedKind): QueueMode;
  emit(event: AgentSessionEvent): void;
  appended(entryId: string): void;
  /** A message is in the session without a run: listeners and hooks are told as if a run had brought it. */
  shown(message: CustomMessage): void;
  isRunning(): boolean;
  isStopping(): boolean;
  /** A jump or a change of session is under way, or hooks are told of the end of a run. */
  isBusy(): boolean;
  isFollowing(): boolean;
  /** Asks the hooks what becomes of a prompt; undefined: they have dealt with it. */
  input(prompt: Prompt, source: InputSource, queuedAs?: QueuedKind): Promise<Prompt | undefined>;
  /** Runs until all is done. Rejects, before anything is written, without a usable model. */
  run(message: RunMessage): Promise<void>;
}

/** Of more waiting messages the file is written once for all that happens at a time, not for each. */
const KEPT_AT_ONCE = 32;

export class Delivery {
  readonly #host: DeliveryHost;
  readonly #queue: MessageQueue;
  readonly #file = new QueueFile();
  /** Taken from the queue and not in the session yet; `entries`: how many the session had then. */
  readonly #sending = new Map<string, { message: WaitingMessage; entries: number }>();
  readonly #ids = new WeakMap<RunMessage, string>();
  /** Of the last run of the program; on disk until they are sent or thrown away. */
  #unsent: (UnsentMessage & { kind: string })[] = [];
  #hasGivenUnsent = false;
  /** The file is to be written. */
  #due: NodeJS.Immediate | undefined;

  constructor(host: DeliveryHost) {
    this.#host = host;
    this.#queue = new MessageQueue((taken) => this.#changed(taken));
  }

  /** What people are shown as waiting, oldest first. */
  get typed(): readonly QueuedMessage[] {
    return this.#queue.typed;
  }
  /** Whether anything waits, of extensions as well. */
  get hasWaiting(): boolean {
    return this.#queue.messages.length > 0;
  }

  /** Queues a message of the user; see QueuedKind. Returns its id. */
  queue(kind: QueuedKind, text: string, images: readonly ImageContent[] = []): string {
    return this.#queue.add({ kind, text, ...(images.length === 0 ? {} : { images: [...images] }) });
  }
  /** Takes out what the user has typed, for the editor. */
  takeTyped(): QueuedMessage[] {
    return this.#queue.takeTyped();
  }
  /** False when it has been sent or taken already. */
  remove(id: string): boolean {
    return this.#queue.remove(id);
  }

  /** Sends a message of an extension. Settles when it is queued, in the session, or the run it has begun is done. */
  async sendCustom(given: CustomMessageDraft, options: CustomMessageOptions = {}): Promise<void> {
    const { triggerTurn, deliverAs } = options;
    const host = this.#host;
    const custom = draftOf(given);
    if (host.isFollowing()) throw new Error(notices.FOLLOWING);
    const kind = triggerTurn === false ? "turnEnd" : (deliverAs ?? "steer");
    if (deliverAs === "nextTurn") this.#queue.add({ kind: deliverAs, custom });
    else if (host.isRunning()) this.#queue.add({ kind, custom });
    else if (host.isBusy())
      this.#queue.add({ kind: triggerTurn === true ? kind : "turnEnd", custom }, triggerTurn === true);
    else if (triggerTurn === true) await host.run(customMessage(custom));
    else this.#append(customMessage(custom));
  }

  /** Sends a message in the user's name: at once, or queued, as `steer` by default, while a run goes on. */
  async sendUser(
    content: string | (TextContent | ImageContent)[],
    options: { deliverAs?: QueuedKind } = {},
  ): Promise<void> {
    const host = this.#host;
    const { deliverAs: kind = "steer" } = options;
    const given = promptOf(content);
    if (host.isFollowing()) throw new Error(notices.FOLLOWING);
    if (given.text.trim() === "" && given.images === undefined) throw new Error(notices.EMPTY_PROMPT);
    const prompt = await host.input(given, "extension", host.isRunning() ? kind : undefined);
    if (prompt === undefined) return;
    if (host.isRunning()) this.#queue.add({ kind, ...prompt }, host.isStopping());
    else if (host.isBusy()) this.#queue.add({ kind, ...prompt }, true);
    else await host.run(promptMessage(prompt));
  }

  /** What a run sends now of one kind. */
  take(kind: QueuedKind): RunMessage[] {
    return this.#queue.take(kind, this.#host.mode(kind)).map((message) => this.#messageFor(message));
  }
  /** What was held for the user's prompt that is sent now. */
  takeHeld(): RunMessage[] {
    return this.#queue.take("nextTurn", "all").map((message) => this.#messageFor(message));
  }

  /** A message that a run begins with or has taken is in the session. */
  written(message: RunMessage): void {
    const id = this.#ids.get(message);
    if (id === undefined || !this.#sending.delete(id)) return;
    // The file knows that they are on their way: which of them have arrived is in the session.
    if (this.#sending.size <= KEPT_AT_ONCE) this.#keep();
  }
  /** What the run has taken and not written waits again. */
  runEnded(): void {
    const left = [...this.#sending.values()].map(({ message }) => message);
    this.#sending.clear();
    this.#queue.putBack(left);
  }
  /** An entry has come: what the editor got back from an earlier run is sent now, or was thrown away. */
  appended({ type }: SessionEntry): void {
    if (type !== "message" || !this.#hasGivenUnsent || this.#unsent.length === 0) return;
    this.#unsent = [];
    this.#keep();
  }

  /** Appends what waits for the end of a turn, to its branch. */
  turnEnded(branch?: BranchWriter): void {
    for (const message of this.#queue.take("turnEnd", "all")) this.#append(this.#messageFor(message), branch);
  }

  /** Nothing runs any more: what was sent meanwhile is added, and the oldest message that is to begin a run does. */
  async wake(): Promise<void> {
    const host = this.#host;
    if (host.isRunning() || host.isBusy()) return;
    this.turnEnded();
    await this.#start(this.#queue.takeFirst(({ starts }) => starts === true));
  }

  /** Sends what was queued while nothing could be sent; the run takes the rest of the queue along. */
  sendQueued(): void {
    if (this.#host.isRunning()) return;
    const next = this.#queue.takeFirst(({ kind }) => kind === "steer" || kind === "followUp");
    this.#start(next).catch((error: unknown) =>
      this.#host.emit({ type: "notice", level: "error", text: reasonOf(error) }),
    );
  }

  /** Another session is open: what waited for the one before is dropped, with a notice. */
  drop(): void {
    this.#sending.clear();
    this.#cancelDue();
    if (this.#hasGivenUnsent || this.#unsent.length === 0) this.#file.clear();
    else this.#file.leave();
    this.#unsent = [];
    const dropped = this.#queue.takeAll();
    if (dropped.length === 0) return;
    const text = notices.queueDropped(dropped.map(shownText));
    this.#host.emit({ type: "notice", level: "warning", text });
  }

  /** What waited for the session when its program ended. Messages of extensions wait again, those that arrived do not. */
  restore(): void {
    const { sessionManager } = this.#host;
    this.#unsent = [];
    this.#hasGivenUnsent = false;
    if (!sessionManager.hasFile() || sessionManager.isReadOnly()) return;
    const { unsent, custom } = this.#file.left(sessionManager.getSessionId());
    this.#unsent = unsent;
    this.#queue.putBack(notArrived(custom, sessionManager.getIndex()));
  }
  /** The user's messages among them, once, for the editor. */
  takeUnsent(): UnsentMessage[] {
    if (this.#hasGivenUnsent) return [];
    this.#hasGivenUnsent = true;
    return this.#unsent.map(({ text, images }) => ({ text, ...(images === undefined ? {} : { images }) }));
  }

  /** What still waits stays on disk. */
  dispose(): void {
    if (this.#cancelDue()) this.#write();
    if (!this.hasWaiting && (this.#hasGivenUnsent || this.#unsent.length === 0)) this.#file.clear();
  }

  async #start(message: WaitingMessage | undefined): Promise<void> {
    if (message === undefined) return;
    try {
      await this.#host.run(this.#messageFor(message));
    } finally {
      this.runEnded();
    }
  }

  #messageFor(waiting: WaitingMessage): RunMessage {
    const message = isCustom(waiting) ? customMessage(waiting.custom) : promptMessage(waiting);
    this.#ids.set(message, waiting.id);
    return message;
  }

  #append(message: RunMessage, branch?: BranchWriter): void {
    if (message.role === "user") return;
    const { sessionManager } = this.#host;
    const append = appending(message);
    const id = branch === undefined ? append(sessionManager) : branch.write(append);
    this.written(message);
    if (id === undefined) return;
    this.#host.appended(id);
    this.#host.shown(message);
  }

  #changed(taken: readonly WaitingMessage[]): void {
    const entries = this.#host.sessionManager.getIndex().size;
    for (const message of taken) this.#sending.set(message.id, { message, entries });
    // A prompt on its way stays in the file as it is; a message of an extension must not be sent again.
    if (taken.some(isCustom)) this.#write();
    else if (taken.length === 0) this.#keep();
    this.#host.emit({ type: "queue_update", queue: this.typed });
  }

  #keep(): void {
    if (this.#queue.messages.length + this.#sending.size <= KEPT_AT_ONCE) this.#write();
    else this.#due ??= setImmediate(() => this.#write());
  }

  /** Whether it was due. */
  #cancelDue(): boolean {
    const wasDue = this.#due !== undefined;
    clearImmediate(this.#due);
    this.#due = undefined;
    return wasDue;
  }

  #write(): void {
    this.#cancelDue();
    const { sessionManager, emit } = this.#host;
    if (sessionManager.getSessionFile() === undefined) return;
    const sending = [...this.#sending.values()].map(({ message, entries }) => ({ ...message, sending: entries }));
    try {
      const waiting = [...this.#unsent, ...sending, ...this.#queue.messages];
      const leftOut = this.#file.keep(sessionManager.getSessionId(), waiting);
      if (leftOut > 0) emit({ type: "notice", level: "warning", text: notices.imagesNotKept(leftOut) });
    } catch (error) {
      emit({ type: "notice", level: "warning", text: notices.queueNotKept(reasonOf(error)) });
    }
  }
}

/** Appends an extension's message and returns the entry's id. */
export function appending({
  customType,
  content,
  display,
  details,
}: CustomMessage): (manager: SessionManager) => string {
  return (manager) => manager.appendCustomMessageEntry(customType, content, display, details);
}

const customMessage = (custom: CustomMessageDraft): CustomMessage => ({
  role: "custom",
  ...custom,
  timestamp: Date.now(),
});

/** A copy that can be written. Extensions are untyped: content may be missing, details anything. */
export function draftOf(given: CustomMessageDraft): CustomMessageDraft {
  const { customType, content, display, details } = given;
  const draft: unknown = structuredClone(sendable({ customType, content: content ?? [], display: Boolean(display) }));
  if (!isDraft(draft)) throw new TypeError(notices.NOT_A_CUSTOM_MESSAGE);
  return details === undefined ? draft : { ...draft, details: structuredClone(sendable(details)) };
}

/** Without those that were on their way and are among the entries that came after. */
function notArrived(kept: readonly KeptCustom[], index: SessionIndexView): WaitingMessage[] {
  const first = Math.min(index.size, ...kept.map(({ sending = Infinity }) => sending));
  const arrived: { n: number; key: string }[] = [];
  for (let n = Math.max(0, first); n < index.size; n++) {
    if (index.kindAt(n) !== "custom_message") continue;
    const entry = index.at(n);
    if (entry.type === "custom_message") arrived.push({ n, key: keyOf(entry) });
  }
  return kept.flatMap(({ sending, ...message }) => {
    const at =
      sending === undefined ? -1 : arrived.findIndex(({ n, key }) => n >= sending && key === keyOf(message.custom));
    if (at < 0) return [message];
    arrived.splice(at, 1);
    return [];
  });
}

const keyOf = ({ customType, content, display, details }: CustomMessageDraft): string =>
  JSON.stringify([customType, content, display, details]);

const shownText = (message: WaitingMessage): string => {
  if (!isCustom(message)) return message.text;
  const { customType, content, display } = message.custom;
  return display ? textOf(content) : `[${customType}]`;
};
