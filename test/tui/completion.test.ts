/** What the editor offers while one types, from the provider itself and on the screen. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BUILTIN_COMMANDS, builtinCommand, parseCommand } from "../../src/tui/builtin-registry.ts";
import { PromptCompletion } from "../../src/tui/completion.ts";
import { sentMessages } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { startInteractive } from "./interactive-harness.ts";

function project(): string {
  const dir = temporaryFolder();
  mkdirSync(join(dir, ".git"));
  mkdirSync(join(dir, "src", "deep"), { recursive: true });
  mkdirSync(join(dir, "ignored"));
  writeFileSync(join(dir, ".gitignore"), "ignored\n");
  for (const name of [
    "src/main.ts",
    "src/deep/mainframe.ts",
    "read me.md",
    "src/日本.ts",
    "ignored/main.ts",
    "bad\x1b]0;x\x07.ts",
  ])
    writeFileSync(join(dir, name), "");
  return dir;
}

test("[U4] @ offers the project's files by a few letters, quoted where needed, ignored and harmful names left out", async () => {
  const completion = new PromptCompletion([], project());
  const offered = async (line: string): Promise<unknown> => {
    const found = await completion.getSuggestions([line], 0, line.length, { signal: new AbortController().signal });
    return found && { prefix: found.prefix, values: found.items.map(({ value }) => value).toSorted() };
  };
  assert.deepEqual(await offered("look at @mai"), {
    prefix: "@mai",
    values: ["@src/deep/mainframe.ts", "@src/main.ts"],
  });
  assert.deepEqual(await offered("@readme"), { prefix: "@readme", values: ['@"read me.md"'] });
  assert.deepEqual(await offered('@"read m'), { prefix: '@"read m', values: ['@"read me.md"'] });
  assert.deepEqual(await offered("@日本"), { prefix: "@日本", values: ["@src/日本.ts"] });
  assert.deepEqual(await offered("@"), {
    prefix: "@",
    values: ['@"read me.md"', "@.gitignore", "@src/deep/mainframe.ts", "@src/main.ts", "@src/日本.ts"],
  });
  assert.equal(await offered("@nothing-like-it"), null);
  assert.equal(await offered("me@mai"), null);
});

test("[U4] without a folder to list, @ offers nothing", async () => {
  const completion = new PromptCompletion([], join(temporaryFolder(), "gone"));
  assert.equal(await completion.getSuggestions(["@a"], 0, 2, { signal: new AbortController().signal }), null);
});

test("[U3, U4] / offers the commands of the registry, and an argument's values behind one", async (t) => {
  const { terminal, see, seeNo } = await startInteractive(t);
  await see("0.0.0");
  terminal.type(..."/resu");
  await see("Open another session");
  terminal.type("\x1b");
  await seeNo("Open another session");
  terminal.type("\x03", ..."/model mo");
  await see("endpoint/mock");
});

test("[U4] a chosen file stands in the prompt", async (t) => {
  const dir = project();
  const { terminal, see, server } = await startInteractive(t, {
    replies: say("ok"),
    manager: SessionManager.create(dir, join(dir, "sessions")),
  });
  await see("0.0.0");
  terminal.type(..."read @mainfr");
  await see("src/deep/mainframe.ts");
  terminal.type("\t");
  await see("read @src/deep/mainframe.ts");
  terminal.type(..."now", "\r");
  await see("ok");
  assert.deepEqual(sentMessages(server.requests[0]), ["user read @src/deep/mainframe.ts now"]);
});

test("[U3] every command is in the one table, under its name and alias, with a description", () => {
  assert.deepEqual(
    BUILTIN_COMMANDS.map(({ name, alias }) => (alias === undefined ? name : `${name}|${alias}`)),
    [
      "tree",
      "back",
      "forward",
      "branch|fork",
      "compact",
      "uncompact",
      "context",
      "clone",
      "new",
      "resume",
      "name",
      "session",
      "take-over",
      "save-as",
      "export",
      "model",
      "thinking",
      "tier",
      "plan",
      "plan-review",
      "label",
      "mcp",
      "extensions",
      "reload",
      "hotkeys",
      "copy",
      "quit|exit",
    ],
  );
  assert.equal(builtinCommand("fork"), builtinCommand("branch"));
  assert.equal(builtinCommand("__proto__"), undefined);
});

test("[U3] what is a command and what is a prompt", () => {
  assert.deepEqual(
    [
      "/name",
      "/name  two words \n more",
      "/",
      "/usr/bin",
      "/etc is a folder",
      "/2 of 3",
      "// comment",
      "name",
      " /name",
      "/naïve",
    ].map(parseCommand),
    [
      { name: "name", argument: "" },
      { name: "name", argument: "two words \n more" },
      undefined,
      undefined,
      { name: "etc", argument: "is a folder" },
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  );
});
