/**
 * `mcp.json`: the MCP servers of the user, in the state folder, and those of a trusted project, in `.bough/`.
 * Part of `agent/`; read when a session is assembled.
 *
 *     {"mcpServers": {"files": {"command": "npx", "args": ["-y", "some-server", "."], "env": {"TOKEN": "${MY_TOKEN}"}},
 *                     "wiki":  {"url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${WIKI_KEY}"}}}}
 *
 * `${NAME}` is the environment variable of that name, `${NAME:-text}` the text when it is not set or empty. A server of
 * the project takes the place of the user's one of the same name. `disabled` leaves a server in the file without using it.
 */
import { join } from "node:path";
import { arr, bool, compile, map, num, obj, opt, str, unknown } from "@earendil-works/pi-schema";
import { readSmallFile } from "../bounded-file.ts";
import { faultText, pointerStep, readJson } from "../json-source.ts";
import type { JsonValueReading } from "../json-source.ts";
import type { Environment } from "../providers.ts";
import type { ProjectTrust } from "../trust.ts";

/** How a server is reached. */
export type McpEndpoint =
  | { kind: "stdio"; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined }
  | { kind: "http"; url: string; headers: Record<string, string> };

export interface McpServerConfig {
  name: string;
  /** The file it stands in. */
  source: string;
  disabled: boolean;
  /** Undefined when the entry is wrong, and then `problem` says why in one sentence. */
  endpoint: McpEndpoint | undefined;
  problem: string | undefined;
  /** How long one call may stay without a sign of life, in milliseconds; undefined: the default. */
  timeoutMs: number | undefined;
}

export interface McpConfig {
  /** The user's in the order of the file, then the project's. */
  servers: McpServerConfig[];
  /** What is wrong in the files, one plain sentence each. */
  problems: string[];
}

export const MCP_FILE = "mcp.json";
/** Far more than any such file has. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Other programs' files say more, which is left alone. */
const OPEN = { open: true };
const COMMON = { disabled: opt(bool()), timeoutMs: opt(num({ exclusiveMinimum: 0 })) };
const STDIO = compile(
  obj(
    {
      ...COMMON,
      command: str({ minLength: 1 }),
      args: opt(arr(str())),
      env: opt(map(str())),
      cwd: opt(str({ minLength: 1 })),
    },
    OPEN,
  ),
);
const HTTP = compile(obj({ ...COMMON, url: str({ minLength: 1 }), headers: opt(map(str())) }, OPEN));
const OFF = compile(obj({ disabled: bool() }, OPEN));
const FILE = compile(obj({ mcpServers: map(unknown()) }, OPEN));

export interface McpConfigOptions {
  stateDir: string;
  /** What `projectTrust` found; its file counts only when the project is trusted. */
  project?: ProjectTrust | undefined;
  environment?: Environment;
}

/** Reads both files. A mistake costs the server it is in, a broken file all of its servers; never throws. */
export function readMcpConfig({ stateDir, project, environment = process.env }: McpConfigOptions): McpConfig {
  const servers = new Map<string, McpServerConfig>();
  const problems: string[] = [];
  const take = (path: string, text: string): void => {
    const file = parseMcpFile(path, text, environment);
    problems.push(...file.problems);
    for (const server of file.servers) servers.set(server.name, server);
  };
  const path = join(stateDir, MCP_FILE);
  const own = readSmallFile(path, MAX_BYTES);
  if (own.kind === "unreadable") problems.push(`${path} cannot be read: ${own.reason}.`);
  if (own.kind === "text") take(path, own.text);
  const projects = project?.trusted === true ? project.file(MCP_FILE) : undefined;
  if (projects !== undefined) take(projects.path, projects.text);
  return { servers: [...servers.values()], problems };
}

function parseMcpFile(path: string, text: string, environment: Environment): McpConfig {
  if (text.trim() === "") return { servers: [], problems: [] };
  const json = readJson(text);
  if (!json.ok) return { servers: [], problems: [`${path} line ${json.line} is not JSON; its servers are not used.`] };
  if (!FILE.check(json.value))
    return { servers: [], problems: [faultText(path, json, "", FILE.errors(json.value)) ?? ""] };
  const servers = Object.entries(json.value.mcpServers).map(([name, value]) =>
    serverOf({ path, json, environment }, name, value),
  );
  return { servers, problems: servers.flatMap(({ problem }) => (problem === undefined ? [] : [problem])) };
}

/** What an entry of the file may say, as extensions give it; `timeout` is pi's, in seconds. */
export interface McpServerEntry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  timeoutMs?: number;
  timeout?: number;
}

/** A server that an extension describes. Throws one plain sentence for what is none. */
export function describedServer(
  source: string,
  name: string,
  entry: McpServerEntry,
  environment: Environment = process.env,
): McpServerConfig {
  const { timeout } = entry ?? {};
  const about = typeof timeout === "number" ? { timeoutMs: timeout * 1000, ...entry } : entry;
  const json = readJson(JSON.stringify({ mcpServers: { [name]: about } }));
  if (!json.ok || !FILE.check(json.value)) throw new TypeError(`The MCP server ${name} must be an object.`);
  const server = serverOf({ path: source, json, environment }, name, json.value.mcpServers[name]);
  // There is one line alone.
  if (server.problem !== undefined) throw new TypeError(server.problem.replace(/ line 1(?=:)/, ""));
  return server;
}

interface Place {
  path: string;
  json: JsonValueReading;
  environment: Environment;
}

function serverOf(place: Place, name: string, value: unknown): McpServerConfig {
  const { path, json } = place;
  const pointer = `/mcpServers/${pointerStep(name)}`;
  const base = { name, source: path, disabled: false, endpoint: undefined, problem: undefined, timeoutMs: undefined };
  const wrong = (problem: string | undefined): McpServerConfig => ({ ...base, problem });
  const says = (what: string): McpServerConfig =>
    wrong(`${path} line ${json.lineOf(pointer)}: mcpServers.${name} ${what}, so it is left out.`);
  if (name === "") return says("has no name");
  if (OFF.check(value) && value.disabled) return { ...base, disabled: true };
  if (isObjectWith(value, "command") && isObjectWith(value, "url"))
    return says("has both a command and a url; it needs one of them");
  if (isObjectWith(value, "url")) {
    if (!HTTP.check(value)) return wrong(faultText(path, json, pointer, HTTP.errors(value)));
    const { url, headers = {}, timeoutMs } = value;
    return expandedServer(place, pointer, { ...base, timeoutMs }, { kind: "http", url, headers });
  }
  if (!isObjectWith(value, "command")) return says("has neither a command nor a url");
  if (!STDIO.check(value)) return wrong(faultText(path, json, pointer, STDIO.errors(value)));
  const { command, args = [], env = {}, cwd, timeoutMs } = value;
  return expandedServer(place, pointer, { ...base, timeoutMs }, { kind: "stdio", command, args, env, cwd });
}

const isObjectWith = (value: unknown, key: string): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key);

/** The server with its variables put in; one that is not set costs the server. */
function expandedServer(
  { path, json, environment }: Place,
  pointer: string,
  base: McpServerConfig,
  endpoint: McpEndpoint,
): McpServerConfig {
  const problems: string[] = [];
  const wrong = (field: string, what: string): void => {
    const line = json.lineOf(`${pointer}/${field}`);
    const place = `mcpServers.${base.name}.${field.replaceAll("/", ".")}`;
    problems.push(`${path} line ${line}: ${place} ${what}, so this server is left out.`);
  };
  const expand = (text: string, field: string): string =>
    expanded(text, environment, (name) => wrong(field, `names \${${name}}, which is not set in the environment`));
  const expandAll = (values: Record<string, string>, field: string): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, expand(text, `${field}/${key}`)]));
  const ready: McpEndpoint =
    endpoint.kind === "http"
      ? { ...endpoint, url: expand(endpoint.url, "url"), headers: expandAll(endpoint.headers, "headers") }
      : {
          ...endpoint,
          command: expand(endpoint.command, "command"),
          args: endpoint.args.map((text, index) => expand(text, `args/${index}`)),
          env: expandAll(endpoint.env, "env"),
          cwd: endpoint.cwd === undefined ? undefined : expand(endpoint.cwd, "cwd"),
        };
  if (ready.kind === "http" && problems.length === 0 && !isWebAddress(ready.url))
    wrong("url", "is no address that begins with http:// or https://");
  return problems.length === 0 ? { ...base, endpoint: ready } : { ...base, problem: problems[0] };
}

const isWebAddress = (url: string): boolean => /^https?:/i.test(url) && URL.canParse(url);

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function expanded(text: string, environment: Environment, missing: (name: string) => void): string {
  return text.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
    const value = environment[name];
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    missing(name);
    return whole;
  });
}
