/** `/export` on the screen. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { say } from "../support/provider-mock.ts";
import { SECRETS } from "../support/secrets.ts";
import { startInteractive } from "./interactive-harness.ts";

const ENTER = "\r";
const CLEAR = "\x03";

test("[E3, U4] /export writes the session and shows where it is and what was masked", async (t) => {
  const token = SECRETS["github token"]!;
  const { terminal, see, session } = await startInteractive(t, { replies: say("fine"), columns: 200 });
  await session.prompt(`It is ${token}`);
  await see("fine");
  terminal.type(...'/export "my notes.md"', ENTER);
  await see("2 secrets are masked (2 × github token):");
  const rows = (await see("Exported")).map((row) => row.trim());
  const path = join(session.cwd, "my notes.md");
  assert.ok(
    rows.some((row) => row.includes(`as Markdown in ${path}`)),
    rows.join("\n"),
  );
  const places = rows.filter((row) =>
    /^entry [0-9a-f]{8}, (?:message\.content\[0\]\.text|name): github token$/.test(row),
  );
  assert.equal(places.length, 2, rows.join("\n"));
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes("It is [redacted: github token]") && !text.includes(token));
});

test("[E3, X6] /export masks the key that an extension's provider is asked with", async (t) => {
  const { terminal, see, session, registry } = await startInteractive(t, { replies: say("fine"), columns: 200 });
  registry.register("acme", { baseUrl: "http://x", api: "openai-completions", apiKey: "key-of-acme-1", models: [] });
  await session.prompt("It is key-of-acme-1.");
  await see("fine");
  terminal.type(..."/export out.md", ENTER);
  await see("Exported");
  const text = readFileSync(join(session.cwd, "out.md"), "utf8");
  assert.ok(text.includes("It is [redacted: apiKey of acme].") && !text.includes("key-of-acme"));
});

test("[E3] /export says what is wrong, and writes nothing", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: say("fine"), columns: 120 });
  await see("0.0.0");
  terminal.type(..."/export x.md", ENTER);
  await see("Nothing to export yet");
  await session.prompt("Hi");
  await see("fine");
  terminal.type(..."/export x.md --branch nowhere", ENTER);
  await see("There is no entry nowhere in this session");
  terminal.type(CLEAR);
  terminal.type(..."/export - --format md", ENTER);
  await see("There is no standard output here");
  assert.ok(!existsSync(join(session.cwd, "x.md")));
});

test("[E3] /export of a session in memory says how to come by a file", async (t) => {
  const { terminal, see } = await startInteractive(t, { manager: SessionManager.inMemory(), columns: 120 });
  terminal.type(..."/export", ENTER);
  await see("This session is kept in memory; /save-as writes it to a file");
});
