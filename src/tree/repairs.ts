/**
 * `Repair`: something `convertToLlm` changed so that a provider takes the request. All their texts stand here.
 * Part of `tree/`: pure. Used by messages.ts and its parts; shown by the UI beside the message concerned.
 */

/** `call-id` and `thinking` are routine after a change of model; the others mean that the session holds something broken. */
export type RepairKind = keyof typeof TEXTS;

export interface Repair {
  kind: RepairKind;
  /** Which message of the list given to `convertToLlm`. */
  index: number;
  /** One plain sentence for the user. */
  text: string;
}

const TEXTS = {
  "orphan-result": "A tool result without its call was not sent.",
  "missing-result": 'A tool call without a result was answered with "interrupted, no result".',
  "duplicate-result": "A second result for the same tool call was not sent.",
  "late-result": "A tool result was moved next to its call.",
  "call-id": "A tool call was sent under another id, because its own is taken or the model does not accept it.",
  "failed-turn": "An answer that failed or was stopped was not sent.",
  "empty-turn": "An answer without text and tool calls was not sent.",
  "empty-message": "A message without content was not sent.",
  "empty-text": "Empty text was left out of a message.",
  characters: "Characters that no request may hold (NUL, half of a surrogate pair) were replaced.",
  thinking: "Thinking that this model cannot take was not sent.",
  arguments: "Tool call arguments that are not a plain JSON object were replaced.",
  "tool-name": "A tool name that the model would refuse was changed.",
  image: "An image that cannot be sent was replaced by a note.",
  "bad-field": "A field with a wrong type was replaced by its default.",
  "bad-block": "A part of a message that bough does not know was not sent.",
  "bad-message": "Something that is not a message was not sent.",
  "unknown-role": "A message with a role that bough does not know was not sent.",
  "first-answer": "A note was put before the first answer, because a conversation has to start with the user.",
} as const;

/** Reports one change of the message being converted. */
export type Report = (kind: RepairKind) => void;

/** Tells `onRepair` of each kind of change once per message. */
export function repairReporter(onRepair: ((what: Repair) => void) | undefined): (index: number) => Report {
  const told = new Set<string>();
  return (index) => (kind) => {
    const key = `${index} ${kind}`;
    if (onRepair === undefined || told.has(key)) return;
    told.add(key);
    onRepair({ kind, index, text: TEXTS[kind] });
  };
}
