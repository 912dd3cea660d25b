/**
 * `exportSession`: a session file as a page, as Markdown or as JSONL, whole or in part, with or without its secrets.
 * Part of `export/`; used by `bough export`, `/export` and `--mode rpc`. The session is opened for reading, so it may be
 * open elsewhere, and no byte of it changes.
 */
import { existsSync, renameSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { canonicalPath } from "../session/locations.ts";
import { NewFile } from "../session/new-file.ts";
import { openSession } from "../session/open-session.ts";
import type { OpenSession } from "../session/open-session.ts";
import { reasonOf, systemCode } from "../session/session-errors.ts";
import type { ProblemCode } from "../tree/problems.ts";
import { writeHtml } from "./html.ts";
import { MarkdownImages } from "./markdown-entries.ts";
import { markdownPieces } from "./markdown.ts";
import { Redaction, findSecrets, scannedRecord } from "./redaction.ts";
import type { RedactionReport, ScannedRecord } from "./redaction.ts";
import type { SecretValue } from "./secret-values.ts";
import { jsonlPieces } from "./session-jsonl.ts";
import { ExportError, SessionPart, chosenPath } from "./session-part.ts";
import type { PartChoice } from "./session-part.ts";

export const EXPORT_FORMATS = ["html", "md", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportRequest extends PartChoice {
  /** A file, or "-" for standard output; by default a name made from the session's file. */
  out?: string | undefined;
  /** By default what `out` ends in, else html. */
  format?: ExportFormat | undefined;
  /** Default true. */
  images?: boolean | undefined;
  /** Mask secrets. Default: true for html and md, false for jsonl. */
  redact?: boolean | undefined;
  /** Show the user's home folder as `~`. Default false. */
  hideHome?: boolean | undefined;
  /** Replace a file that is there. Default false. */
  force?: boolean | undefined;
}

export interface ExportHost {
  /** Relative paths are meant from here. */
  cwd: string;
  home: string;
  /** What must not be in an export besides what rules find. */
  secrets: () => readonly SecretValue[];
  /** Takes what goes to standard output; without it "-" is refused. */
  write?: ((piece: Uint8Array) => void) | undefined;
  /** Told now and then how far it is. */
  onProgress?: ((step: "scanning" | "writing", done: number, entries: number) => void) | undefined;
  /** Ends the export, and nothing of it is left. */
  signal?: AbortSignal | undefined;
}

export interface Exported {
  /** Undefined for standard output. */
  path: string | undefined;
  format: ExportFormat;
  entries: number;
  bytes: number;
  /** Images that are not in it. */
  imagesLeftOut: number;
  /** Damaged lines that are not in it: what is masked is encoded anew, and of them nobody knows what they hold. */
  linesLeftOut: number;
  /** What was masked; undefined when nothing was looked for. */
  redaction: RedactionReport | undefined;
}

/** Characters of base64 in one Markdown document. */
const MARKDOWN_IMAGE_LIMIT = 8 * 1024 * 1024;
/** Between two looks at who else wants to run, and two words about the progress. Milliseconds. */
const SLICE_MS = 40;

/** Throws ExportError for what was asked for, SessionFileError for the session; nothing is written then. */
export async function exportSession(file: string, request: ExportRequest, host: ExportHost): Promise<Exported> {
  const target = targetOf(file, request, host);
  const session = openSession(resolve(host.cwd, file), { readOnly: true });
  try {
    return await exported(session, target, request, host);
  } finally {
    session.store.close();
  }
}

interface Target {
  path: string | undefined;
  format: ExportFormat;
  force: boolean;
}

function targetOf(file: string, { out, format, force = false }: ExportRequest, { cwd, write }: ExportHost): Target {
  if (out === "-") {
    const chosen = format ?? "md";
    if (chosen === "html") throw new ExportError("A page is written to a file; standard output takes md or jsonl.");
    if (write === undefined) throw new ExportError('There is no standard output here; name a file instead of "-".');
    return { path: undefined, format: chosen, force };
  }
  const chosen = format ?? formatOf(out) ?? "html";
  const name = out ?? `bough-session-${basename(file, extname(file))}.${chosen}`;
  let path = resolve(cwd, name);
  // The name of a folder that is not there would become the name of a file.
  const folder = /[/\\]$/.test(name) ? path : dirname(path);
  if (isFolder(path)) path = join(path, `bough-session-${basename(file, extname(file))}.${chosen}`);
  if (canonicalPath(path) === canonicalPath(resolve(cwd, file)))
    throw new ExportError(`${path} is the session itself; name another file.`);
  if (!isFolder(folder)) throw new ExportError(`There is no folder ${folder}; make it first.`);
  if (existsSync(path) && !force) throw alreadyThere(path);
  // A device or a pipe would become a file under its name.
  if (existsSync(path) && !statSync(path).isFile())
    throw new ExportError(`${path} is not a regular file and is not replaced; name another file.`);
  return { path, format: chosen, force };
}

const alreadyThere = (path: string): ExportError =>
  new ExportError(`${path} is there already; name another file, or replace it with --force.`);

const notWritten = (path: string, cause: unknown): ExportError =>
  new ExportError(`${path} cannot be written: ${reasonOf(cause)}; nothing was changed.`, { cause });

function formatOf(out: string | undefined): ExportFormat | undefined {
  const extension = extname(out ?? "").toLowerCase();
  if (extension === ".htm") return "html";
  if (extension === ".markdown") return "md";
  return EXPORT_FORMATS.find((format) => `.${format}` === extension);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

async function exported(
  session: OpenSession,
  target: Target,
  request: ExportRequest,
  host: ExportHost,
): Promise<Exported> {
  const { header, index } = session;
  const path = chosenPath(index, request);
  const redacts = request.redact ?? target.format !== "jsonl";
  const home = request.hideHome === true ? host.home : undefined;
  const secrets = redacts ? await findSecrets(recordsOf(session, path, host), host.secrets()) : undefined;
  const redaction = redacts || home !== undefined ? new Redaction({ secrets, home }) : undefined;
  const part = new SessionPart(index, header, path, redaction);
  const written = await write({ session, path, part, target, request, host }).catch((error: unknown) => {
    throw failureOf(error, target.path);
  });
  return {
    path: target.path,
    format: target.format,
    entries: part.size,
    ...written,
    linesLeftOut: target.format === "jsonl" && redaction !== undefined ? damagedLines(part) : 0,
    redaction: redacts ? redaction?.report : undefined,
  };
}

/** Problems of lines that are no entries. */
const DAMAGE: ReadonlySet<ProblemCode> = new Set(["torn-tail", "bad-line", "fused-line", "not-an-object", "no-id"]);

const damagedLines = (part: SessionPart): number => part.problems.filter(({ code }) => DAMAGE.has(code)).length;

/** All that can be in the export, for who looks for secrets in it. */
function* recordsOf(
  session: OpenSession,
  path: readonly number[] | undefined,
  host: ExportHost,
): Generator<ScannedRecord> {
  const { header, index } = session;
  yield scannedRecord(header);
  const count = path?.length ?? index.size;
  const tell = every(SLICE_MS);
  for (let n = 0; n < count; n++) {
    host.signal?.throwIfAborted();
    if (tell()) host.onProgress?.("scanning", n, count);
    const ordinal = path?.[n] ?? n;
    const json = index.bytesAt(ordinal);
    yield json === undefined ? scannedRecord(index.readOnce(ordinal)) : { json, read: () => index.readOnce(ordinal) };
  }
  // Labels stand on other branches, and the name may.
  yield scannedRecord({ labels: [...index.labels().values()], name: index.name?.text ?? "" });
}

type Written = Pick<Exported, "bytes" | "imagesLeftOut">;

interface Job {
  session: OpenSession;
  /** The stretch; undefined for all. */
  path: readonly number[] | undefined;
  part: SessionPart;
  target: Target;
  request: ExportRequest;
  host: ExportHost;
}

async function write({ session, path, part, target, request, host }: Job): Promise<Written> {
  const which = partText(request, part);
  const masked = (): string | undefined => maskedText(part.redaction);
  const told = (done: number): void => {
    host.signal?.throwIfAborted();
    host.onProgress?.("writing", done, part.size);
  };
  if (target.format === "html" && target.path !== undefined) {
    const home = request.hideHome === true ? host.home : undefined;
    const written = await writeHtml(target.path, part, {
      header: part.header,
      masked,
      ...(which === undefined ? {} : { part: which }),
      ...(request.images === undefined ? {} : { images: request.images }),
      ...(home === undefined ? {} : { home }),
      onProgress: told,
    });
    return { bytes: written.bytes, imagesLeftOut: written.imagesLeftOut };
  }
  const images = new MarkdownImages(request.images === false ? 0 : MARKDOWN_IMAGE_LIMIT);
  const pieces =
    target.format === "md"
      ? encoded(markdownPieces(part, { images, part: which, masked }))
      : jsonlPieces(session, path, part, request.images ?? true);
  const bytes =
    target.path === undefined
      ? toOutput(pieces, host)
      : await toFile(pieces, target.path, target.force, () => told(Math.min(part.asked, part.size)));
  return { bytes, imagesLeftOut: images.leftOut };
}

function* encoded(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function toOutput(pieces: Iterable<Uint8Array>, host: ExportHost): number {
  let bytes = 0;
  for (const piece of pieces) {
    host.write?.(piece);
    bytes += piece.length;
  }
  return bytes;
}

/** In slices: whoever exports from a screen keeps it. */
async function toFile(pieces: Iterable<Uint8Array>, path: string, force: boolean, tell: () => void): Promise<number> {
  let file: NewFile | undefined;
  let bytes = 0;
  try {
    file = new NewFile(path);
    const isTime = every(SLICE_MS);
    tell();
    for (const piece of pieces) {
      file.write(piece);
      bytes += piece.length;
      if (!isTime()) continue;
      await setImmediate();
      tell();
    }
    file.publish(force ? (temporary) => renameSync(temporary, path) : undefined);
    return bytes;
  } catch (error) {
    file?.discard();
    throw error;
  }
}

/** What the system says of the file, as a sentence. */
function failureOf(error: unknown, path: string | undefined): unknown {
  if (path === undefined || !(error instanceof Error && "syscall" in error)) return error;
  return systemCode(error) === "EEXIST" ? alreadyThere(path) : notWritten(path, error);
}

/** True when that many milliseconds have gone by since it was last true. */
function every(milliseconds: number): () => boolean {
  let last = performance.now();
  return () => {
    if (performance.now() - last < milliseconds) return false;
    last = performance.now();
    return true;
  };
}

function partText({ branch, from, to }: PartChoice, part: SessionPart): string | undefined {
  const shown = (id: string): string => part.redaction?.id(id) ?? id;
  if (branch !== undefined) return `the branch to ${shown(branch)}`;
  if (from === undefined) return to === undefined ? undefined : `the branch to ${shown(to)}`;
  return `from ${shown(from)} to ${to === undefined ? "where the session stands" : shown(to)}`;
}

/** For the export itself. */
function maskedText(redaction: Redaction | undefined): string | undefined {
  if (redaction?.looksForSecrets !== true) return undefined;
  const { total } = redaction.report;
  if (total === 0) return "No secrets were found in this export.";
  return `${total === 1 ? "1 secret was" : `${total} secrets were`} masked in this export.`;
}
