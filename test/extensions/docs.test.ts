import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ModelRegistry } from "../../src/agent/models.ts";
import { NO_UI } from "../../src/extensions/ui-port.ts";
import { extensionHost } from "../support/extension-harness.ts";

test("[X1, X6] the extensions in docs/extensions.md do what is said there", async (t) => {
  const text = readFileSync(new URL("../../docs/extensions.md", import.meta.url), "utf8");
  const sources = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, source]) => source!);
  const registry = await ModelRegistry.load({ environment: { LAB_KEY: "key" } });
  const { host, manager, errors } = await extensionHost(t, {
    registry,
    names: new Map([["bough", new URL("../../src/index.ts", import.meta.url).href]]),
    files: Object.fromEntries(sources.map((source, n) => [`${n}.ts`, source])),
    mode: "rpc",
  });
  assert.deepEqual([host.problems, host.getCommands().map(({ name }) => name)], [[], ["hello", "todo"]]);
  assert.equal(registry.find("lab", "big")?.contextWindow, 200_000);
  const said: string[] = [];
  host.setUi(() => ({ ...NO_UI, notify: (what) => said.push(what) }));
  await host.runCommand("hello", "Ada");
  await host.runCommand("todo", "one");
  const one = manager.getLeafId()!;
  await host.runCommand("todo", "two");
  manager.branch(one);
  await host.runCommand("todo", "three");
  assert.deepEqual([said, errors], [["Hello Ada", "one", "one\ntwo", "one\nthree"], []]);
});
