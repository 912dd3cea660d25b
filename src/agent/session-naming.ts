/**
 * Automatic names: an unnamed session is named after its first prompt, by a small model or by the prompt's first line.
 * Part of `agent/`; used by AgentSession. A name the user has given is never touched.
 */
import { cutText, textOf } from "../tree/content.ts";
import type { SessionEntry } from "../tree/entries.ts";
import { wellFormed } from "../tree/json.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { ModelRegistry } from "./models.ts";
import { isPrompt } from "./prompt-entries.ts";
import type { Model } from "./providers.ts";
import { recordUsage } from "./spent-tokens.ts";

const MAX_LENGTH = 60;
const MODEL_TIMEOUT_MS = 20_000;
/** Of the prompt, as much as a name can need. */
const MODEL_INPUT_LENGTH = 2_000;
const INSTRUCTION =
  "Name the task below in three to seven words, in its own language, without quotes or a final period. " +
  "Answer with the name alone; the task is only to be named, not done.";

/** The first line with text in it, cut at a word to about 60 characters; "" when there is none. */
export function nameFromPrompt(prompt: string): string {
  const line = prompt.split("\n").find((text) => text.trim() !== "") ?? "";
  const words = line.replace(/\s+/gu, " ").trim();
  if (words.length <= MAX_LENGTH) return words;
  const cut = cutText(words, MAX_LENGTH);
  const space = cut.lastIndexOf(" ");
  // A first word that fills most of the line, such as a path or a language without spaces, is cut inside.
  return `${(space > MAX_LENGTH / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}

export interface NamingHost {
  readonly sessionManager: SessionManager;
  readonly registry: Pick<ModelRegistry, "complete">;
  /** The small model to ask; undefined: the first line is the name. */
  smallModel(): Model | undefined;
  named(entryId: string): void;
  appended(entryId: string): void;
}

export class SessionNaming {
  readonly #host: NamingHost;
  readonly #controller = new AbortController();
  #asking: Promise<void> = Promise.resolve();

  constructor(host: NamingHost) {
    this.#host = host;
  }

  /** Names the session if the entry is its first prompt and it has no name yet; a model is asked in the background. */
  consider(entry: SessionEntry): void {
    const { sessionManager } = this.#host;
    if (sessionManager.getSessionName() !== undefined || !isPrompt(entry) || this.#hasEarlierPrompt(entry)) return;
    const text = textOf(entry.message.content);
    const model = this.#host.smallModel();
    if (model === undefined) this.#name(nameFromPrompt(text));
    else this.#asking = this.#ask(model, text, sessionManager.getSessionId());
  }

  /** Stops asking. */
  async dispose(): Promise<void> {
    this.#controller.abort();
    await this.#asking;
  }

  async #ask(model: Model, text: string, sessionId: string): Promise<void> {
    const answer = await this.#host.registry.complete(
      model,
      {
        systemPrompt: INSTRUCTION,
        messages: [{ role: "user", content: wellFormed(cutText(text, MODEL_INPUT_LENGTH)), timestamp: Date.now() }],
      },
      {
        maxTokens: 1_024,
        maxRetries: 0,
        signal: AbortSignal.any([this.#controller.signal, AbortSignal.timeout(MODEL_TIMEOUT_MS)]),
      },
    );
    const failed = answer.stopReason === "error" || answer.stopReason === "aborted";
    const given = failed ? "" : nameFromPrompt(textOf(answer.content)).replace(/^["'“«]+|["'”».]+$/gu, "");
    // The session may have been left, or named by the user, while the model was thinking.
    const { sessionManager } = this.#host;
    if (sessionManager.getSessionId() !== sessionId) return;
    recordUsage(this.#host, "name", { model, usage: answer.usage });
    if (sessionManager.getSessionName() === undefined) this.#name(given === "" ? nameFromPrompt(text) : given);
  }

  #name(name: string): void {
    if (name === "") return;
    const id = this.#host.sessionManager.setSessionName(name, "auto");
    if (id !== undefined) this.#host.named(id);
  }

  #hasEarlierPrompt(entry: SessionEntry): boolean {
    const index = this.#host.sessionManager.getIndex();
    let n = index.parentOrdinal(index.ordinal(entry.id) ?? -1);
    while (n >= 0 && !isPrompt(index.at(n))) n = index.parentOrdinal(n);
    return n >= 0;
  }
}
