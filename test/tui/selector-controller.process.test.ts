/** Tests of src/tui/selector-controller.ts that need a state folder of their own: sets BOUGH_DIR. */
import { deepEqual, equal } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { SelectorController } from "../../src/tui/selector-controller.ts";
import { sessionSource } from "../../src/tui/session-source.ts";
import { startHarness } from "../support/agent-harness.ts";
import { settled, TestHost } from "./selector-host.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "bough-controller-")));
const outer = process.env["BOUGH_DIR"];
before(() => {
  process.env["BOUGH_DIR"] = join(home, "state");
});
after(() => {
  if (outer === undefined) delete process.env["BOUGH_DIR"];
  else process.env["BOUGH_DIR"] = outer;
  rmSync(home, { recursive: true });
});

test("[D2] a session whose folder is gone can be opened as it is, or as a copy that works here", async (t) => {
  const [here, gone] = [join(home, "here"), join(home, "gone")];
  mkdirSync(here);
  mkdirSync(gone);
  const lost = SessionManager.create(gone);
  lost.appendMessage({ role: "user", content: "far away", timestamp: 0 });
  await lost.close();
  rmdirSync(gone);
  const bytes = readFileSync(lost.getSessionFile()!);

  const manager = SessionManager.create(here);
  const { session, registry } = await startHarness(t, { manager });
  const host = new TestHost();
  const controller = new SelectorController({
    session,
    host,
    keybindings: defaultKeybindings(),
    models: registry,
    sessions: sessionSource(session),
    settings: () => ({}),
  });
  const openList = async (): Promise<void> => {
    controller.showSessionPicker();
    host.press("tab");
    await settled(() => host.rowsShown().at(-1) === "  (1/1)");
  };

  await openList();
  equal(host.rowsShown()[0]!.includes("folder gone"), true);
  host.press("enter");
  equal(host.title(), "The folder of this session is gone");
  deepEqual(host.rowsShown().slice(-2), ["› Copy it into this folder", "  Open it as it is"]);
  host.press("escape");
  equal(host.title(), "Resume a session · this folder");
  host.press("escape");
  deepEqual([host.shown, host.said], [undefined, []]);

  await openList();
  host.press("enter", "enter");
  await settled(() => host.said.length === 2);
  deepEqual(host.said, ["rebuilt", "Resumed a copy of the session in this folder"]);
  deepEqual(
    [manager.getCwd(), manager.getHeader().parentSession, session.getUserMessages().map(({ text }) => text)],
    [here, lost.getSessionFile(), ["far away"]],
  );
  deepEqual(readFileSync(lost.getSessionFile()!), bytes);

  await session.switchSession(lost.getSessionFile()!);
  await session.newSession();
  controller.showSessionPicker();
  host.press("tab");
  await settled(() => host.rowsShown().at(-1) === "  (1/2)");
  const row = host.rowsShown().findIndex((line) => line.includes("folder gone"));
  host.press(...Array<"down">(row).fill("down"), "enter", "down", "enter");
  await settled(() => host.said.length === 4);
  deepEqual([host.said.at(-1), manager.getCwd()], ["Resumed session", gone]);
});
