/**
 * `RejectedHistory`: the way out when a provider refuses the conversation: the message it names, or else all of the
 * earlier conversation, is sent as plain text, once in a run; if that is refused too, the user is shown the last good
 * point. The file stays as it is; what has helped is kept for the session's next requests.
 * Part of `agent/`; AgentSession has one.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import type { SessionEntry } from "../tree/entries.ts";
import { oneLine } from "../tree/one-line.ts";
import { textOf } from "../tree/content.ts";
import type { Message } from "../tree/messages.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import * as notices from "./compaction-notices.ts";
import { isContextOverflow, isRetryableAssistantError } from "./providers.ts";
import { asText, isRejection, rejectedMessage, turnAround } from "./rejection.ts";

export interface RejectedHistoryHost {
  readonly sessionManager: SessionManager;
  emit(event: AgentSessionEvent): void;
}

/** UTF-16 units of a provider's reason and of the text that is sent instead, in a notice. */
const LONGEST_REASON = 300;
const LONGEST_FORM = 160;

export class RejectedHistory {
  readonly #host: RejectedHistoryHost;
  /** Messages that are sent as text, and the last message of an earlier part that is. */
  readonly #asText = new Set<string>();
  readonly #allUpTo = new Set<string>();
  /** The request that went out last. */
  #messages: readonly Message[] = [];
  #payload: unknown;
  #hasTried = false;

  constructor(host: RejectedHistoryHost) {
    this.#host = host;
  }

  /** A run begins: it may try once. */
  begin(): void {
    this.#hasTried = false;
  }

  /** The messages with what was refused as text. */
  repaired(messages: Message[]): Message[] {
    this.#messages = messages;
    if (this.#asText.size + this.#allUpTo.size === 0) return messages;
    const keys = messages.map(keyOf);
    const end = keys.findLastIndex((key) => this.#allUpTo.has(key)) + 1;
    const repaired: Message[] = end === 0 ? [] : [asText(messages.slice(0, end))];
    for (let at = end; at < messages.length;) {
      const { to } = turnAround(messages, at);
      const turn = messages.slice(at, to);
      repaired.push(...(keys.slice(at, to).some((key) => this.#asText.has(key)) ? [asText(turn)] : turn));
      at = to;
    }
    return repaired;
  }

  /** What goes over the wire: a provider names places in it. */
  sent(payload: unknown): void {
    this.#payload = payload;
  }

  /** True when the answer failed because the history was refused and is now sent in another form. */
  recover(answer: AssistantMessage): boolean {
    const reason = answer.errorMessage ?? "";
    if (isContextOverflow(answer) || isRetryableAssistantError(answer) || !isRejection(reason)) return false;
    const at = rejectedMessage(reason, this.#messages, this.#payload);
    const turn = at === undefined ? undefined : turnAround(this.#messages, at);
    const entry = turn === undefined ? undefined : this.#entryOf(this.#messages[turn.from]!);
    const form = this.#hasTried ? undefined : this.#change(turn);
    const shownReason = oneLine(reason, LONGEST_REASON);
    if (form === undefined) {
      const goodEntryId = entry?.parentId ?? this.#beforeLastGoodAnswer();
      this.#host.emit({
        type: "history_rejected",
        reason: shownReason,
        ...(entry === undefined ? {} : { entryId: entry.id }),
        ...(goodEntryId === null ? {} : { goodEntryId }),
      });
      return false;
    }
    this.#hasTried = true;
    const text = notices.sentAsText(shownReason, entry?.id, oneLine(form, LONGEST_FORM));
    this.#host.emit({ type: "notice", level: "warning", text });
    return true;
  }

  /** Marks the turn, or else all before the last prompt, to be sent as text, which is returned; undefined: nothing is left. */
  #change(turn: { from: number; to: number } | undefined): string | undefined {
    const messages = this.#messages;
    if (turn !== undefined && !isPlain(messages.slice(turn.from, turn.to))) {
      for (const message of messages.slice(turn.from, turn.to)) this.#asText.add(keyOf(message));
      return bodyOf(asText(messages.slice(turn.from, turn.to)));
    }
    const last = messages.findLastIndex(({ role }) => role === "user");
    const earlier = last > 0 && last === messages.length - 1 ? messages.slice(0, last) : messages;
    if (isPlain(earlier)) return undefined;
    this.#allUpTo.add(keyOf(earlier.at(-1)!));
    return bodyOf(asText(earlier));
  }

  #entryOf(message: Message): SessionEntry | undefined {
    const index = this.#host.sessionManager.getIndex();
    for (let n = index.leafOrdinal; n >= 0; n = index.parentOrdinal(n)) {
      if (index.kindAt(n) !== "message") continue;
      const entry = index.at(n);
      if (entry.type !== "message" || entry.message?.role !== message.role) continue;
      if (entry.message.timestamp === message.timestamp) return entry;
    }
    return undefined;
  }

  /** What the last answer that came was asked with. */
  #beforeLastGoodAnswer(): string | null {
    const index = this.#host.sessionManager.getIndex();
    for (let n = index.leafOrdinal; n >= 0; n = index.parentOrdinal(n)) {
      if (index.roleAt(n) !== "assistant") continue;
      const entry = index.at(n);
      if (entry.type !== "message" || entry.message.role !== "assistant") continue;
      if (entry.message.stopReason !== "error" && entry.message.stopReason !== "aborted") return entry.parentId;
    }
    return null;
  }
}

/** The same message has it in the next request, too. */
const keyOf = ({ role, timestamp, ...rest }: Message): string =>
  `${role} ${timestamp} ${JSON.stringify("content" in rest ? rest.content : "")}`;

/** Only a user's text: there is no other form of it. */
const isPlain = (messages: readonly Message[]): boolean =>
  messages.every(
    ({ role, content }) =>
      role === "user" && (typeof content === "string" || content.every(({ type }) => type === "text")),
  );

const bodyOf = ({ content }: Message): string =>
  textOf(content).replace(/^[^<]*<conversation>\n|\n<\/conversation>$/g, "");
