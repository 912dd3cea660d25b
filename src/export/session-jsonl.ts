/**
 * A session or a stretch of it as JSONL: a session file that opens. What is not masked keeps its bytes.
 * Part of `export/`; used by export-session.ts.
 */
import { CURRENT_SESSION_VERSION } from "../tree/entries.ts";
import type { LeafRecord, SessionEntry } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import type { LineSource } from "../tree/line-source.ts";
import { LineSplitter } from "../tree/line-splitter.ts";
import { parseLine } from "../tree/line-parser.ts";
import { stretchLines } from "../session/branched-session.ts";
import { NEWLINE, copiedLines, lineBytes } from "../session/copied-lines.ts";
import type { OpenSession } from "../session/open-session.ts";
import { newEntryId } from "../session/session-ids.ts";
import type { Redaction } from "./redaction.ts";
import type { SessionPart } from "./session-part.ts";

/**
 * The pieces of the file; each lasts until the next one is asked for.
 * @param path the stretch; undefined for all
 * @param images false: a note stands in the place of each
 */
export function jsonlPieces(
  session: OpenSession,
  path: readonly number[] | undefined,
  part: SessionPart,
  images: boolean,
): Iterable<Uint8Array> {
  const { redaction } = part;
  const withImages = images ? undefined : withoutImages;
  if (path === undefined && redaction !== undefined) return maskedSession(session, part, withImages);
  const lines = path === undefined ? copiedLines(asRead(session)) : stretchLines(session, path);
  return redaction === undefined && withImages === undefined ? lines : changedLines(lines, redaction, withImages);
}

type Change = (record: JsonRecord) => JsonRecord;
type JsonRecord = Record<string, unknown>;

/** The file as far as it was read: somebody may be writing to it. */
function asRead({ store, counted }: OpenSession): LineSource {
  const end = counted.offset;
  return { read: (offset, length) => store.read(offset, Math.max(0, Math.min(length, end - offset))) };
}

/**
 * All entries encoded anew, since a line can hold more than a reader sees of it (a member twice, a damaged part), and at
 * the end where the session stands.
 */
function* maskedSession(
  { index }: OpenSession,
  part: SessionPart,
  change: Change = (record) => record,
): Generator<Uint8Array> {
  const { version = 0 } = part.header;
  // What is read of older versions has the newest shape.
  yield lineBytes(
    version > CURRENT_SESSION_VERSION ? part.header : { ...part.header, version: CURRENT_SESSION_VERSION },
  );
  let timestamp = part.header.timestamp;
  for (let n = 0; n < part.size; n++) {
    const entry = part.at(n);
    timestamp = entry.timestamp;
    yield lineBytes(change(entry as unknown as JsonRecord));
  }
  const id = newEntryId((candidate) => index.isTaken(candidate));
  const parentId = part.leafOrdinal < 0 ? null : part.at(part.leafOrdinal).id;
  const leaf: LeafRecord = { type: "leaf", id, parentId, timestamp, via: "jump" };
  if (part.size > 0) yield lineBytes(leaf);
}

/** Lines in which something is changed; where nothing is masked all others keep their bytes, bad ones too. */
function* changedLines(
  pieces: Iterable<Uint8Array>,
  redaction: Redaction | undefined,
  change: Change = (record) => record,
): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  const splitter = new LineSplitter((line) => {
    const { records } = parseLine(line);
    const changed = records.map(({ record }) => change(record));
    const isSame = changed.every((record, n) => record === records[n]!.record);
    if (redaction === undefined && isSame) waiting.push(Buffer.from(line.bytes), NEWLINE);
    else for (const record of changed) waiting.push(lineBytes(maskedRecord(record, redaction)));
  });
  for (const piece of pieces) {
    splitter.push(piece);
    yield* waiting;
    waiting = [];
  }
  splitter.finish();
  yield* waiting;
}

function maskedRecord(record: JsonRecord, redaction: Redaction | undefined): object {
  if (redaction === undefined) return record;
  // The header is that of the source, which is in the report, but for its id and parent.
  if (record["type"] === "session") return redaction.again(record);
  return redaction.entry(record as unknown as SessionEntry);
}

const LEFT_OUT = { type: "text", text: "(an image was left out of this export)" };

/** The very same record when it has none. */
function withoutImages(record: JsonRecord): JsonRecord {
  const { message } = record;
  if (hasImage(record["content"])) return { ...record, content: imagesReplaced(record["content"]) };
  if (!isRecord(message)) return record;
  if (hasImage(message["content"]))
    return { ...record, message: { ...message, content: imagesReplaced(message["content"]) } };
  const { files } = message;
  if (!Array.isArray(files) || !files.some((file) => isRecord(file) && "image" in file)) return record;
  const bare = files.map((file: unknown) => {
    if (!isRecord(file)) return file;
    const { image: _image, ...rest } = file;
    return rest;
  });
  return { ...record, message: { ...message, files: bare } };
}

const isImageBlock = (block: unknown): boolean => isRecord(block) && block["type"] === "image";
const hasImage = (content: unknown): content is unknown[] => Array.isArray(content) && content.some(isImageBlock);
const imagesReplaced = (content: unknown[]): unknown[] =>
  content.map((block) => (isImageBlock(block) ? LEFT_OUT : block));
