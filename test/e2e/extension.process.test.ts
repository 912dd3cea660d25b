/** An extension in the real program on a real terminal: trusted with the project, drawn, asked, reloaded, quit. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { KEYS, Program, newFolder } from "../support/program.ts";
import { after, callTools, say, startProvider } from "../support/provider-mock.ts";

const source = (word: string): string => `
import { writeFileSync } from "node:fs";
import { CustomEditor, type ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Text } from "@mariozechner/pi-tui";
enum Mark { On = "${word}" }
class Marked extends CustomEditor {
  override render(width: number): string[] { return [...super.render(width), Mark.On + " editor"]; }
}
export default function (pi: ExtensionAPI) {
  pi.on("session_start", ({ reason }, ctx) => {
    ctx.ui.setWidget("w", () => new Text(Mark.On + " " + reason));
    ctx.ui.setEditorComponent((tui, theme, keys) => new Marked(tui, theme, keys));
  });
  pi.registerCommand("save", { handler: async (name, ctx) => {
    if (await ctx.ui.confirm("Save it?", name)) writeFileSync(name, "saved");
  } });
  pi.on("session_shutdown", ({ reason }) => { if (reason === "quit") writeFileSync("bye", Mark.On); });
}
`;

test("[X1, X4, X5, U2] a project's extension: trusted, drawn, asked, loaded anew, told goodbye", async (t) => {
  const provider = await startProvider(say("An answer"));
  t.after(() => provider.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  mkdirSync(join(home, ".bough/extensions"), { recursive: true });
  const path = join(home, ".bough/extensions/mine.ts");
  writeFileSync(path, source("FIRST"));
  mkdirSync(join(cwd, ".bough/extensions"), { recursive: true });
  writeFileSync(
    join(cwd, ".bough/extensions/project.js"),
    'export default (pi) => pi.registerCommand("ours", { handler: (_, ctx) => ctx.ui.notify("OURS runs") });\n',
  );
  const args = ["--base-url", provider.baseUrl, "--model", "mock", "--api-key", "k"];
  const bough = new Program({ args, cwd, home });
  t.after(() => bough.stop());
  await bough.waitFor(".bough/extensions/project.js");
  bough.send(`y${KEYS.enter}`);
  await bough.waitFor("FIRST startup");
  await bough.waitFor("FIRST editor");
  bough.send(`/ours${KEYS.enter}`);
  await bough.waitFor("OURS runs");
  bough.send(`/save kept${KEYS.enter}`);
  await bough.waitFor("Save it?");
  bough.send(KEYS.enter);
  bough.send(`Hi${KEYS.enter}`);
  await bough.answered("An answer");
  assert.equal(readFileSync(join(cwd, "kept"), "utf8"), "saved");
  writeFileSync(path, source("SECOND"));
  bough.send(`/reload${KEYS.enter}`);
  await bough.waitFor("SECOND reload");
  await bough.waitFor("SECOND editor");
  bough.send(`/quit${KEYS.enter}`);
  assert.equal((await bough.exited).exitCode, 0);
  assert.equal(readFileSync(join(cwd, "bye"), "utf8"), "SECOND");
});

test("[X1, X3] /reload says which extensions it could not load, and that a first one needs a new start", async (t) => {
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  const folder = join(home, ".bough/extensions");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "gate.js");
  const open = (): Program => {
    const program = new Program({ args: [], cwd, home, columns: 250, env: { ANTHROPIC_API_KEY: "k" } });
    t.after(() => program.stop());
    return program;
  };
  const first = open();
  await first.waitFor("Escape stops");
  writeFileSync(path, 'export default (pi) => pi.registerCommand("gate", { handler: () => {} });\n');
  first.send(`/reload${KEYS.enter}`);
  await first.waitFor(`${path} is new; bough had no extensions when it started, so start it again to load it.`);
  const second = open();
  await second.waitFor("Escape stops");
  writeFileSync(path, 'throw new Error("half-written");\n');
  second.send(`/reload${KEYS.enter}`);
  await second.waitFor(`The extension ${path} was not loaded: half-written`);
  for (const program of [first, second]) {
    program.send(`/quit${KEYS.enter}`);
    assert.equal((await program.exited).exitCode, 0);
  }
});

test("[A9, X1, U2] /reload: settings and models as the files say now, and what an extension then says stays", async (t) => {
  const provider = await startProvider(say("An answer"));
  t.after(() => provider.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  const folder = join(home, ".bough");
  mkdirSync(join(folder, "extensions"), { recursive: true });
  const models = (...ids: string[]): void =>
    writeFileSync(
      join(folder, "models.json"),
      JSON.stringify({ providers: { lab: { baseUrl: provider.baseUrl, models: ids.map((id) => ({ id })) } } }),
    );
  models("one");
  writeFileSync(
    join(folder, "extensions/told.js"),
    `export default (pi) => {
      pi.on("session_start", ({ reason }, ctx) => ctx.ui.notify("BEGUN " + reason));
      pi.registerCommand("tries", { handler: (_, ctx) => ctx.ui.notify("TRIES " + pi.getSettings().retry.maxRetries) });
    };`,
  );
  const bough = new Program({ args: [], cwd, home, columns: 140 });
  t.after(() => bough.stop());
  await bough.waitFor("BEGUN startup");
  models("one", "two");
  writeFileSync(join(folder, "settings.json"), '{"retry": {"maxRetries": 0}, "summaryModel": "lab/gone"}');
  bough.send(`/reload${KEYS.enter}`);
  await bough.waitFor("Read anew: extensions, keys, settings, models, rules and context files");
  await bough.waitFor("BEGUN reload");
  await bough.waitFor('No model is named "lab/gone"');
  bough.send(`/tries${KEYS.enter}`);
  await bough.waitFor("TRIES 0");
  bough.send(`/model lab/two${KEYS.enter}`);
  bough.send(`Hi${KEYS.enter}`);
  await bough.answered("An answer");
  assert.equal(provider.requests.at(-1)?.body.model, "two");
});

test("[A9] /reload waits for the end of a turn: the models it needs stay as they are", async (t) => {
  const gate = Promise.withResolvers<void>();
  const look = callTools({ id: "c1", name: "ls", arguments: { path: "." } });
  const provider = await startProvider([after(gate.promise, look), say("Looked")]);
  t.after(() => provider.close());
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  mkdirSync(join(home, ".bough"), { recursive: true });
  const file = join(home, ".bough/models.json");
  writeFileSync(file, JSON.stringify({ providers: { lab: { baseUrl: provider.baseUrl, models: [{ id: "one" }] } } }));
  const bough = new Program({ args: [], cwd, home });
  t.after(() => bough.stop());
  await bough.waitFor("Escape stops");
  bough.send(`Hi${KEYS.enter}`);
  await bough.waitFor("Working");
  writeFileSync(file, "{ half-written");
  bough.send(`/reload${KEYS.enter}`);
  await bough.waitFor("Something is still running; wait for its end, or stop it first.");
  gate.resolve();
  await bough.answered("Looked");
  bough.send(`/reload${KEYS.enter}`);
  await bough.waitFor("models.json line 1 is not JSON");
});

test("[X3] an extension that hangs at load is named, and Escape leaves it out, at the start and at /reload", async (t) => {
  const [home, cwd] = [newFolder("home"), newFolder("work")];
  const folder = join(home, ".bough/extensions");
  mkdirSync(folder, { recursive: true });
  const command = (name: string): string =>
    `pi.registerCommand("${name}", { handler: (_, ctx) => ctx.ui.notify("RUNS ${name}") });`;
  writeFileSync(
    join(folder, "hangs.js"),
    `export default async (pi) => { ${command("never")} await new Promise(() => {}); };`,
  );
  writeFileSync(join(folder, "works.js"), `export default (pi) => { ${command("works")} };`);
  const bough = new Program({ args: [], cwd, home, columns: 250, env: { ANTHROPIC_API_KEY: "k" } });
  t.after(() => bough.stop());
  await bough.waitFor("Loading extension hangs.js … (Escape or Ctrl+C leaves it out)");
  bough.send("typed ahead");
  await bough.waitFor("Loading extension");
  bough.send(KEYS.escape);
  await bough.waitFor(`${join(folder, "hangs.js")} was not loaded: it was left out because it took too long.`);
  await bough.waitFor("typed ahead");
  bough.send(`\x15/works${KEYS.enter}`);
  await bough.waitFor("RUNS works");
  assert.ok(!bough.screen().includes("Loading extension"));
  bough.send(`/reload${KEYS.enter}`);
  await bough.waitFor(`Loading extension ${join(folder, "hangs.js")} … Stop it with Escape to leave it out.`);
  bough.send(KEYS.escape);
  await bough.waitFor("Read anew: extensions");
  bough.send(`/works${KEYS.enter}`);
  await bough.answered("RUNS works");
});
