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
import { noticesOf, startHarness } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { settled, TestHost } from "./selector-host.ts";
import { sessionInfo } from "./session-info.ts";

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

test("[W5] a picked session that another writes is asked for; what the other adds meanwhile leaves the question open", async (t) => {
  const cwd = join(home, "shared");
  mkdirSync(cwd);
  const writer = await startHarness(t, {
    followed: true,
    manager: SessionManager.create(cwd),
    replies: [say("a1"), say("a2"), say("a3")],
  });
  await writer.session.prompt("theirs");
  const path = writer.manager.getSessionFile()!;
  const manager = SessionManager.create(cwd);
  const { session, registry } = await startHarness(t, { manager, followed: true, replies: say("b1") });
  await session.prompt("mine");
  const own = manager.getSessionFile();
  const host = new TestHost();
  const controller = new SelectorController({
    session,
    host,
    keybindings: defaultKeybindings(),
    models: registry,
    sessions: { load: async (_scope, found) => found(sessionInfo("theirs", { path, cwd })), rename: async () => {} },
    settings: () => ({}),
  });
  const pick = async (): Promise<void> => {
    controller.showSessionPicker();
    await settled(() => host.rowsShown().some((row) => row.startsWith("›")));
    host.press("enter");
    await settled(() => host.title() === "This session is open in another bough");
  };
  await pick();
  deepEqual(host.rowsShown().slice(-3), [
    "› Follow it live",
    "  Copy this branch to a session of your own",
    "  Ask for a hand-over",
  ]);
  host.press("escape");
  deepEqual([host.title(), manager.getSessionFile(), host.said], ["Resume a session · this folder", own, []]);
  host.press("escape");

  await pick();
  host.press("enter");
  await settled(() => session.isFollowing);
  await settled(() => session.isIdle);
  controller.showInUse();
  await writer.session.prompt("more of theirs");
  await settled(() => manager.getLeafId() === writer.manager.getLeafId());
  equal(host.title(), "This session is open in another bough");
  host.press("down", "enter");
  await settled(() => host.said.at(-1) === "Copied the branch to a session of your own");
  deepEqual([manager.getHeader().parentSession, session.isFollowing], [path, false]);

  await pick();
  host.press("up", "enter");
  await settled(() => manager.getSessionFile() === path && !manager.isReadOnly());
  deepEqual([writer.session.isFollowing, host.shown], [true, undefined]);
  deepEqual(
    noticesOf(writer.events).map((notice) => notice.split(" ", 5).join(" ")),
    ["info: This session is asked", "warning: This session was handed"],
  );
});
