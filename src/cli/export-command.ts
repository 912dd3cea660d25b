/**
 * `bough export`: a session as a page, as Markdown or as a session file to give away. Part of `cli/`; called by run-command.ts.
 * Opens the session for reading only.
 */
import { homedir } from "node:os";
import { knownSecrets } from "../agent/known-secrets.ts";
import { EXPORT_OPTIONS, EXPORT_OPTIONS_HELP, exportRequest } from "../export/export-arguments.ts";
import { exportedText, redactionLines } from "../export/export-report.ts";
import { exportSession } from "../export/export-session.ts";
import type { ExportRequest } from "../export/export-session.ts";
import { ExportError } from "../export/session-part.ts";
import { sanitise } from "../tui/sanitise.ts";
import { SIGNAL_EXIT_CODES } from "../tui/process-guard.ts";
import type { EndingSignal } from "../tui/process-guard.ts";
import type { Io } from "./io.ts";
import { onEndingSignal } from "./signals.ts";
import { UsageError, readOptions } from "./usage.ts";

export const EXPORT_HELP = `bough export: a session to give away, as a page, as Markdown or as a session file.

  bough export FILE [OUT] [options]

  OUT is a file or a folder, by default bough-session-<name of FILE>.html here; "-" is standard output (md, jsonl).

${EXPORT_OPTIONS_HELP}
  -h, --help

Secrets are found by rules (keys, tokens, passwords in addresses, private keys) and by what this machine knows: keys in
the environment and in bough's settings. Each becomes "[redacted: kind]", wherever it stands; standard error names the
places. A rule can miss one: look before you give it away. FILE itself is not changed.

Exit code: 0 written, 1 there is no such session or entry, or it cannot be written, 2 wrong usage.
`;

const OPTIONS = { ...EXPORT_OPTIONS, help: { type: "boolean", short: "h" } } as const;

/** Places of secrets that are named. */
const PLACES = 50;
/** An export that is done by then says nothing on its way. Milliseconds. */
const QUIET_MS = 500;
const CLEAR_LINE = "\r\u001b[K";

export interface ExportIo extends Pick<Io, "out" | "err"> {
  /** Session files hold any bytes. */
  outBytes(bytes: Uint8Array): void;
  /** Somebody sees standard error as it comes. */
  readonly isWatched: boolean;
}

/** Resolves with the exit code. Rejects with UsageError, ExportError or SessionFileError. */
export async function runExportCommand(args: readonly string[], io: ExportIo): Promise<number> {
  const { values, positionals } = readOptions(args, OPTIONS, "bough export");
  if (values.help) {
    io.out(EXPORT_HELP);
    return 0;
  }
  const [file, out, ...more] = positionals;
  if (file === undefined || more.length > 0)
    throw new UsageError("Name a session file and perhaps where to write: bough export FILE [OUT].");
  const progress = new ProgressLine(io);
  const ending = new AbortController();
  let signalled: EndingSignal | undefined;
  const ignoreSignals = onEndingSignal((name) => {
    signalled ??= name;
    ending.abort();
  });
  try {
    const done = await exportSession(file, requestOf(values, out), {
      cwd: process.cwd(),
      home: homedir(),
      secrets: knownSecrets,
      write: (piece) => io.outBytes(piece),
      signal: ending.signal,
      onProgress: (...step) => progress.tell(...step),
    });
    progress.clear();
    for (const line of [exportedText(done), ...redactionLines(done.redaction, PLACES)])
      io.err(`${sanitise(line).replaceAll("\n", " ")}\n`);
    return 0;
  } catch (error) {
    if (signalled === undefined) throw error;
    return SIGNAL_EXIT_CODES[signalled];
  } finally {
    ignoreSignals();
    progress.clear();
  }
}

function requestOf(values: Parameters<typeof exportRequest>[0], out: string | undefined): ExportRequest {
  try {
    return exportRequest(values, out);
  } catch (error) {
    throw error instanceof ExportError ? new UsageError(error.message, { cause: error }) : error;
  }
}

/** One line that is written again and again, for who watches. */
class ProgressLine {
  readonly #io: ExportIo;
  readonly #started = performance.now();
  #isShown = false;

  constructor(io: ExportIo) {
    this.#io = io;
  }

  tell(step: "scanning" | "writing", done: number, entries: number): void {
    if (!this.#io.isWatched || performance.now() - this.#started < QUIET_MS) return;
    const what = step === "scanning" ? "Looking for secrets" : "Writing";
    this.#isShown = true;
    this.#io.err(`${CLEAR_LINE}${what}: ${done.toLocaleString("en-US")} of ${entries.toLocaleString("en-US")} entries`);
  }

  clear(): void {
    if (this.#isShown) this.#io.err(CLEAR_LINE);
    this.#isShown = false;
  }
}
