/**
 * `McpFailure`: why an MCP server did not do what was asked, told from whatever the library, the process or the network
 * threw. Part of `agent/`; made by McpConnection, turned into results and notices by its callers.
 */
import { reasonOf } from "../../session/session-errors.ts";
import { startOfLine } from "../output-limits.ts";
import type { ClientLibrary } from "./client-library.ts";
import * as notices from "./mcp-notices.ts";

/** The message is a reason in a few words, to be put after "… does not work: ". */
export class McpFailure extends Error {
  /** Whether the server itself refused, in words of its own. */
  readonly isRefusal: boolean;
  /** Of the answer over HTTP. */
  readonly status: number | undefined;
  /** The server does not know the protocol it was spoken to in. */
  readonly isOtherProtocol: boolean;

  constructor(
    reason: string,
    options: { isRefusal?: boolean; isOtherProtocol?: boolean; status?: number | undefined; cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause });
    this.isRefusal = options.isRefusal ?? false;
    this.isOtherProtocol = options.isOtherProtocol ?? false;
    this.status = options.status;
  }
}

export interface FailureCircumstances {
  /** What was asked of the server. */
  asked: string;
  /** How long it had, in milliseconds. */
  timeoutMs: number;
  /** How its process has ended, if it has. */
  ending: string | undefined;
  /** The end of its standard error. */
  errorOutput: string;
}

/** UTF-16 units of what a server says about itself. */
const MAX_WORDS = 2000;
/** Of standard error: its end tells more than its beginning. */
const LAST_WORDS = 300;

/** The failure behind anything thrown; one that is a McpFailure already stays what it is. */
export function failureOf(library: ClientLibrary, error: unknown, about: FailureCircumstances): McpFailure {
  if (error instanceof McpFailure) return error;
  const status = error instanceof library.SdkHttpError ? error.status : undefined;
  const isRefusal = about.ending === undefined && error instanceof library.ProtocolError;
  const { UnsupportedProtocolVersion, MethodNotFound } = library.ProtocolErrorCode;
  const isOtherProtocol =
    status === 400 || (isRefusal && (error.code === UnsupportedProtocolVersion || error.code === MethodNotFound));
  return new McpFailure(reasonFor(library, error, about), { isRefusal, isOtherProtocol, status, cause: error });
}

function reasonFor(library: ClientLibrary, error: unknown, about: FailureCircumstances): string {
  const lastWords = about.errorOutput.slice(-LAST_WORDS).toWellFormed().replace(/\s+/g, " ").trim();
  if (about.ending !== undefined) return notices.withLastWords(about.ending, lastWords);
  if (error instanceof library.ProtocolError) return startOfLine(error.message, MAX_WORDS);
  if (error instanceof library.SdkHttpError)
    return error.status === 401 || error.status === 403
      ? notices.unauthorised(error.status)
      : notices.httpFailed(error.status);
  if (error instanceof library.SdkError) {
    const { RequestTimeout, ConnectionClosed, InvalidResult } = library.SdkErrorCode;
    if (error.code === RequestTimeout) return notices.withLastWords(notices.noAnswerWithin(about.timeoutMs), lastWords);
    if (error.code === ConnectionClosed) return notices.WAS_CLOSED;
    if (error.code === InvalidResult) return notices.badAnswer(about.asked);
  }
  // "fetch failed" says nothing; what is behind it does.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return startOfLine(reasonOf(cause), MAX_WORDS);
}
