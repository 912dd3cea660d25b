/** `mcp.json`: what is read from it, whose it is, and what a mistake in it costs. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readMcpConfig } from "../../src/agent/mcp/mcp-config.ts";
import type { McpConfig } from "../../src/agent/mcp/mcp-config.ts";
import { projectTrust, trustProject } from "../../src/agent/trust.ts";
import { temporaryFolder } from "../support/session-files.ts";

const ENVIRONMENT = { TOKEN: "s3cret", EMPTY: "" };

function read(text: string): { config: McpConfig; path: string } {
  const stateDir = temporaryFolder();
  const path = join(stateDir, "mcp.json");
  writeFileSync(path, text);
  return { config: readMcpConfig({ stateDir, environment: ENVIRONMENT }), path };
}

test("[P3] both kinds of server are read, with variables of the environment put in", () => {
  const { config, path } = read(`{"mcpServers": {
    "files": {"command": "npx", "args": ["-y", "\${PACKAGE:-server}", "\${EMPTY:-dot}"], "env": {"KEY": "a\${TOKEN}b\${EMPTY}"}, "cwd": "/srv"},
    "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer \${TOKEN}"}, "timeoutMs": 9},
    "off": {"command": "x", "disabled": true},
    "__proto__": {"command": "p"}
  }}`);
  const base = { source: path, disabled: false, problem: undefined, timeoutMs: undefined };
  assert.deepEqual(config, {
    servers: [
      {
        ...base,
        name: "files",
        endpoint: {
          kind: "stdio",
          command: "npx",
          args: ["-y", "server", "dot"],
          env: { KEY: "as3cretb" },
          cwd: "/srv",
        },
      },
      {
        ...base,
        name: "wiki",
        timeoutMs: 9,
        endpoint: { kind: "http", url: "https://wiki.example/mcp", headers: { Authorization: "Bearer s3cret" } },
      },
      { ...base, name: "off", disabled: true, endpoint: undefined },
      { ...base, name: "__proto__", endpoint: { kind: "stdio", command: "p", args: [], env: {}, cwd: undefined } },
    ],
    problems: [],
  });
});

test("[P3] a mistake costs the server it is in, and is told with file, line and key", () => {
  const { config, path } = read(`{"mcpServers": {
    "both": {"command": "x", "url": "http://h"},
    "none": {},
    "args": {"command": "x", "args": "y"},
    "unset": {
      "command": "x",
      "env": {"A": "\${NOT_SET}"}
    },
    "scheme": {"url": "file:///etc"},
    "number": 5,
    "": {"command": "x"},
    "good": {"command": "x"}
  }}`);
  assert.deepEqual(config.problems, [
    `${path} line 2: mcpServers.both has both a command and a url; it needs one of them, so it is left out.`,
    `${path} line 3: mcpServers.none has neither a command nor a url, so it is left out.`,
    `${path} line 4: mcpServers.args.args is wrong (expected array, got string), so it is left out.`,
    `${path} line 7: mcpServers.unset.env.A names \${NOT_SET}, which is not set in the environment, so this server is left out.`,
    `${path} line 9: mcpServers.scheme.url is no address that begins with http:// or https://, so this server is left out.`,
    `${path} line 10: mcpServers.number has neither a command nor a url, so it is left out.`,
    `${path} line 11: mcpServers. has no name, so it is left out.`,
  ]);
  assert.deepEqual(
    config.servers.filter(({ endpoint }) => endpoint !== undefined).map(({ name }) => name),
    ["good"],
  );
});

test("[P3] a broken file, an empty one and none have no servers", () => {
  const broken = read('{"mcpServers":\n {"a": }}');
  assert.deepEqual(broken.config, {
    servers: [],
    problems: [`${broken.path} line 2 is not JSON; its servers are not used.`],
  });
  const list = read("[]");
  assert.deepEqual(list.config.servers, []);
  assert.equal(list.config.problems.length, 1);
  assert.deepEqual(read("\n").config, { servers: [], problems: [] });
  assert.deepEqual(readMcpConfig({ stateDir: temporaryFolder() }), { servers: [], problems: [] });
});

test("[P3, X5] a project's servers count only when it is trusted as it is, and take the place of the user's", () => {
  const [stateDir, cwd] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(cwd, ".bough"));
  writeFileSync(join(stateDir, "mcp.json"), '{"mcpServers": {"a": {"command": "mine"}, "b": {"command": "mine"}}}');
  const file = join(cwd, ".bough/mcp.json");
  writeFileSync(file, '{"mcpServers": {"b": {"disabled": true}, "c": {"command": "theirs"}}}');
  const names = (): string[] =>
    readMcpConfig({ stateDir, project: projectTrust(cwd, { stateDir }) }).servers.map(({ name, disabled, endpoint }) =>
      [name, disabled ? "off" : endpoint?.kind === "stdio" ? endpoint.command : ""].join(" "),
    );
  assert.deepEqual(names(), ["a mine", "b mine"]);
  trustProject(cwd, projectTrust(cwd, { stateDir }).digest!, stateDir);
  assert.deepEqual(names(), ["a mine", "b off", "c theirs"]);
  writeFileSync(file, '{"mcpServers": {"c": {"command": "evil"}}}');
  assert.deepEqual(names(), ["a mine", "b mine"]);
});
