/** What this machine is known to hold. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { knownSecrets } from "../../src/agent/known-secrets.ts";
import { temporaryFolder } from "../support/session-files.ts";

test("[E3] keys are known from the environment by their names, and from settings, models and MCP servers", () => {
  const stateDir = temporaryFolder();
  const write = (name: string, content: object | string): void =>
    writeFileSync(join(stateDir, name), typeof content === "string" ? content : JSON.stringify(content));
  write("settings.json", {
    theme: "dark-and-long-name",
    apiKeys: { lab: "key-number-1-of-settings" },
    list: [{ password: "pass-in-list" }],
  });
  write("models.json", {
    providers: {
      lab: {
        baseUrl: "https://long.example/v1",
        apiKey: "key-of-the-lab",
        headers: { "X-Team": "team-name-1", "X-Id": "9f8e7d6c5b4a39281706" },
        models: [],
      },
      two: { apiKeyEnv: "ODD_NAME" },
    },
  });
  write("mcp.json", {
    mcpServers: { wiki: { headers: { Authorization: "Bearer wiki-key-1" }, env: { A: "${OTHER_NAME}" } } },
  });
  const environment = {
    ANTHROPIC_API_KEY: "anthropic-key-1",
    MY_TOKEN: "my-token-1",
    ODD_NAME: "named-in-models",
    OTHER_NAME: "named-in-mcp",
    SHORT_KEY: "abc1234",
    PLAIN_PASSWORD: "password",
    FILE_KEY: stateDir,
    SLASH_SECRET: "/not/a/file/1",
    LANG: "en_US.UTF-8",
    EMPTY_TOKEN: undefined,
  };
  assert.deepEqual(
    knownSecrets({ environment, stateDir }).map(({ value, kind }) => [value, kind]),
    [
      ["anthropic-key-1", "ANTHROPIC_API_KEY"],
      ["my-token-1", "MY_TOKEN"],
      ["/not/a/file/1", "SLASH_SECRET"],
      ["pass-in-list", "password in settings.json"],
      ["key-number-1-of-settings", "lab in settings.json"],
      ["named-in-models", "ODD_NAME"],
      ["key-of-the-lab", "apiKey in models.json"],
      ["9f8e7d6c5b4a39281706", "X-Id in models.json"],
      ["named-in-mcp", "OTHER_NAME"],
      ["Bearer wiki-key-1", "Authorization in mcp.json"],
      ["wiki-key-1", "Authorization in mcp.json"],
    ],
  );
});

test("[E3] files that are missing or broken hold no secrets", () => {
  const stateDir = temporaryFolder();
  assert.deepEqual(knownSecrets({ environment: {}, stateDir }), []);
  writeFileSync(join(stateDir, "models.json"), "{ no json");
  assert.deepEqual(knownSecrets({ environment: {}, stateDir }), []);
});
