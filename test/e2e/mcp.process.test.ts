/** An MCP server on the real program: its tool is called, left out on one branch, and back after a jump back. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOOL_SERVER } from "../support/mcp-tool-server.ts";
import { KEYS, Program, newFolder } from "../support/program.ts";
import { callTools, say, startProvider } from "../support/provider-mock.ts";

const ADD = "mcp__calc__add";

test("[P3, X5] a project's MCP server: trusted, its tool called, left out on one branch, and back after a jump", async (t) => {
  const provider = await startProvider([
    callTools({ id: "c1", name: ADD, arguments: { a: 20, b: 22 } }),
    say("It is FORTY-TWO."),
    say("SECOND answer."),
    say("THIRD answer."),
    say("FOURTH answer."),
  ]);
  t.after(() => provider.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  mkdirSync(join(cwd, ".bough"));
  mkdirSync(join(home, ".bough"));
  writeFileSync(
    join(home, ".bough/settings.json"),
    JSON.stringify({ mcpWaitMs: 60_000, branchSummary: { skipPrompt: true } }),
  );
  const calc = { command: process.execPath, args: [TOOL_SERVER] };
  writeFileSync(
    join(cwd, ".bough/mcp.json"),
    JSON.stringify({ mcpServers: { calc, gone: { command: "no-such-program" } } }),
  );
  const flags = ["--base-url", provider.baseUrl, "--model", "mock", "--api-key", "k"];
  const start = (...args: string[]): Program => {
    const program = new Program({ args: [...args, ...flags], cwd, home });
    t.after(() => program.stop());
    return program;
  };
  const hasAdd = (): boolean =>
    provider.requests.at(-1)?.body.tools?.some(({ function: { name } }) => name === ADD) ?? false;

  const bough = start();
  await bough.waitFor("  .bough/mcp.json");
  bough.send(`y${KEYS.enter}`);
  await bough.waitFor('The MCP server "gone" does not work: its command "no-such-program" was not found');
  const ask = async (prompt: string, answer: string): Promise<void> => {
    bough.send(`${prompt}${KEYS.enter}`);
    await bough.answered(answer);
  };
  await ask("Add them", "FORTY-TWO");
  assert.match(bough.everything(), /mcp__calc__add .*20.*22[\s\S]*42/);

  // Left out from here on.
  bough.send(`/mcp${KEYS.enter}`);
  await bough.waitFor(/› calc 10 of 10 ready[\s\S]*\[x\] add Adds two numbers\.[\s\S]*gone its command/);
  bough.send("add");
  await bough.waitFor("(1/2)");
  bough.send(`${KEYS.down} ${KEYS.enter}`);
  await bough.waitFor("MCP tools of this branch: 9");
  await ask("two", "SECOND");
  assert.equal(hasAdd(), false);

  // Back to before the choice.
  bough.send(`/tree${KEYS.enter}`);
  await bough.waitFor("Session Tree");
  bough.send("forty");
  await bough.waitFor(/^› .*FORTY-TWO/m);
  bough.send(KEYS.enter);
  await bough.waitFor("Navigated to selected point");
  await ask("three", "THIRD");
  assert.equal(hasAdd(), true);

  // And on the other branch again, in another run.
  bough.send(`/back${KEYS.enter}`);
  await bough.waitFor("SECOND");
  bough.send(`/quit${KEYS.enter}`);
  assert.equal((await bough.exited).exitCode, 0);
  const again = start("-c");
  await again.waitFor("SECOND");
  again.send(`four${KEYS.enter}`);
  await again.answered("FOURTH");
  assert.equal(hasAdd(), false);
  again.send(`/quit${KEYS.enter}`);
  assert.equal((await again.exited).exitCode, 0);
});
