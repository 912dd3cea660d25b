/**
 * `--mode rpc`: another program drives a session by JSON lines on standard input and reads answers and events on standard
 * output. docs/rpc.md describes the lines. Part of `cli/`; used by run-command.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSession } from "../../agent/agent-session.ts";
import type { AgentSessionEvent } from "../../agent/agent-session-events.ts";
import type { SessionManager } from "../../session/session-manager.ts";
import type { Arguments } from "../arguments.ts";
import { prepare, putToWork } from "../assemble.ts";
import type { Workplace } from "../assemble.ts";
import { chooseSession, damageNotice, folderNotice } from "../choose-session.ts";
import { eventJson } from "../event-json.ts";
import type { Io } from "../io.ts";
import { failureText, reportFailure } from "../report.ts";
import { SIGNAL_EXIT_CODES } from "../../tui/process-guard.ts";
import type { EndingSignal } from "../../tui/process-guard.ts";
import { onEndingSignal } from "../signals.ts";
import { guardStdout } from "../stdout-guard.ts";
import { UsageError } from "../usage.ts";
import { Dispatcher } from "./dispatcher.ts";
import { ExtensionDialogs } from "./extension-dialogs.ts";
import { handlersFor } from "./handlers.ts";
import { readLines } from "./line-input.ts";
import { LineOutput } from "./line-output.ts";

/** Bytes. More than a prompt with the images of a whole conversation. */
const LONGEST_LINE = 1 << 28;
/** How long the end of the input waits for commands that were sent before; what then still runs is stopped. Milliseconds. */
const LAST_COMMANDS_MS = 5_000;

/**
 * Runs until the input ends, the reader goes away or a signal comes; a turn that runs then is stopped, and all is saved.
 * Returns the exit code: 0, that of the signal, or 1 when something could not be saved.
 */
export async function runRpc(given: Arguments, version: string, io: Io): Promise<number> {
  const output = new LineOutput(guardStdout());
  const { args, place } = await prepare(given, version, { mode: "rpc" });
  if (args.prompt !== undefined) throw new UsageError("In --mode rpc prompts are commands on standard input.");
  const manager = await chooseSession(args.session, place.cwd);
  let exitCode: number;
  try {
    exitCode = await served(manager, place, output);
  } catch (error) {
    exitCode = reportFailure(io, error);
  }
  // All is saved; a reader that takes nothing more must not keep the program.
  if (!(await output.end())) process.exit(exitCode);
  return exitCode;
}

async function served(manager: SessionManager, place: Workplace, output: LineOutput): Promise<number> {
  try {
    const session = await putToWork(manager, place, { goesOnUnsaved: true });
    const unsubscribe = passOnEvents(session, output);
    for (const text of [...place.notices, damageNotice(manager), folderNotice(manager, place.cwd)])
      if (text !== undefined) tell(output, "warning", text);
    const signal = await serve(session, place, output);
    unsubscribe();
    place.extensions?.host.dispose();
    return signal === undefined ? 0 : SIGNAL_EXIT_CODES[signal];
  } finally {
    await manager.close();
  }
}

/** Does what comes in until there is nothing more, then stops what runs and saves. Returns the signal that ended it. */
async function serve(
  session: AgentSession,
  { registry, cwd, extensions }: Workplace,
  output: LineOutput,
): Promise<EndingSignal | undefined> {
  const ending = new AbortController();
  const { signal } = ending;
  let signalled: EndingSignal | undefined;
  const ignoreSignals = onEndingSignal((name) => {
    signalled ??= name;
    ending.abort();
  });
  void output.gone.then(() => ending.abort());
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

  const told = (error: unknown): void => tell(output, "error", failureText(error));
  const handlers = handlersFor({ session, registry, cwd, told, extensions });
  const dispatcher = new Dispatcher(handlers, (response) => output.send(response));
  const dialogs = new ExtensionDialogs((line) => output.send(line));
  if (extensions !== undefined) {
    extensions.host.setUi(dialogs.uiFor);
    extensions.face({
      tell: (level, text) => tell(output, level, text),
      shutdown: () => void session.waitForIdle().then(() => ending.abort()),
      changed: () => undefined,
    });
  }
  // What extensions ask meanwhile is answered by what is read.
  dispatcher.hold(session.begin());
  try {
    for await (const line of readLines(process.stdin, LONGEST_LINE, signal)) {
      if (!dialogs.take(line)) dispatcher.take(line);
      const room = output.room();
      if (room !== undefined) await Promise.race([room, ended]);
    }
    dialogs.end();
    await Promise.race([dispatcher.whenTurnsDone(), sleep(LAST_COMMANDS_MS, undefined, { ref: false }), ended]);
  } finally {
    dispatcher.end();
    dialogs.end();
    try {
      await session.dispose();
    } finally {
      await dispatcher.whenAnswered();
      ignoreSignals();
    }
  }
  return signalled;
}

/** The work waits for a reader that is behind, so that what waits for it stays bounded. */
function passOnEvents(session: AgentSession, output: LineOutput): () => void {
  return session.subscribe((event) => output.send(eventJson(event, session), keyOf(event)), {
    pace: () => output.room(),
  });
}

/** Events that each tell all that an earlier one of theirs did. */
function keyOf(event: AgentSessionEvent): string | undefined {
  if (event.type === "bash_update" || event.type === "queue_update") return event.type;
  return event.type === "tool_execution_update" ? `${event.type} ${event.toolCallId}` : undefined;
}

const tell = (output: LineOutput, level: "warning" | "error", text: string): void =>
  output.send({ type: "notice", level, text });
