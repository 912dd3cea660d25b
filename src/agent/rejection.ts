/**
 * A provider that refuses the conversation: whether an error means that, which message it means, and a form of it that no
 * provider has a reason to refuse. `convertToLlm` makes every request valid as far as is known; this is for the rest.
 * Part of `agent/`; used by rejected-history. Pure.
 */
import { inTags } from "../tree/content.ts";
import { isRecord } from "../tree/json.ts";
import type { Message } from "../tree/messages.ts";
import { conversationText } from "./conversation-text.ts";

/** As the clients of all providers put it at the start of an error. */
const BAD_REQUEST = /^(?:[\w .-]+ API error \((?:400|422)\)|(?:400|422)\b)/i;
/** A place in the list of messages, under its name in the protocols. */
const PLACE = /\b(messages|input|contents)(?:\.|\[|\.\[)(\d+)\b/i;
const ABOUT_MESSAGES =
  /\bmessages?\b|\bcontents?\b|\btool[ _-]?(?:use|results?|calls?)\b|\bfunction[ _-]?(?:calls?|responses?)\b|\bimages?\b|\bthinking\b|\bsignature\b|\breasoning\b|\broles?\b/i;
const ABOUT_OTHER =
  /api[ _-]?key|credit|billing|quota|max_(?:output_|completion_)?tokens|temperature|model[^.]{0,40}(?:not found|does not exist|not supported)|tools\.\d/i;

/** Some servers count their calls from 0; such an id is in any error by chance. */
const SHORTEST_ID = 5;

/** Whether the error says that the messages of the request are not as the provider wants them. */
export function isRejection(errorMessage: string): boolean {
  if (!BAD_REQUEST.test(errorMessage)) return false;
  if (PLACE.test(errorMessage)) return true;
  // Most errors carry their text as JSON under "message".
  const said = errorMessage.replace(/"message"\s*:/gi, "");
  return ABOUT_MESSAGES.test(said) && !ABOUT_OTHER.test(said);
}

/**
 * The place in `messages` of the one that the error names, by the id of a call or by its place in what was sent;
 * undefined when it names none.
 */
export function rejectedMessage(
  errorMessage: string,
  messages: readonly Message[],
  payload: unknown,
): number | undefined {
  const isNamed = (id: string): boolean => id.length >= SHORTEST_ID && errorMessage.includes(id);
  const byId = messages.findIndex((message) => marksOf(message).ids.some(isNamed));
  if (byId >= 0) return byId;
  const [, list, place] = PLACE.exec(errorMessage) ?? [];
  if (list === undefined || !isRecord(payload)) return undefined;
  const items = payload[list.toLowerCase()];
  const item: unknown = Array.isArray(items) ? items[Number(place)] : undefined;
  if (item === undefined) return undefined;
  const written = JSON.stringify(item);
  const at = messages.findIndex((message) => isIn(message, written));
  return at < 0 ? undefined : at;
}

/** The turn that holds a message: an answer and its results; any other message is a turn by itself. */
export function turnAround(messages: readonly Message[], at: number): { from: number; to: number } {
  let from = at;
  while (from > 0 && messages[from]!.role === "toolResult") from--;
  let to = from + 1;
  while (to < messages.length && messages[to]!.role === "toolResult") to++;
  return { from, to };
}

/** What was said and done, as the text of one user message: without calls, images and thinking there is nothing to refuse. */
export function asText(messages: readonly Message[]): Message {
  const text = `This part of the conversation is given as text.\n\n${inTags("conversation", conversationText(messages))}`;
  return { role: "user", content: [{ type: "text", text }], timestamp: messages[0]?.timestamp ?? 0 };
}

/** What a message can be recognised by in a request. */
function marksOf(message: Message): { ids: string[]; texts: string[] } {
  if (message.role === "toolResult") return { ids: [message.toolCallId], texts: [] };
  if (message.role === "system" || typeof message.content === "string")
    return { ids: [], texts: message.role === "user" ? [message.content as string] : [] };
  const ids: string[] = [];
  const texts: string[] = [];
  for (const block of message.content) {
    if (block.type === "toolCall") ids.push(block.id);
    else if (block.type === "text") texts.push(block.text);
  }
  return { ids, texts };
}

function isIn(message: Message, written: string): boolean {
  const { ids, texts } = marksOf(message);
  if (ids.length > 0) return ids.some((id) => written.includes(id));
  return texts.some((text) => text.trim() !== "" && written.includes(JSON.stringify(text).slice(1, -1)));
}
