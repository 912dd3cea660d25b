/**
 * `bough` on a terminal. Part of `cli/`; used by main.ts.
 */
import { SessionManager } from "../session/session-manager.ts";
import { runInteractive } from "../tui/interactive-mode.ts";
import { loadKeybindings } from "../tui/keybindings.ts";
import { UsageError } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { prepare, putToWork } from "./assemble.ts";
import { chooseSession, sessionNotices } from "./choose-session.ts";
import { CONNECT_A_MODEL, exampleSession } from "./first-run.ts";

/** Returns the exit code: 0, or 1 when something of the session could not be saved. */
export async function runTerminal(args: Arguments, version: string): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('This is no terminal; for one answer use bough -p "…".');
  const place = await prepare(args, version);
  const picksSession = args.session.kind === "resume" && args.session.session === undefined;
  const isFirstRun = args.session.kind === "new" && place.registry.available().length === 0;
  const manager = isFirstRun
    ? await SessionManager.open(exampleSession(place.cwd))
    : await chooseSession(picksSession ? { kind: "new" } : args.session, place.cwd);
  const { keybindings, notices } = loadKeybindings(place.stateDir);
  const session = await putToWork(manager, place);
  const exitCode = await runInteractive({
    session,
    keybindings,
    models: place.registry,
    version,
    settings: {
      theme: place.settings.get("theme"),
      doubleEscapeAction: place.settings.get("doubleEscapeAction"),
      treeFilterMode: place.settings.get("treeFilterMode"),
      hideThinking: place.settings.get("hideThinking"),
      externalEditor: place.settings.get("externalEditor"),
    },
    notices: [
      ...(isFirstRun ? [CONNECT_A_MODEL] : []),
      ...place.notices,
      ...notices,
      ...sessionNotices(manager, place.cwd),
    ],
    prompt: args.prompt,
    picksSession,
  });
  await manager.close();
  return exitCode;
}
