/** What extensions put on the screen: it is there, it stays within its bounds, it goes when it breaks or its owner goes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Component, Editor, Text } from "@earendil-works/pi-tui";
import { CustomEditor } from "../../src/tui/custom-editor.ts";
import { say } from "../support/provider-mock.ts";
import { untilScreen } from "../support/virtual-terminal.ts";
import { DANGEROUS, HOSTILE_TEXTS, withoutRendering } from "./hostile-texts.ts";
import { startExtended } from "./screen-extensions.ts";

const ENTER = "\r";
const ESCAPE = "\x1b";
/** Colours and weights, also in the form with colons, which an extension may use. */
const STYLES = new RegExp(`${ESCAPE}\\[[0-9;:]*m`, "g");
const TRUECOLOR = { TERM: "xterm", COLORTERM: "truecolor" };

const shown = (rows: readonly string[]): string[] => rows.map((row) => row.trim()).filter((row) => row !== "");
const component = (render: (width: number) => string[]): Component => ({ render, invalidate: () => undefined });

test("[U2] statuses stand in the footer by the order of their keys, each one line, until they are taken away", async (t) => {
  const { ui, uiOf, see, seeNo } = await startExtended(t);
  ui.setStatus("b", "second\nline");
  uiOf("other.ts").setStatus("a", "first");
  assert.equal(shown(await see("first")).at(-1), "first second line");
  ui.setStatus("b", undefined);
  assert.equal(shown(await seeNo("second")).at(-1), "first");
});

test("[U2] widgets stand above and below the editor; text is cut at ten lines, a widget moves, and goes", async (t) => {
  const { ui, see, seeNo } = await startExtended(t);
  ui.setWidget("up", ["above"]);
  ui.setWidget(
    "down",
    Array.from({ length: 14 }, (_, n) => `row ${n}`),
    { placement: "belowEditor" },
  );
  const rows = shown(await see("row 0"));
  const [first, second] = [
    rows.findIndex((row) => row.startsWith("─")),
    rows.findLastIndex((row) => row.startsWith("─")),
  ];
  assert.equal(rows[first - 1], "above");
  assert.deepEqual(rows.slice(second + 1, -2), [...Array.from({ length: 9 }, (_, n) => `row ${n}`), "… 5 more lines"]);
  const events: string[] = [];
  const made = { ...component((width) => [`width ${width}`]), dispose: () => void events.push("disposed") };
  ui.setWidget("up", () => made);
  await see("width 80");
  await seeNo("above");
  ui.setWidget("up", undefined);
  await seeNo("width 80");
  assert.deepEqual(events, ["disposed"]);
});

test("[U2] widgets take a third of the screen at most, together; what is left out is counted", async (t) => {
  const { ui, uiOf, see } = await startExtended(t, undefined, { rows: 24 });
  const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${name} ${n}`);
  /** The rows above and below the editor. */
  const around = (rows: readonly string[]): [string[], string[]] => {
    const all = shown(rows);
    const edges = all.flatMap((row, n) => (row.startsWith("─") ? [n] : []));
    return [all.slice(0, edges.at(-2)), all.slice(edges.at(-1)! + 1, -2)];
  };
  for (const name of ["a", "b", "c"]) uiOf(`${name}.ts`).setWidget(name, numbered(name, 4));
  const [alone] = around(await see("… 5 more lines"));
  assert.deepEqual(alone.slice(-8), [...numbered("a", 4), ...numbered("b", 3), "… 5 more lines"]);
  ui.setWidget("down", numbered("down", 2), { placement: "belowEditor" });
  const [above, below] = around(await see("… 7 more lines"));
  assert.deepEqual(above.slice(-6), [...numbered("a", 4), "b 0", "… 7 more lines"]);
  assert.deepEqual(below, numbered("down", 2));
  ui.setWidget("down", numbered("down", 9), { placement: "belowEditor" });
  const [half, otherHalf] = around(await see("… 6 more lines"));
  assert.deepEqual(half.slice(-4), [...numbered("a", 3), "… 9 more lines"]);
  assert.deepEqual(otherHalf, [...numbered("down", 3), "… 6 more lines"]);
});

test("[U2] header and footer of an extension stand in for bough's own, and know branch, statuses and providers", async (t) => {
  const { ui, see, seeNo } = await startExtended(t);
  ui.setHeader(() => new Text("my header"));
  ui.setStatus("k", "said");
  ui.setFooter((_tui, theme, data) =>
    component(() => [
      theme.fg("accent", `git ${data.getGitBranch()}, ${[...data.getExtensionStatuses()].join()}`),
      `${data.getAvailableProviderCount()} provider`,
    ]),
  );
  await see("git null, k,said");
  const rows = shown(await see("1 provider"));
  assert.equal(rows[0], "my header");
  assert.equal(rows.at(-1), "1 provider");
  ui.setHeader(undefined);
  ui.setFooter(undefined);
  await see("0.0.0");
  await seeNo("provider");
});

test("[U2, X3] what throws while it is drawn leaves bough's own in its place, and is told once", async (t) => {
  const { ui, terminal, see, seeNo, failures } = await startExtended(t);
  const broken = (): Component =>
    component(() => {
      throw new Error("no lines");
    });
  ui.setHeader(broken);
  ui.setFooter(broken);
  ui.setWidget("w", broken);
  ui.setWidget("v", () => {
    throw new Error("no widget");
  });
  await see("0.0.0");
  await see("(endpoint) mock");
  ui.setWidget("lies", () => component(() => "not a list" as unknown as string[]));
  await untilScreen(terminal, () => failures.length >= 5);
  await seeNo("not a list");
  assert.deepEqual(failures.sort(), [
    "mine.ts footer: no lines",
    "mine.ts header: no lines",
    "mine.ts widget: no lines",
    "mine.ts widget: no widget",
    "mine.ts widget: render must return a list of lines",
  ]);
});

test("[U2, U5] colours of the theme pass, hostile sequences and widths do not, wherever an extension writes", async (t) => {
  const all = HOSTILE_TEXTS.map(([, text]) => text).join(" ");
  const { ui, terminal, see } = await startExtended(t, undefined, {
    rows: 60,
    mode: { env: TRUECOLOR },
    replies: say("ok"),
  });
  const before = terminal.title;
  ui.setStatus("s", ui.theme.fg("accent", "coloured"));
  ui.setStatus("t", all);
  ui.setWidget("w", [all, "宽".repeat(200)]);
  ui.setWidget("c", () => component(() => [all, "x".repeat(500), "two\nlines"]));
  ui.notify(all, "warning");
  ui.setWorkingMessage(all);
  ui.setHiddenThinkingLabel(all);
  void ui.select(all, [all]);
  await see("two lines");
  assert.ok(terminal.output.includes(ui.theme.fg("accent", "coloured")));
  for (const line of terminal.output.split("\n"))
    assert.doesNotMatch(withoutRendering(line.replace(STYLES, "")), DANGEROUS, JSON.stringify(line.slice(0, 200)));
  assert.equal(terminal.title, before);
  ui.setTitle(all);
  assert.doesNotMatch(terminal.title, DANGEROUS);
});

test("[U2] a component has the keyboard until it is done; an overlay lies over the conversation", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t);
  const keys: string[] = [];
  const answer = ui.custom<string>((_tui, theme, _keybindings, done) => ({
    render: () => [theme.bold("press x")],
    invalidate: () => undefined,
    handleInput: (data) => {
      keys.push(data);
      if (data === "x") done("pressed");
    },
  }));
  await see("press x");
  terminal.type("a", "x");
  assert.equal(await answer, "pressed");
  assert.deepEqual(keys, ["a", "x"]);
  await seeNo("press x");

  let gone = 0;
  const over = ui.custom<number>(
    async (_tui, _theme, _keybindings, done) => ({
      render: (width) => ["#".repeat(width)],
      invalidate: () => undefined,
      handleInput: () => done(1),
      dispose: () => gone++,
    }),
    { overlay: true, overlayOptions: () => ({ width: 11, anchor: "center", row: 1e12, maxHeight: Number.NaN }) },
  );
  await see("#".repeat(11));
  terminal.type("q");
  assert.equal(await over, 1);
  await seeNo("###########");
  assert.equal(gone, 1);
});

test("[U2, X3] a component that throws is closed and answers nothing; one that is never done goes with its extension", async (t) => {
  const { ui, terminal, see, seeNo, leave, failures } = await startExtended(t);
  const broken = ui.custom(() => ({
    render: () => ["about to break"],
    invalidate: () => undefined,
    handleInput: () => {
      throw new Error("broke");
    },
  }));
  await see("about to break");
  terminal.type("k");
  assert.equal(await broken, undefined);
  await seeNo("about to break");
  assert.deepEqual(failures, ["mine.ts custom: broke"]);
  await assert.rejects(
    ui.custom(() => {
      throw new Error("no component");
    }),
    new Error("no component"),
  );
  const forever = ui.custom(() => component(() => ["here for ever"]));
  const over = ui.custom(() => component(() => ["over all"]), { overlay: true });
  await see("over all");
  leave();
  assert.deepEqual(await Promise.all([forever, over]), [undefined, undefined]);
  await seeNo("here for ever");
  await seeNo("over all");
});

test("[U2, X3] a component that takes every key and never ends is closed by three presses of the key that quits", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t);
  let keys = 0;
  const trap = ui.custom(() => ({ ...component(() => ["no way out"]), handleInput: () => void keys++ }), {
    overlay: true,
  });
  await see("no way out");
  terminal.type(ESCAPE, "\x03", "x", "\x03", "\x03");
  assert.equal(keys, 5);
  terminal.type("\x03");
  assert.equal(await trap, undefined);
  await seeNo("no way out");
  terminal.type(..."free");
  await see("free");
});

test("[U2] when an extension is gone, nothing of it is left on the screen", async (t) => {
  const { ui, uiOf, see, seeNo, leave, terminal } = await startExtended(t);
  ui.setStatus("s", "a status");
  ui.setWidget("w", ["a widget"]);
  ui.setHeader(() => new Text("a header"));
  ui.setFooter(() => new Text("a footer"));
  ui.setEditorComponent((tui, theme) => Object.assign(new Editor(tui, theme), { render: () => ["an editor"] }));
  ui.onTerminalInput(() => ({ consume: true }));
  uiOf("other.ts").setWidget("o", ["another's"]);
  await see("an editor");
  leave();
  await seeNo("an editor");
  terminal.type(..."typed");
  const rows = shown(await see("typed"));
  assert.deepEqual(
    rows.filter((row) => /a (status|widget|header|footer)/.test(row)),
    [],
  );
  await see("another's");
});

test("[U2] an editor made of CustomEditor keeps draft, completion and bough's keys; another one too", async (t) => {
  class Loud extends CustomEditor {
    override handleInput(data: string): void {
      super.handleInput(data === "a" ? "A" : data);
    }
    override render(width: number): string[] {
      return [...super.render(width), "loud"];
    }
  }
  const { ui, terminal, see, seeNo, server } = await startExtended(t, undefined, { replies: say("Heard") });
  terminal.type(..."dr");
  await see("dr");
  const factory = (...[tui, theme, keybindings]: ConstructorParameters<typeof Loud>): Loud =>
    new Loud(tui, theme, keybindings);
  ui.setEditorComponent(factory);
  assert.equal(ui.getEditorComponent(), factory);
  await see("loud");
  terminal.type(..."aft");
  await see("drAft");
  assert.equal(ui.getEditorText(), "drAft");
  terminal.type("\x0f");
  await seeNo("drAft\x0f");
  terminal.type(ENTER);
  await see("Heard");
  assert.equal(server.requests.length, 1);
  ui.setEditorText("set by the extension");
  await see("set by the extension");
  ui.pasteToEditor(" and pasted");
  await see("set by the extension and pasted");
  ui.setEditorComponent(undefined);
  await seeNo("loud");
  await see("set by the extension and pasted");
  // Ctrl+C clears bough's own editor again.
  terminal.type("\x03");
  await seeNo("set by the extension");
});

test("[U2, X3] an editor that throws gives its place and the draft back", async (t) => {
  class Fragile extends CustomEditor {
    override handleInput(data: string): void {
      if (data === "!") throw new Error("fell apart");
      super.handleInput(data);
    }
  }
  const { ui, terminal, see, failures } = await startExtended(t);
  ui.setEditorComponent((...[tui, theme, keybindings]) => new Fragile(tui, theme, keybindings as never));
  terminal.type(..."keep me");
  await see("keep me");
  terminal.type("!", ..."?");
  await see("keep me?");
  assert.deepEqual(failures, ["mine.ts editor: fell apart"]);
  assert.equal(ui.getEditorComponent(), undefined);
  ui.setEditorComponent(() => {
    throw new Error("no editor");
  });
  await see("keep me?");
  assert.deepEqual(failures.slice(1), ["mine.ts editor: no editor"]);
});

test("[U2] completion of an extension stands around bough's; one that throws falls out", async (t) => {
  const { ui, terminal, see, seeNo, failures } = await startExtended(t);
  let breaks = false;
  ui.addAutocompleteProvider((inner) => ({
    triggerCharacters: ["#"],
    getSuggestions: async (lines, line, column, options) => {
      if (breaks) throw new Error("no ideas");
      const text = (lines[line] ?? "").slice(0, column);
      return text.endsWith("#")
        ? { prefix: "#", items: [{ value: "#12", label: "#12 \x1b[2Jissue" }] }
        : inner.getSuggestions(lines, line, column, options);
    },
    applyCompletion: (...asked) => inner.applyCompletion(...asked),
  }));
  terminal.type("#");
  await see("#12 issue");
  terminal.type(ESCAPE, "\x7f");
  await seeNo("#12");
  terminal.type("/", "c", "l");
  await see("Copy this branch into a new session");
  terminal.type(ESCAPE, "\x7f", "\x7f", "\x7f");
  await seeNo("Copy this branch");
  breaks = true;
  terminal.type("/", "c", "l");
  await see("Copy this branch into a new session");
  assert.deepEqual(failures, ["mine.ts completion: no ideas"]);
});

test("[U2] what the terminal sends can be seen, changed and taken; a listener that throws takes nothing", async (t) => {
  const { ui, terminal, see, failures } = await startExtended(t);
  const stop = ui.onTerminalInput((data) =>
    data === "q" ? { consume: true } : data === "w" ? { data: "W" } : undefined,
  );
  ui.onTerminalInput((data) => {
    if (data === "z") throw new Error("z?");
    return undefined;
  });
  terminal.type(..."qwz");
  await see("Wz");
  stop();
  terminal.type(..."qw");
  await see("Wzqw");
  assert.deepEqual(failures, ["mine.ts terminal input: z?"]);
});

test("[U2] the words, the sign and the row that say that the model works", async (t) => {
  const { ui, terminal, see, seeNo } = await startExtended(t, undefined, {
    replies: (response) => void setTimeout(() => response.end(), 3000),
  });
  ui.setWorkingMessage("Thinking hard");
  ui.setWorkingIndicator({ frames: ["<>"] });
  terminal.type(..."Hi", ENTER);
  await see("<> Thinking hard");
  ui.setWorkingMessage();
  await see("<> Working…");
  ui.setWorkingVisible(false);
  await seeNo("Working…");
  ui.setWorkingVisible(true);
  ui.setWorkingIndicator({ frames: [] });
  assert.ok(shown(await see("Working…")).some((row) => row.startsWith("Working…")));
  terminal.type(ESCAPE);
  await seeNo("Working…");
});

test("[U2] themes are listed, found and set; an unknown one is an error and changes nothing", async (t) => {
  const { ui, terminal } = await startExtended(t, undefined, { mode: { env: TRUECOLOR } });
  assert.deepEqual(
    ui.getAllThemes().filter(({ path }) => path === undefined),
    [
      { name: "dark", path: undefined },
      { name: "light", path: undefined },
    ],
  );
  const light = ui.getTheme("light");
  assert.equal(light?.name, "light");
  assert.equal(ui.getTheme("none"), undefined);
  const { theme } = ui;
  assert.equal(theme.name, "dark");
  assert.deepEqual(ui.setTheme("light"), { success: true });
  assert.equal(theme.name, "light");
  assert.equal(theme.fg("accent", "x"), light?.fg("accent", "x"));
  await untilScreen(terminal, () => terminal.output.includes(theme.fg("accent", "\x1b[1mbough\x1b[22m")));
  assert.equal(ui.setTheme("no such").success, false);
  assert.equal(ui.setTheme({} as never).success, false);
  assert.equal(theme.name, "light");
  assert.equal(theme.fg("no such token", "x").replace(STYLES, ""), "x");
});
