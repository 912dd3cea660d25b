/** A SelectorController on a real AgentSession, real files and a real HTTP provider. For tests of tui/. */
import type { TestContext } from "node:test";
import type { SessionManager } from "../../src/session/session-manager.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { SelectorController } from "../../src/tui/selector-controller.ts";
import type { SelectorSettings } from "../../src/tui/selector-controller.ts";
import type { SessionSource } from "../../src/tui/session-picker.ts";
import { outlineOf, startHarness } from "../support/agent-harness.ts";
import type { Harness, HarnessOptions } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { TestHost } from "./selector-host.ts";

export interface StartOptions extends HarnessOptions {
  /** Jumps ask nothing unless the settings say so. */
  settings?: SelectorSettings;
  source?: Partial<SessionSource>;
}

export interface Controlled extends Harness {
  host: TestHost;
  controller: SelectorController;
}

export async function start(t: TestContext, options: StartOptions = {}): Promise<Controlled> {
  const { settings = {}, source = {}, ...harnessOptions } = options;
  settings.branchSummary ??= { skipPrompt: true };
  const harness = await startHarness(t, harnessOptions);
  const host = new TestHost();
  const controller = new SelectorController({
    session: harness.session,
    host,
    keybindings: defaultKeybindings(),
    models: harness.registry,
    sessions: { load: async () => {}, rename: async () => {}, ...source },
    settings: () => settings,
  });
  return { ...harness, host, controller };
}

/** A session with two prompts and their answers. */
export async function conversation(t: TestContext, options: StartOptions = {}): Promise<Controlled> {
  const started = await start(t, { replies: [say("first answer"), say("second answer")], ...options });
  await started.session.prompt("one");
  await started.session.prompt("two");
  return started;
}

export const pathOf = (manager: SessionManager): string[] =>
  outlineOf(manager.getBranch()).filter((text) => !text.endsWith("_change") && text !== "session_info");
