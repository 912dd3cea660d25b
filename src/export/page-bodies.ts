/**
 * What a page carries of an entry beyond its row: what the page shows, and nothing else. Signatures, encrypted thinking
 * and the details of tools stay behind: no reader sees them, and they compress badly.
 * Part of `export/`; used by html.ts. Any field may have any shape.
 */
import type { SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { Spending } from "../tree/usage.ts";
import { isImage } from "./page-images.ts";
import type { ImageReference } from "./page/page-data.ts";

type Fields = Record<string, unknown>;
type TakeImage = (block: Fields) => ImageReference;

/** Known from the row, or the line's own. */
const NOT_IN_BODIES = new Set(["type", "id", "parentId", "timestamp", "c"]);
const NOT_IN_MESSAGES = new Set(["timestamp", "api", "details", "usage", "responseId"]);
const NOT_IN_BLOCKS = new Set(["thinkingSignature", "textSignature", "thoughtSignature", "signature"]);

/** @param takeImage gives what stands in the place of an image */
export function bodyOf(entry: SessionEntry, spending: Spending | undefined, takeImage: TakeImage): Fields {
  const body = without(entry as unknown as Fields, NOT_IN_BODIES);
  if (isRecord(body["message"])) body["message"] = messageBody(body["message"], spending, takeImage);
  if (Array.isArray(body["content"])) body["content"] = body["content"].map((block) => blockBody(block, takeImage));
  if (isRecord(body["replacement"])) body["replacement"] = contentBody(body["replacement"], takeImage);
  if (entry.type === "custom_message" || entry.type === "compaction" || entry.type === "branch_summary") {
    delete body["details"];
    delete body["preserveData"];
  }
  return body;
}

function messageBody(message: Fields, spending: Spending | undefined, takeImage: TakeImage): Fields {
  const body = contentBody(without(message, NOT_IN_MESSAGES), takeImage);
  const details = message["details"];
  if (isRecord(details) && typeof details["diff"] === "string") body["diff"] = details["diff"];
  if (Array.isArray(body["files"])) body["files"] = body["files"].map((file) => fileBody(file, takeImage));
  const spent = spending?.sums;
  // Cents of cents: more digits say nothing and do not compress.
  if (spent !== undefined) body["spent"] = [spent.totalTokens, Math.round(spent.cost * 1e5) / 1e5];
  return body;
}

function contentBody(holder: Fields, takeImage: TakeImage): Fields {
  const { content } = holder;
  return Array.isArray(content) ? { ...holder, content: content.map((block) => blockBody(block, takeImage)) } : holder;
}

function blockBody(block: unknown, takeImage: TakeImage): unknown {
  if (isImage(block)) return takeImage(block);
  return isRecord(block) ? without(block, NOT_IN_BLOCKS) : block;
}

function fileBody(file: unknown, takeImage: TakeImage): unknown {
  return isRecord(file) && isImage(file["image"]) ? { ...file, image: takeImage(file["image"]) } : file;
}

/** A copy; `__proto__` is no name of a field that anything shows. */
function without(fields: Fields, names: ReadonlySet<string>): Fields {
  const kept: Fields = {};
  for (const name of Object.keys(fields)) if (!names.has(name) && name !== "__proto__") kept[name] = fields[name];
  return kept;
}
