/**
 * bough on a virtual terminal with extensions from real files, as the program assembles it, against a provider server
 * on loopback. Used by tests of what whole extensions do.
 */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setKeybindings } from "@earendil-works/pi-tui";
import type { AgentSession } from "../../src/agent/agent-session.ts";
import { createAgentSession } from "../../src/agent/create-agent-session.ts";
import { Settings } from "../../src/agent/settings.ts";
import { projectTrust } from "../../src/agent/trust.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { screenExtensions } from "../../src/cli/extension-screen.ts";
import { loadExtensions } from "../../src/cli/load-extensions.ts";
import type { LoadedExtensions } from "../../src/cli/loaded-extensions.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { runInteractive } from "../../src/tui/interactive-mode.ts";
import { defaultKeybindings, isReservedKey } from "../../src/tui/keybindings.ts";
import { registryFor } from "./agent-harness.ts";
import { writeFiles } from "./extension-harness.ts";
import { trackSession } from "./laws.ts";
import { startProvider } from "./provider-mock.ts";
import type { ProviderServer, Reply } from "./provider-mock.ts";
import { temporaryFolder } from "./session-files.ts";
import { untilScreen, VirtualTerminal } from "./virtual-terminal.ts";

export interface ExtendedProgram {
  session: AgentSession;
  manager: SessionManager;
  loaded: LoadedExtensions;
  server: ProviderServer;
  terminal: VirtualTerminal;
  cwd: string;
  stateDir: string;
  finished: Promise<number>;
  /** Types a line and Enter. */
  enter(line: string): void;
  see(text: string): Promise<string[]>;
  seeNo(text: string): Promise<string[]>;
}

export interface ExtendedProgramOptions {
  /** The command line; extensions come by -e. */
  args: readonly string[];
  /** Files of the working directory. */
  files?: Readonly<Record<string, string>>;
  replies?: Reply | readonly Reply[];
  columns?: number;
  rows?: number;
}

export async function startProgram(t: TestContext, options: ExtendedProgramOptions): Promise<ExtendedProgram> {
  const { args, files = {}, replies = [], columns = 100, rows = 50 } = options;
  const [cwd, stateDir] = [temporaryFolder(), temporaryFolder()];
  writeFiles(cwd, files);
  const server = await startProvider(replies);
  t.after(() => server.close());
  const { registry, model } = await registryFor({ baseUrl: server.baseUrl, model: "mock" });
  const project = projectTrust(cwd, { stateDir });
  const settings = new Settings({ stateDir, project });
  const keybindings = defaultKeybindings();
  setKeybindings(keybindings);
  const place = { cwd, stateDir, version: "0.0.0", project, settings, registry, model, notices: [] };
  const { extensions: loaded } = await loadExtensions(parseArguments(args), place, {
    mode: "tui",
    isReservedKey: (key) => isReservedKey(keybindings, key),
  });
  if (loaded === undefined) throw new Error("There is no extension to load.");
  const manager = SessionManager.create(cwd, join(stateDir, "sessions"));
  const session = await createAgentSession({ ...place, ...loaded.sessionOptions, sessionManager: manager, model });
  loaded.host.attach(session);
  trackSession(t, manager);
  const terminal = new VirtualTerminal(columns, rows);
  const finished = runInteractive({
    session,
    keybindings,
    models: registry,
    settings: { branchSummary: { skipPrompt: true } },
    version: "0.0.0",
    env: { NO_COLOR: "1" },
    extensions: screenExtensions(loaded, session),
    reload: async (draw) => {
      await loaded.host.reload(() => draw({ branchSummary: { skipPrompt: true } }));
      return [];
    },
    terminal,
  });
  t.after(async () => {
    terminal.type("\x1b", "\x03", "\x03", "\x03", "\x03");
    await finished;
    loaded.host.dispose();
  });
  const see = (text: string): Promise<string[]> =>
    untilScreen(terminal, (screen) => screen.some((row) => row.includes(text)));
  const seeNo = (text: string): Promise<string[]> =>
    untilScreen(terminal, (screen) => screen.every((row) => !row.includes(text)));
  const enter = (line: string): void => terminal.type(...line, "\r");
  return { session, manager, loaded, server, terminal, cwd, stateDir, finished, enter, see, seeNo };
}
