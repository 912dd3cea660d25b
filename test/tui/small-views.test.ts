/** Footer, title, git branch, colours of code and diffs, themes: small views, whole values. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { SeededRandom } from "../support/generate.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { colourDiff } from "../../src/tui/diff-view.ts";
import { Footer, type FooterFacts, shortNumber } from "../../src/tui/footer.ts";
import { gitBranch } from "../../src/tui/git-branch.ts";
import { highlightCode, languageOf } from "../../src/tui/highlight.ts";
import { fit, fitRuns } from "../../src/tui/selector-list.ts";
import { terminalTitle } from "../../src/tui/terminal-title.ts";
import { colorModeOf, setTheme, theme, THEME_TOKENS } from "../../src/tui/theme.ts";
import { builtInTheme, parseTheme, themeForBackground } from "../../src/tui/themes.ts";

const facts: FooterFacts = {
  cwd: "~/work",
  gitBranch: "main",
  sessionName: "The plan",
  usage: { input: 1234, output: 999, cacheRead: 123_456, cacheWrite: 0, cost: 1.2345 },
  context: { window: 200_000, percent: 71.26 },
  model: { provider: "p", id: "m-1", hasThinking: true },
  thinkingLevel: "high",
  mode: "none",
  unsaved: 0,
  isFollowing: false,
  statuses: [],
};
const footer = (width: number, changes: Partial<FooterFacts> = {}): string[] =>
  new Footer(() => ({ ...facts, ...changes })).render(width).map((line) => stripTerminalSequences(line).trimEnd());

test("[U4] the footer: folder, branch and name; tokens, cost, context and model", () => {
  assert.deepEqual(footer(70), [
    "~/work (main) • The plan",
    `↑1.2k ↓999 R123k $1.234 71.3%/200k${" ".repeat(22)}(p) m-1 • high`,
  ]);
  assert.deepEqual(
    footer(70, {
      gitBranch: undefined,
      sessionName: undefined,
      usage: undefined,
      context: { window: 200_000, percent: undefined },
      model: undefined,
    }),
    ["~/work", `?/200k${" ".repeat(48)}no model: /model`],
  );
});

test("[U4, X6] the footer names the model that a virtual one has sent the latest request to", () => {
  const model = { provider: "router", id: "auto", hasThinking: true, answering: "big" };
  assert.equal(footer(60, { model, usage: undefined, context: undefined })[1]?.trim(), "(router) auto • high → big");
});

test("[W4, U4] the footer counts what is unsaved, before all else", () => {
  assert.equal(
    footer(70, { unsaved: 3 })[1],
    `3 unsaved ↑1.2k ↓999 R123k $1.234 71.3%/200k${" ".repeat(12)}(p) m-1 • high`,
  );
});

test("[P1, U4] the footer begins with the mode the session is in", () => {
  assert.equal(
    footer(70, { mode: "plan", usage: undefined, context: undefined })[1],
    `plan${" ".repeat(52)}(p) m-1 • high`,
  );
  assert.ok(footer(70, { mode: "a\x1b[2Jb\nc", unsaved: 1 })[1]?.startsWith("ab c 1 unsaved "));
});

test("[U4] the context's share is a warning above 70 percent and an error above 90", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  const tokenOf = (percent: number): string[] => {
    const line =
      new Footer(() => ({ ...facts, usage: undefined, context: { window: 1000, percent } })).render(60)[1] ?? "";
    return THEME_TOKENS.filter((token) => line.startsWith(theme.getFgAnsi(token)));
  };
  assert.ok(tokenOf(70).includes("dim"));
  assert.ok(tokenOf(70.1).includes("warning"));
  assert.ok(tokenOf(90).includes("warning"));
  assert.ok(tokenOf(90.1).includes("error"));
});

test("[U5] dB68 the footer fits every width", () => {
  const wide = {
    cwd: "~/日本語/👩‍👩‍👧‍👦",
    sessionName: "計画".repeat(30),
    model: { provider: "提供者", id: "模型".repeat(9), hasThinking: true },
  };
  for (let width = 1; width <= 80; width++)
    for (const line of new Footer(() => ({ ...facts, ...wide })).render(width))
      assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
});

test("[U4] numbers are short", () => {
  assert.deepEqual([0, 999, 1000, 9949, 12_345, 999_499, 1_234_567, 12_345_678].map(shortNumber), [
    "0",
    "999",
    "1.0k",
    "9.9k",
    "12k",
    "999k",
    "1.2M",
    "12M",
  ]);
});

test("[U3, U5] the terminal's title: bough, name, folder, all on one harmless line", () => {
  assert.equal(terminalTitle("The plan", "/home/me/work"), "bough - The plan - work");
  assert.equal(terminalTitle(undefined, "/home/me/work"), "bough - work");
  assert.equal(terminalTitle("", "/"), "bough");
  assert.equal(terminalTitle("The plan", "/home/me/work", true), "bough (plan) - The plan - work");
  assert.equal(terminalTitle("a\x07b\n\x1b]0;c\x07", "/x/\x1b[2Jy"), "bough - ab - y");
  assert.equal(terminalTitle("💥".repeat(100), "/w"), `bough - ${"💥".repeat(30)} - w`);
});

test("[U4] the git branch is read from files: branch, detached commit, worktree, none", () => {
  const dir = temporaryFolder();
  const repository = join(dir, "repository");
  mkdirSync(join(repository, ".git", "worktrees", "w"), { recursive: true });
  mkdirSync(join(repository, "src", "deep"), { recursive: true });
  const head = (text: string): void => writeFileSync(join(repository, ".git", "HEAD"), text);
  head("ref: refs/heads/feature/one\n");
  assert.equal(gitBranch(join(repository, "src", "deep")), "feature/one");
  head(`${"0123456789abcdef".repeat(3).slice(0, 40)}\n`);
  assert.equal(gitBranch(repository), "0123456");
  head("nonsense\n");
  assert.equal(gitBranch(repository), undefined);
  mkdirSync(join(dir, "worktree"));
  writeFileSync(join(dir, "worktree", ".git"), `gitdir: ${join(repository, ".git", "worktrees", "w")}\n`);
  writeFileSync(join(repository, ".git", "worktrees", "w", "HEAD"), "ref: refs/heads/side\n");
  assert.equal(gitBranch(join(dir, "worktree")), "side");
  assert.equal(gitBranch(join(dir, "gone")), undefined);
});

test("[U4] changed lines: in a single changed line the words that differ are inverse", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  assert.deepEqual(colourDiff([" same", "-let a = 1", "+let b = 1", "-x", "-y", "+z"]), [
    theme.fg("toolDiffContext", " same"),
    theme.fg("toolDiffRemoved", `-let ${theme.inverse("a")} = 1`),
    theme.fg("toolDiffAdded", `+let ${theme.inverse("b")} = 1`),
    theme.fg("toolDiffRemoved", "-x"),
    theme.fg("toolDiffRemoved", "-y"),
    theme.fg("toolDiffAdded", "+z"),
  ]);
});

test("[U4] code in colours: every line has its own, and its text is unchanged", () => {
  setTheme(builtInTheme("dark", "truecolor"));
  assert.deepEqual(highlightCode('const a = "x"; /* one\ntwo */', "ts"), [
    [
      theme.fg("syntaxKeyword", "const"),
      theme.fg("mdCodeBlock", " a = "),
      theme.fg("syntaxString", '"x"'),
      theme.fg("mdCodeBlock", "; "),
      theme.fg("syntaxComment", "/* one"),
    ].join(""),
    theme.fg("syntaxComment", "two */"),
  ]);
  const code = "if (a < 2 && b > '&amp;') { return `<b>${c}</b>`; }\n\n# not <html>";
  for (const language of ["ts", "python", "html", "no-such-language", "", undefined])
    assert.equal(stripTerminalSequences(highlightCode(code, language).join("\n")), code);
  assert.deepEqual(["a/b.tsx", "Makefile", "x.unknown", "README.md"].map(languageOf), ["tsx", "makefile", "", "md"]);
});

test("[U4] NO_COLOR and a dumb terminal get no escape sequence from the theme", () => {
  assert.equal(colorModeOf({ NO_COLOR: "1" }), "none");
  assert.equal(colorModeOf({ TERM: "dumb" }), "none");
  assert.notEqual(colorModeOf({ NO_COLOR: "", TERM: "xterm" }), "none");
  const plain = builtInTheme("dark", "none");
  assert.equal(plain.bg("userMessageBg", plain.fg("accent", plain.bold(plain.italic(plain.underline("x"))))), "x");
});

test("[U2, U4] both built-in themes colour every token, and the background decides between them", () => {
  for (const name of ["dark", "light"] as const) {
    const look = builtInTheme(name, "truecolor");
    // A true colour, or the terminal's own.
    for (const token of THEME_TOKENS) assert.match(look.getFgAnsi(token).slice(2), /^3(?:8;2;\d+;\d+;\d+|9)m$/, token);
  }
  assert.equal(themeForBackground({ r: 250, g: 250, b: 240 }, "truecolor").name, "light");
  assert.equal(themeForBackground({ r: 20, g: 20, b: 60 }, "truecolor").name, "dark");
});

test("[U4] a theme file: colours, indexes, vars, the terminal's own; faults are named, nothing throws", () => {
  const colors = Object.fromEntries(THEME_TOKENS.map((token) => [token, ""]));
  const read = (file: object): string => {
    const parsed = parseTheme(JSON.stringify(file), "truecolor");
    return "error" in parsed ? parsed.error : parsed.theme.getFgAnsi("accent");
  };
  assert.equal(read({ colors: { ...colors, accent: "#010203" } }), "\x1b[38;2;1;2;3m");
  assert.equal(read({ colors: { ...colors, accent: 33 } }), "\x1b[38;5;33m");
  assert.equal(read({ vars: { blue: "#000009" }, colors: { ...colors, accent: "blue" } }), "\x1b[38;2;0;0;9m");
  assert.equal(read({ colors }), "\x1b[39m");
  // pi's themes have no colour for plan mode.
  const { planMode: _, ...ofPi } = colors;
  const pi = parseTheme(JSON.stringify({ colors: { ...ofPi, warning: "#010203" } }), "truecolor");
  assert.ok("theme" in pi);
  assert.equal(pi.theme.getPlanModeBorderColor()("x"), "\x1b[38;2;1;2;3mx\x1b[39m");
  assert.equal(read({ colors: { ...colors, accent: "red" } }), 'The theme cannot be read: "accent" is not a colour');
  assert.equal(read({ colors: { ...colors, acent: "" } }), 'The theme has a colour for "acent", which is no token.');
  assert.equal(read({}), 'The theme has no colour for "accent".');
  assert.deepEqual(Object.keys(parseTheme("{", "truecolor")), ["error"]);
});

test("[U4, Y9] runs cut one by one are what the whole line is cut to, at any width", () => {
  const texts = [
    "",
    "│  ├─ ",
    "└⊟ ",
    "…⊞ ",
    "• ",
    "› ",
    "user: ",
    "plain words ",
    "naïve ",
    "漢字",
    "👩‍👩‍👧 family",
    "e\u0301",
    "x".repeat(30),
  ];
  const random = new SeededRandom(5);
  for (let n = 0; n < 500; n++) {
    const runs = Array.from({ length: random.below(6) }, () => ({ text: random.pick(texts) }));
    const whole = runs.map(({ text }) => text).join("");
    const width = random.below(40);
    const line = fitRuns(runs, width, ({ text }) => text);
    assert.equal(
      stripTerminalSequences(line),
      stripTerminalSequences(fit(whole, width)),
      JSON.stringify([whole, width]),
    );
    assert.ok(visibleWidth(line) <= width);
  }
});
