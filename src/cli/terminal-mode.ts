/**
 * `bough` on a terminal. Part of `cli/`; used by run-command.ts.
 */
import type { KeybindingsManager } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import { sessionSettings } from "../agent/create-agent-session.ts";
import { loadRules } from "../agent/rule-files.ts";
import { followingNotice } from "../agent/session-holding.ts";
import { stateDir as defaultStateDir } from "../session/locations.ts";
import { SessionInUse } from "../session/session-errors.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { Settings } from "../agent/settings.ts";
import { runInteractive } from "../tui/interactive-mode.ts";
import type { InteractiveSettings } from "../tui/interactive-mode.ts";
import { isReservedKey, loadKeybindings, readUserKeys } from "../tui/keybindings.ts";
import type { Arguments } from "./arguments.ts";
import { prepare, putToWork } from "./assemble.ts";
import type { Workplace } from "./assemble.ts";
import { chooseSession, folderNotice } from "./choose-session.ts";
import { screenExtensions } from "./extension-screen.ts";
import { CONNECT_A_MODEL, exampleSession } from "./first-run.ts";
import { lateExtensionsNotice } from "./load-extensions.ts";
import { loadingLine } from "./loading-line.ts";
import { plainDialogs } from "./plain-dialogs.ts";
import { askTrust } from "./trust-question.ts";
import { UsageError } from "./usage.ts";

/** Returns the exit code: 0, or 1 when something of the session could not be saved. */
export async function runTerminal(given: Arguments, version: string): Promise<number> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const { keybindings, notices } = loadKeybindings(defaultStateDir());
  const { args, place } = await prepare(given, version, {
    mode: "tui",
    isReservedKey: (key) => isReservedKey(keybindings, key),
    ...(isTerminal ? { ask: askTrust, dialogs: plainDialogs, whenSlow: loadingLine } : {}),
  });
  // Mistakes in the arguments come first; which options there are is known with the extensions.
  if (!isTerminal) throw new UsageError('This is no terminal; for one answer use bough -p "…".');
  const { settings, registry, extensions } = place;
  const picksSession = args.session.kind === "resume" && args.session.session === undefined;
  const isFirstRun = args.session.kind === "new" && registry.available().length === 0;
  const manager = await openOrFollow(() =>
    isFirstRun
      ? SessionManager.open(exampleSession(place.cwd))
      : chooseSession(picksSession ? { kind: "new" } : args.session, place.cwd),
  );
  const session = await putToWork(manager, place, { goesOnUnsaved: true });
  const told = noticesOf(session);
  const folder = folderNotice(manager, place.cwd);
  const exitCode = await runInteractive({
    session,
    keybindings,
    models: registry,
    version,
    settings: screenSettings(settings),
    reload: (draw) => reload(draw, args, place, session, keybindings),
    ...(extensions === undefined ? {} : { extensions: screenExtensions(extensions, session) }),
    notices: [
      ...place.notices,
      ...notices,
      // That the example's model is not here says nothing new when there is none at all.
      ...(isFirstRun ? [...registry.problems, ...settings.notices, CONNECT_A_MODEL] : told),
      ...(folder === undefined ? [] : [folder]),
      ...(session.isFollowing ? [followingNotice(manager)] : []),
    ],
    prompt: args.prompt,
    picksSession,
  });
  extensions?.host.dispose();
  await manager.close();
  return exitCode;
}

const screenSettings = (settings: Settings): InteractiveSettings => ({
  theme: settings.get("theme"),
  doubleEscapeAction: settings.get("doubleEscapeAction"),
  treeFilterMode: settings.get("treeFilterMode"),
  branchSummary: settings.get("branchSummary"),
  hideThinking: settings.get("hideThinking"),
  externalEditor: settings.get("externalEditor"),
});

const RELOAD_LATER = "Something is still running; wait for its end, or stop it first.";

/**
 * `/reload`. Context files are read for each prompt anyway. Gives what is wrong, one plain sentence each. Refused while
 * anything runs: a turn would go on with half of the old and half of the new.
 */
async function reload(
  draw: (settings: InteractiveSettings) => void,
  args: Arguments,
  place: Workplace,
  session: AgentSession,
  keybindings: KeybindingsManager,
): Promise<string[]> {
  if (!session.isIdle) throw new Error(RELOAD_LATER);
  const { stateDir, project, extensions, settings, registry } = place;
  const keys = readUserKeys(stateDir);
  keybindings.setUserBindings(keys.bindings);
  settings.reread();
  await registry.reread();
  const { rules, problems } = loadRules({ stateDir, project });
  session.setRules(rules);
  const drawn = (): void => draw(screenSettings(settings));
  if (extensions === undefined) drawn();
  else await extensions.host.reload(drawn);
  // They may name models that extensions bring.
  const settled = sessionSettings(place);
  session.setSettings(settled.values);
  const late = extensions === undefined ? lateExtensionsNotice(args, place) : undefined;
  return [
    ...keys.notices,
    ...settings.notices,
    ...registry.problems,
    ...settled.problems,
    ...problems,
    ...(late === undefined ? [] : [late]),
  ];
}

/** A session that another program writes is opened for reading: it is followed, and can be asked for. */
async function openOrFollow(open: () => Promise<SessionManager>): Promise<SessionManager> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof SessionInUse) return SessionManager.open(error.path, { readOnly: true });
    throw error;
  }
}

/** What a session has to say before anybody listens; told to the first listener alone. */
function noticesOf(session: AgentSession): string[] {
  const texts: string[] = [];
  session.subscribe((event) => {
    if (event.type === "notice") texts.push(event.text);
  })();
  return texts;
}
