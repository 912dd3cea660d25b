/** Extensions in `--mode rpc` and `bough -p`: their dialogs as requests, their commands, their flags. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalPath } from "../../../src/session/locations.ts";
import { Place, connectedTo, providerFor } from "../../support/command.ts";
import { say } from "../../support/provider-mock.ts";
import { rpcClient } from "../../support/rpc-client.ts";
import type { OutLine } from "../../support/rpc-client.ts";

const EXTENSION = `
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
export default function (pi: ExtensionAPI) {
  pi.registerFlag("greeting", { type: "string", default: "Hello" });
  pi.on("session_start", async (event, ctx) => {
    ctx.ui.setStatus("mode", ctx.mode + " " + ctx.hasUI);
    if (ctx.hasUI) ctx.ui.notify("start " + (await ctx.ui.confirm("Begin?", event.reason)));
  });
  pi.registerCommand("ask", {
    description: "asks all there is to ask",
    handler: async (args, ctx) => {
      const answers = [
        await ctx.ui.select("Which?", ["a", "b"]),
        await ctx.ui.input("Name", "Ada"),
        await ctx.ui.editor("Text", "draft"),
        await ctx.ui.confirm("Late", "", { timeout: 50 }),
        await ctx.ui.custom(() => ({ render: () => [], invalidate() {} })),
      ];
      ctx.ui.setWidget("w", ["one", args]);
      ctx.ui.setWidget("drawn", () => ({ render: () => [], invalidate() {} }));
      ctx.ui.setTitle("titled");
      ctx.ui.setEditorText("for the prompt");
      ctx.ui.notify(JSON.stringify(answers) + ctx.ui.getEditorText(), "warning");
    },
  });
  pi.registerCommand("greet", { handler: (name) => pi.sendUserMessage(pi.getFlag("greeting") + " " + name) });
  pi.registerCommand("fail", { handler: () => { throw new Error("on purpose"); } });
}
`;

function placeWith(): Place {
  const place = new Place();
  mkdirSync(join(place.stateDir, "extensions"), { recursive: true });
  writeFileSync(join(place.stateDir, "extensions/mine.ts"), EXTENSION);
  return place;
}

const requestOf = (line: OutLine): object =>
  Object.fromEntries(Object.entries(line).filter(([name]) => name !== "type" && name !== "id"));

test("[X1, R1] dialogs are requests: answered by the client or by their time limit; the rest goes one way", async (t) => {
  const server = await providerFor(t, say("Hi"));
  const place = placeWith();
  const client = rpcClient(t, place, connectedTo(server));
  const request = (method: string): Promise<OutLine> =>
    client.next((line) => line.type === "extension_ui_request" && line["method"] === method);
  const answer = async (method: string, fields: object): Promise<object> => {
    const asked = await request(method);
    client.write(`${JSON.stringify({ type: "extension_ui_response", id: asked.id, ...fields })}\n`);
    return requestOf(asked);
  };
  const state = client.ask("get_state");
  assert.deepEqual(requestOf(await request("setStatus")), {
    method: "setStatus",
    statusKey: "mode",
    statusText: "rpc true",
  });
  // Done at once, though the session waits for the dialog.
  assert.equal((await state).success, true);
  assert.deepEqual(await answer("confirm", { confirmed: true }), {
    method: "confirm",
    title: "Begin?",
    message: "startup",
  });
  assert.deepEqual(requestOf(await request("notify")), { method: "notify", message: "start true", notifyType: "info" });
  assert.deepEqual(await client.data("get_commands"), {
    commands: ["ask", "greet", "fail"].map((name) => ({
      name,
      source: join(canonicalPath(place.stateDir), "extensions/mine.ts"),
      ...(name === "ask" ? { description: "asks all there is to ask" } : {}),
    })),
  });

  client.write('{"type":"extension_ui_response","id":"nobody","value":"x"}\n');
  const asked = client.data("prompt", { message: "/ask now" });
  assert.deepEqual(await answer("select", { value: "b" }), { method: "select", title: "Which?", options: ["a", "b"] });
  assert.deepEqual(await answer("input", { cancelled: true }), {
    method: "input",
    title: "Name",
    placeholder: "Ada",
  });
  assert.deepEqual(await answer("editor", { value: "written" }), { method: "editor", title: "Text", prefill: "draft" });
  assert.deepEqual(await asked, { disposition: "handled" });
  const last = client.events.filter(({ type }) => type === "extension_ui_request").slice(-4);
  assert.deepEqual(last.map(requestOf), [
    { method: "setWidget", widgetKey: "w", widgetLines: ["one", "now"] },
    { method: "setTitle", title: "titled" },
    { method: "set_editor_text", text: "for the prompt" },
    { method: "notify", message: '["b",null,"written",false,null]', notifyType: "warning" },
  ]);
  client.write('{"type":"extension_ui_response"}\n');
  const bad = await client.next(({ type, level }) => type === "notice" && level === "error");
  assert.match(String(bad["text"]), /^The extension_ui_response cannot be read: /);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
});

test("[X1, X3, R1] a command of an extension is run, one that fails is told, and a dialog nobody answers ends with the input", async (t) => {
  const server = await providerFor(t, say("Hi"));
  const client = rpcClient(t, placeWith(), [...connectedTo(server), "--greeting", "Welcome"]);
  const asked = await client.next((line) => line["method"] === "confirm");
  client.write(`${JSON.stringify({ type: "extension_ui_response", id: asked.id, confirmed: false })}\n`);
  assert.deepEqual(await client.data("prompt", { message: "/fail" }), { disposition: "handled" });
  const failed = await client.next(({ type, level }) => type === "notice" && level === "error");
  assert.match(String(failed["text"]), /mine\.ts failed at "\/fail": on purpose/);
  await client.data("prompt", { message: "/greet Ada" });
  await client.event("agent_settled");
  assert.match(JSON.stringify(server.requests[0]?.body.messages), /Welcome Ada/);
  const reloaded = client.data("reload_extensions");
  const again = await client.next((line) => line["message"] === "reload");
  client.write(`${JSON.stringify({ type: "extension_ui_response", id: again.id, cancelled: true })}\n`);
  assert.deepEqual(await reloaded, {});
  void client.ask("prompt", { message: "/ask" }).catch(() => undefined);
  await client.next((line) => line["method"] === "select");
  assert.equal((await client.end()).code, 0);
});

test("[X1, X4, R1] -p: no dialog is asked, a command runs, an option that no extension has is a mistake", async (t) => {
  const server = await providerFor(t, say("Hi there"));
  const place = placeWith();
  const run = (...args: string[]) => place.run(["-p", ...connectedTo(server), ...args]);
  assert.deepEqual(await run("--greeting=Good day", "/greet Ada"), { code: 0, out: "Hi there\n", err: "" });
  assert.match(JSON.stringify(server.requests[0]?.body.messages), /Good day Ada/);
  assert.deepEqual(await run("/ask"), { code: 0, out: "", err: "" });
  const wrong = await run("--colour", "hi");
  assert.deepEqual([wrong.code, wrong.err], [2, "bough: Unknown option '--colour'. See bough --help.\n"]);
  const without = await run("-ne", "/greet Ada");
  assert.equal(without.code, 0);
  assert.match(JSON.stringify(server.requests.at(-1)?.body.messages), /\/greet Ada/);
  const missing = await run("-e", "nowhere.ts", "hi");
  assert.deepEqual([missing.code, missing.out], [0, "Hi there\n"]);
  assert.match(missing.err, /The extension nowhere\.ts is not there: /);
});

test("[X1] without an extension nothing of what loads extensions is imported", async (t) => {
  const server = await providerFor(t, say("Hi"));
  const watch =
    'import{registerHooks}from"node:module";registerHooks({load(url,context,next){' +
    'if(/extensions.(?:host|loader|typescript-loading)|for-extensions/.test(url))process.stderr.write(url+"\\n");return next(url,context)}})';
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` };
  const without = await new Place().run(["-p", ...connectedTo(server), "hi"], env);
  assert.deepEqual(without, { code: 0, out: "Hi\n", err: "" });
  const withOne = await placeWith().run(["-p", ...connectedTo(server), "hi"], env);
  assert.match(withOne.err, /extensions\/host\.ts/);
});
