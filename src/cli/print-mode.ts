/**
 * `bough -p` and `--mode json`: one prompt, its answer on standard output, and out. Part of `cli/`; used by run-command.ts.
 */
import { text as readAll } from "node:stream/consumers";
import type { AgentSession } from "../agent/agent-session.ts";
import type { AgentSessionEvent } from "../agent/agent-session-events.ts";
import { finalErrorText, providerErrorText } from "../agent/provider-error.ts";
import { textOf } from "../tree/content.ts";
import type { AssistantMessage } from "../tree/messages.ts";
import { SIGNAL_EXIT_CODES } from "../tui/process-guard.ts";
import type { EndingSignal } from "../tui/process-guard.ts";
import { sanitise } from "../tui/sanitise.ts";
import type { Arguments } from "./arguments.ts";
import { noModelText, prepare, putToWork } from "./assemble.ts";
import { chooseSession, damageNotice, folderNotice } from "./choose-session.ts";
import { eventJson } from "./event-json.ts";
import type { Io } from "./io.ts";
import { jsonText } from "./json-text.ts";
import type { LoadedExtensions } from "./loaded-extensions.ts";
import { report } from "./report.ts";
import { onEndingSignal } from "./signals.ts";
import { guardStdout } from "./stdout-guard.ts";
import { UsageError } from "./usage.ts";

const STOPPED = "The answer was stopped before its end.";

/**
 * Sends one prompt and prints the answer's text; in json mode the session's header and then every event, a line each.
 * Returns the exit code: 0 for a complete answer that is saved; otherwise the reason goes to standard error.
 */
export async function runPrint(given: Arguments, version: string, io: Io): Promise<number> {
  if (given.mode === "json") guardStdout();
  const { args, place } = await prepare(given, version, { mode: given.mode === "json" ? "json" : "print" });
  const { extensions } = place;
  const prompt = await promptWithInput(args.prompt);
  if (prompt === undefined) throw new UsageError('There is no prompt: bough -p "…", or write one to standard input.');
  if (place.registry.available().length === 0) throw new Error(noModelText(place.registry));
  const manager = await chooseSession(args.session, place.cwd);
  const notices = [...place.notices, damageNotice(manager), folderNotice(manager, place.cwd)];
  for (const notice of notices) if (notice !== undefined) report(io, notice);
  extensions?.face({ tell: (_level, text) => report(io, text), shutdown: () => undefined, changed: () => undefined });
  const session = await putToWork(manager, place);
  try {
    const send = async (): Promise<boolean> => sent(session, prompt, extensions);
    return await answer(session, send, args.mode === "json", io);
  } finally {
    extensions?.host.dispose();
    await manager.close();
  }
}

/** What is piped in goes before what was written on the command line. */
async function promptWithInput(prompt: string | undefined): Promise<string | undefined> {
  const input = process.stdin.isTTY ? "" : await readAll(process.stdin);
  const parts = [input.trimEnd(), prompt ?? ""].filter((part) => part.trim() !== "");
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

/** Sends the prompt, or runs the command of an extension; false when no answer is due. */
async function sent(session: AgentSession, prompt: string, extensions: LoadedExtensions | undefined): Promise<boolean> {
  await session.begin();
  if (extensions !== undefined && (await extensions.runCommand(prompt))) {
    await session.waitForIdle();
    return false;
  }
  let isHandled = false;
  await session.prompt(prompt, { accepted: (disposition) => (isHandled = disposition === "handled") });
  return !isHandled;
}

async function answer(session: AgentSession, send: () => Promise<boolean>, json: boolean, io: Io): Promise<number> {
  let last: AssistantMessage | undefined;
  let plan: string | undefined;
  let isDue = true;
  let signalled: EndingSignal | undefined;
  if (json) io.out(`${jsonText(session.sessionManager.getHeader())}\n`);
  const unsubscribe = session.subscribe((event) => {
    if ((event.type === "message_update" || event.type === "message_end") && event.message.role === "assistant")
      last = event.message;
    // Nobody is here to approve it: a plan is the answer.
    if (event.type === "plan_submitted") ({ plan } = event);
    if (json) io.out(`${jsonText(eventJson(event, session))}\n`);
    else tell(event, io);
  });
  const ignoreSignals = onEndingSignal((signal) => {
    signalled = signal;
    void session.abort();
  });
  try {
    isDue = await send();
  } finally {
    ignoreSignals();
    // What has come is shown also when it could not be saved.
    const text = plan ?? (last === undefined ? "" : textOf(last.content));
    if (!json && text !== "") io.out(`${io.isTerminal ? sanitise(text) : text}\n`);
    await session.dispose();
    unsubscribe();
  }
  const isMissing = last === undefined && !isDue;
  const fault = signalled !== undefined ? STOPPED : isMissing ? undefined : faultOf(last);
  if (fault !== undefined) report(io, fault);
  return signalled !== undefined ? SIGNAL_EXIT_CODES[signalled] : fault === undefined ? 0 : 1;
}

/** What a person who waits for the answer should know meanwhile. */
function tell(event: AgentSessionEvent, io: Io): void {
  if (event.type === "notice" && event.level !== "info") report(io, event.text);
  else if (event.type === "auto_retry_start") {
    const { errorMessage, delayMs, attempt, maxAttempts } = event;
    report(
      io,
      `${providerErrorText(errorMessage)} (trying again in ${Math.ceil(delayMs / 1000)} s, ${attempt} of ${maxAttempts})`,
    );
  }
}

function faultOf(message: AssistantMessage | undefined): string | undefined {
  switch (message?.stopReason) {
    case undefined:
      return "The model gave no answer.";
    case "error":
      return finalErrorText(message?.errorMessage ?? "The provider failed without saying why.");
    case "aborted":
      return STOPPED;
    case "length":
      return "The answer was cut off at the model's limit of output.";
    default:
      return undefined;
  }
}
