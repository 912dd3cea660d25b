/**
 * What a provider demands of the list of messages in a request, as a checker that knows nothing of how bough makes one.
 * For tests of `convertToLlm` and of the requests that AgentSession sends.
 */
import assert from "node:assert/strict";
import type { Message } from "../../src/tree/messages.ts";

type Fields = Record<string, unknown>;

/** Every fault of the list, each with the place of its message. Empty: a provider takes it. */
export function requestFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  /** Calls of the answer before, in order, that still lack their result. */
  let open: Fields[] = [];
  let hasStarted = false;
  messages.forEach((message: unknown, index) => {
    const fault = (text: string): void => void faults.push(`${index}: ${text}`);
    if (!isRecord(message)) return fault("not a message");
    if (typeof message["timestamp"] !== "number") fault("no timestamp");
    if (message["role"] === "toolResult") {
      const call = open.shift();
      if (call === undefined) fault("result without a call right before it");
      else if (call["id"] !== message["toolCallId"]) fault("result out of order");
      else if (call["name"] !== message["toolName"]) fault("result under another tool's name");
      if (typeof message["isError"] !== "boolean") fault("no isError");
      checkBlocks(message["content"], ["text", "image"], fault);
      return;
    }
    for (const call of open) fault(`call ${String(call["id"])} without a result`);
    open = [];
    switch (message["role"]) {
      case "system":
        checkSystem(message, fault);
        break;
      case "user":
        hasStarted = true;
        if (typeof message["content"] === "string") checkText(message["content"], fault);
        else checkBlocks(message["content"], ["text", "image"], fault);
        break;
      case "assistant":
        if (!hasStarted) fault("an answer before any user message");
        open = checkAnswer(message, ids, fault);
        break;
      default:
        fault(`role ${String(message["role"])}`);
    }
  });
  for (const call of open) faults.push(`end: call ${String(call["id"])} without a result`);
  return faults;
}

export function assertValidRequest(messages: readonly Message[]): void {
  assert.deepEqual(requestFaults(messages), []);
}

type Fault = (text: string) => void;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkText(text: unknown, fault: Fault): void {
  if (typeof text !== "string") return fault("text that is no string");
  if (text.trim() === "") fault("blank text");
  checkCharacters(text, fault);
}

function checkCharacters(text: string, fault: Fault): void {
  if (/\p{Surrogate}/u.test(text)) fault("half of a surrogate pair");
  if (/\0/.test(text)) fault("NUL");
}

function checkBlocks(content: unknown, types: string[], fault: Fault): void {
  if (!Array.isArray(content) || content.length === 0) return fault("no content");
  for (const block of content as unknown[]) {
    if (!isRecord(block) || !types.includes(block["type"] as string)) fault("unknown block");
    else if (block["type"] === "text") checkText(block["text"], fault);
    else if (block["type"] === "image") checkImage(block, fault);
  }
}

const IMAGE_HEADS: [mimeType: string, isHead: (head: string) => boolean][] = [
  ["image/png", (head) => head.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (head) => head.startsWith("\xff\xd8\xff")],
  ["image/gif", (head) => head.startsWith("GIF87a") || head.startsWith("GIF89a")],
  ["image/webp", (head) => head.startsWith("RIFF") && head.endsWith("WEBP")],
];

function checkImage(image: Fields, fault: Fault): void {
  const { data, mimeType } = image;
  if (typeof data !== "string") return fault("image without data");
  if (data.length > 5 * 1024 * 1024) fault("image too large");
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data) fault("image that is not base64");
  const head = bytes.toString("latin1", 0, 12);
  const kind = IMAGE_HEADS.find(([, isHead]) => isHead(head))?.[0];
  if (kind === undefined || kind !== mimeType) fault("image that is not what it says");
}

function checkSystem(message: Fields, fault: Fault): void {
  const { content } = message;
  if (typeof content !== "string") checkBlocks(content, ["text"], fault);
  else if (content !== "") checkText(content, fault);
  checkJson(message["sections"] ?? null, fault);
  checkJson(message["toolsAdded"] ?? null, fault);
  checkJson(message["toolsRemoved"] ?? null, fault);
}

/** Returns its calls. */
function checkAnswer(message: Fields, ids: Set<string>, fault: Fault): Fields[] {
  const { content, stopReason } = message;
  if (!Array.isArray(content)) fault("answer without a list of content");
  if (!["stop", "length", "toolUse", "deferred"].includes(stopReason as string))
    fault(`stop reason ${String(stopReason)}`);
  for (const field of ["api", "provider", "model"]) if (typeof message[field] !== "string") fault(`no ${field}`);
  if (!isRecord(message["usage"]) || typeof message["usage"]["totalTokens"] !== "number") fault("no usage");
  const blocks = (Array.isArray(content) ? content : []) as Fields[];
  const calls = blocks.filter((block) => block["type"] === "toolCall");
  if (calls.length === 0 && !blocks.some((block) => block["type"] === "text")) fault("empty answer");
  if (blocks.at(-1)?.["type"] === "thinking") fault("thinking at the end of an answer");
  for (const block of blocks) {
    if (block["type"] === "text") checkText(block["text"], fault);
    else if (block["type"] === "thinking") checkThinking(block, fault);
    else if (block["type"] === "toolCall") checkCall(block, ids, fault);
    else fault(`block ${String(block["type"])} in an answer`);
  }
  return calls;
}

function checkThinking(block: Fields, fault: Fault): void {
  const { thinking, thinkingSignature } = block;
  if (typeof thinking !== "string") return fault("thinking that is no string");
  if (thinking.trim() === "" && typeof thinkingSignature !== "string") fault("empty thinking");
  if (block["redacted"] === true && typeof thinkingSignature !== "string") fault("redacted thinking without signature");
  checkCharacters(thinking, fault);
  checkJson(thinkingSignature ?? null, fault);
}

function checkCall(call: Fields, ids: Set<string>, fault: Fault): void {
  const { id, name } = call;
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,1024}$/.test(id)) fault("call id that a provider refuses");
  const head = String(id).split("|")[0]!;
  if (ids.has(head)) fault(`call id ${head} used twice`);
  ids.add(head);
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) fault("tool name that a provider refuses");
  if (!isRecord(call["arguments"])) fault("arguments that are no object");
  checkJson(call["arguments"], fault);
}

/** Any value that is sent as JSON. */
function checkJson(value: unknown, fault: Fault): void {
  try {
    const text = JSON.stringify(value);
    if (/\\u0000|\\ud[89ab]|\\ud[c-f]/.test(text.replaceAll("\\\\", ""))) fault("JSON with half a character or NUL");
  } catch (error) {
    fault(`no JSON: ${String(error)}`);
  }
}
