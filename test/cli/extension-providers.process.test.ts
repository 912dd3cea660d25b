/** Models that extensions bring, from the command line to the answer. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Place, providerFor, savedMessages } from "../support/command.ts";
import { say } from "../support/provider-mock.ts";

/** A provider whose answers are made by the extension itself; the model's name decides how. */
const STREAMING = `
  import { type AssistantMessage, createAssistantMessageEventStream } from "@earendil-works/pi-ai";
  import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
  export default function (pi: ExtensionAPI) {
    pi.registerProvider("own", {
      api: "own-api",
      models: ["good", "throws", "lies"].map((id) => ({ id, name: id, reasoning: false, input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 1000 })),
      streamSimple: (model, context) => {
        if (model.id === "throws") throw new Error("The tubes are clogged.");
        const stream = createAssistantMessageEventStream();
        const last = context.messages.at(-1)?.content;
        const text = "You said: " + (typeof last === "string" ? last : last?.map((block) => block.text).join(""));
        const message = { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } as AssistantMessage;
        stream.push(model.id === "lies" ? ({ type: "done", message: { content: "nothing" } } as never) : { type: "done", reason: "stop", message });
        return stream;
      },
    });
  }`;

test("[R1, X6] --model finds a provider of an extension, and its answers are kept like any other", async () => {
  const place = new Place();
  place.file("own.ts", STREAMING);
  const args = ["-e", "own.ts", "-p", "Hello"];
  assert.deepEqual(await place.run([...args, "--model", "own/good"]), { code: 0, out: "You said: Hello\n", err: "" });
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), ["user: Hello", "assistant: You said: Hello"]);
  const again = await place.run(["-c", ...args]);
  assert.deepEqual([again.code, again.out], [0, "You said: Hello\n"], "the session's model is found again");
});

test("[R1, X3, X6] one that throws or lies is an error of the answer, and the prompt is saved", async () => {
  const place = new Place();
  place.file("own.ts", STREAMING);
  const failures = await Promise.all(
    ["throws", "lies"].map((model) => place.run(["-e", "own.ts", "-p", "Hello", "--model", `own/${model}`])),
  );
  assert.deepEqual(
    failures.map(({ code, out, err }) => [code, out, err.trim().split("\n").at(-1)]),
    [
      [1, "", "bough: The tubes are clogged."],
      [1, "", "bough: The provider's stream has ended before its answer."],
    ],
  );
  for (const path of place.sessionFiles()) assert.equal((await savedMessages(path))[0], "user: Hello");
});

test("[X5, X6] a project's provider gets no request before the project is trusted", async (t) => {
  const server = await providerFor(t, say("From the project's server."));
  const place = new Place();
  mkdirSync(`${place.cwd}/.bough/extensions`, { recursive: true });
  const config = { baseUrl: server.baseUrl, api: "openai-completions", models: [{ id: "m" }] };
  place.file(
    ".bough/extensions/own.ts",
    `export default (pi) => pi.registerProvider("theirs", ${JSON.stringify(config)});`,
  );
  const args = ["-p", "Hello", "--model", "theirs/m"];
  const { code, err } = await place.run(args);
  assert.deepEqual([code, server.requests.length], [2, 0]);
  assert.match(err, /No model is connected/);
  assert.equal((await place.run(["--trust", ...args])).out, "From the project's server.\n");
});

test("[R1, X6] a virtual model is chosen on the command line, and holds when the session is opened again", async (t) => {
  const server = await providerFor(t, say("Routed."));
  const place = new Place();
  const lab = { baseUrl: server.baseUrl, models: [{ id: "small" }, { id: "big" }] };
  place.writeSettings({ defaultModel: "small" });
  writeFileSync(join(place.stateDir, "models.json"), JSON.stringify({ providers: { lab } }));
  place.file(
    "router.js",
    `export default (pi) => pi.registerVirtualModel({ provider: "router", id: "auto",
       route: ({ messages }, { modelRegistry }) => ({
         model: modelRegistry.find("lab", messages.some(({ role }) => role === "assistant") ? "big" : "small"),
         thinkingLevel: "off" }) });`,
  );
  await place.run(["-e", "router.js", "-p", "One", "--model", "router/auto"]);
  await place.run(["-e", "router.js", "-c", "-p", "Two"]);
  await place.run(["-c", "-p", "Three"]);
  assert.deepEqual(
    server.requests.map(({ body }) => body.model),
    ["small", "big", "big"],
    "without the router who answered last goes on",
  );
});
