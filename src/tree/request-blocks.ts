/**
 * The parts of a message as a provider takes them: text, images, thinking. What is sound passes as the same object.
 * Part of `tree/`: pure. Used by `convertToLlm`.
 */
import { isRecord, sendable, wellFormed } from "./json.ts";
import type { ImageContent, TextContent, ThinkingContent } from "./message-types.ts";
import type { Report } from "./repairs.ts";
import type { RequestTarget } from "./request-target.ts";

/** Anthropic and Bedrock refuse an image whose base64 text is longer. */
export const MAX_IMAGE_LENGTH = 5 * 1024 * 1024;

/** How the base64 text of each kind of image that providers take begins. */
const IMAGE_STARTS: readonly (readonly [mimeType: string, start: RegExp])[] = [
  ["image/png", /^iVBORw0KGgo/],
  ["image/jpeg", /^\/9j\//],
  ["image/gif", /^R0lGOD[dl]/],
  ["image/webp", /^UklGR.{6}XRUJQ/],
];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A message's time in milliseconds; 0 when it has none, which no provider is told. */
export function soundTime(message: Record<string, unknown>): number {
  const { timestamp } = message;
  return typeof timestamp === "number" && Number.isFinite(timestamp) ? timestamp : 0;
}

export type Block = TextContent | ImageContent;

/** Blocks of a user, custom or tool result message; a string counts as one text block. Blank text is left out. */
export function soundBlocks(content: unknown, target: RequestTarget, report: Report): Block[] {
  if (typeof content === "string")
    return content.trim() === "" ? [] : [soundText({ type: "text", text: content }, report)!];
  if (!Array.isArray(content)) return [];
  const blocks: Block[] = [];
  let changed = false;
  for (const block of content) {
    const sound = soundBlock(block, target, report);
    if (sound !== undefined) blocks.push(sound);
    changed ||= sound === undefined || sound !== block;
  }
  return changed ? blocks : content;
}

function soundBlock(block: unknown, target: RequestTarget, report: Report): Block | undefined {
  if (isRecord(block) && block["type"] === "text") return soundText(block, report);
  if (isRecord(block) && block["type"] === "image") return soundImage(block, target, report);
  report("bad-block");
  return undefined;
}

/** A text block with something in it; `undefined` for blank text or no text. */
export function soundText(block: Record<string, unknown>, report: Report): TextContent | undefined {
  const { text, textSignature } = block;
  if (typeof text !== "string") {
    report("bad-block");
    return undefined;
  }
  if (text.trim() === "") {
    report("empty-text");
    return undefined;
  }
  const whole = wellFormed(text);
  if (whole !== text) report("characters");
  const signed = textSignature === undefined || isSoundSignature(textSignature);
  if (!signed) report("bad-field");
  if (whole === text && signed) return block as unknown as TextContent;
  return {
    type: "text",
    text: whole,
    ...(signed && textSignature !== undefined ? { textSignature } : {}),
  } as TextContent;
}

/** The image, or the text that stands for one the model or any provider would refuse. */
function soundImage(block: Record<string, unknown>, target: RequestTarget, report: Report): Block {
  const reason = target.takesImages ? imageFault(block["data"]) : "this model takes no images";
  if (reason !== undefined) {
    report("image");
    return { type: "text", text: `(image left out: ${reason})` };
  }
  const data = block["data"] as string;
  const mimeType = mimeTypeOf(data)!;
  if (block["mimeType"] === mimeType) return block as unknown as ImageContent;
  report("bad-field");
  return { type: "image", data, mimeType };
}

/** Why no provider takes an image with this base64 text; undefined when they do. */
export function imageFault(data: unknown): string | undefined {
  if (typeof data !== "string" || data === "") return "its data is missing";
  if (data.length > MAX_IMAGE_LENGTH) return "it is larger than 5 MB";
  // oh-my-pi keeps large images in a folder of its own and stores where.
  if (data.startsWith("blob:")) return "it is kept outside of the session file";
  if (data.length % 4 !== 0 || !BASE64.test(data)) return "its data is damaged";
  return mimeTypeOf(data) === undefined ? "it is not a PNG, JPEG, GIF or WebP image" : undefined;
}

/** Read from the data, not from the label: providers compare the two. */
function mimeTypeOf(data: string): string | undefined {
  const head = data.slice(0, 24);
  return IMAGE_STARTS.find(([, start]) => start.test(head))?.[0];
}

/**
 * Thinking that may go back to the model that wrote it; `own` says whether this model did. `undefined` when another
 * model wrote it, when there is nothing in it, or when its signature could not hold.
 */
export function soundThinking(
  block: Record<string, unknown>,
  own: boolean,
  target: RequestTarget,
): ThinkingContent | undefined {
  const { thinking, thinkingSignature: signature, redacted } = block;
  // Thinking is never mended: its signature covers every character.
  if (!own || typeof thinking !== "string" || wellFormed(thinking) !== thinking) return undefined;
  if (signature !== undefined && !isSoundSignature(signature)) return undefined;
  if (redacted !== undefined && typeof redacted !== "boolean") return undefined;
  const signed = signature !== undefined && signature.trim() !== "";
  if (!signed && (redacted === true || target.needsSignatures || thinking.trim() === "")) return undefined;
  // A blank one as well: it would be parsed.
  if (signature && target.storesReasoningItems && !isReasoningItem(signature)) return undefined;
  return block as unknown as ThinkingContent;
}

export function isSoundSignature(value: unknown): value is string {
  return typeof value === "string" && wellFormed(value) === value;
}

function isReasoningItem(signature: string): boolean {
  try {
    const item: unknown = JSON.parse(signature);
    return isRecord(item) && item["type"] === "reasoning" && sendable(item) === item;
  } catch {
    return false;
  }
}
