/**
 * The interactive mode on a virtual terminal, with a real session against a provider server on loopback.
 * Used by the tests of the interactive mode.
 */
import type { TestContext } from "node:test";
import { setKeybindings } from "@earendil-works/pi-tui";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { type InteractiveOptions, runInteractive } from "../../src/tui/interactive-mode.ts";
import { type Harness, type HarnessOptions, nextEvent, startHarness } from "../support/agent-harness.ts";
import { untilScreen, VirtualTerminal } from "../support/virtual-terminal.ts";

export interface InteractiveHarness extends Harness {
  terminal: VirtualTerminal;
  /** The exit code, once the user has left. */
  finished: Promise<number>;
  /** The screen once one of its rows contains `text`. */
  see(text: string): Promise<string[]>;
  /** The same once nothing runs any more: an answer is seen while its turn still goes on, and commands are refused then. */
  answered(text: string): Promise<string[]>;
  /** The screen once none of its rows contains `text`. */
  seeNo(text: string): Promise<string[]>;
}

export interface InteractiveHarnessOptions extends HarnessOptions {
  columns?: number;
  rows?: number;
  mode?: Partial<Omit<InteractiveOptions, "session" | "terminal">>;
}

export async function startInteractive(
  t: TestContext,
  options: InteractiveHarnessOptions = {},
): Promise<InteractiveHarness> {
  const { columns = 80, rows = 40, mode = {}, ...agent } = options;
  const harness = await startHarness(t, agent);
  const terminal = new VirtualTerminal(columns, rows);
  const keybindings = mode.keybindings ?? defaultKeybindings();
  setKeybindings(keybindings);
  const finished = runInteractive({
    session: harness.session,
    keybindings,
    models: harness.registry,
    // Jumps ask nothing unless a test's own settings let them.
    settings: { branchSummary: { skipPrompt: true } },
    version: "0.0.0",
    env: { NO_COLOR: "1" },
    ...mode,
    terminal,
  });
  t.after(async () => {
    // A test that did not leave by itself leaves now: Ctrl+C twice works in any state of the editor.
    terminal.type("\x03", "\x03", "\x03", "\x03");
    await finished;
  });
  const see = (text: string): Promise<string[]> =>
    untilScreen(terminal, (screen) => screen.some((row) => row.includes(text)));
  return {
    ...harness,
    terminal,
    finished,
    see,
    answered: async (text) => {
      await see(text);
      if (harness.session.isStreaming) await nextEvent(harness.session, "agent_settled");
      return terminal.screen();
    },
    seeNo: (text) => untilScreen(terminal, (screen) => screen.every((row) => !row.includes(text))),
  };
}
