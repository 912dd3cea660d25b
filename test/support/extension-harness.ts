/**
 * An ExtensionHost with extensions from real files, on a session in memory whose deliveries are recorded.
 * Used by tests of extensions/.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { projectTrust } from "../../src/agent/trust.ts";
import type { ModelRegistry } from "../../src/agent/models.ts";
import type { ExtensionFactory } from "../../src/extensions/api.ts";
import type { ExtensionError } from "../../src/extensions/dispatch.ts";
import { ExtensionHost } from "../../src/extensions/host.ts";
import type { ExtensionHostOptions } from "../../src/extensions/host.ts";
import { findExtensions } from "../../src/extensions/places.ts";
import type { ExtensionPlace } from "../../src/extensions/places.ts";
import type { ExtensionSession } from "../../src/extensions/session-port.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { temporaryFolder } from "./session-files.ts";

/** Writes files, whose names are relative to `folder`. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** No models. */
export const NO_MODELS = {
  available: () => [],
  find: () => undefined,
  keyProblem: () => "There is no key.",
  settled: async () => undefined,
} as unknown as ModelRegistry;

export interface HostHarness {
  host: ExtensionHost;
  stateDir: string;
  cwd: string;
  session: ExtensionSession & { sent: unknown[] };
  manager: SessionManager;
  errors: ExtensionError[];
  told: string[];
  /** The path of a file in the state folder's extensions. */
  path(name: string): string;
}

export interface HarnessOptions extends Partial<ExtensionHostOptions> {
  /** Extensions as files, in the state folder's `extensions`. */
  files?: Readonly<Record<string, string>>;
  /** Extensions as functions, behind those of the files. */
  inline?: readonly ExtensionFactory[];
}

export async function extensionHost(t: TestContext, options: HarnessOptions = {}): Promise<HostHarness> {
  const { files = {}, inline = [], ...hostOptions } = options;
  const cwd = temporaryFolder();
  const stateDir = temporaryFolder();
  writeFiles(join(stateDir, "extensions"), files);
  const project = projectTrust(cwd, { stateDir });
  const told: string[] = [];
  const errors: ExtensionError[] = [];
  const host = new ExtensionHost({
    cwd,
    project,
    registry: NO_MODELS,
    find: () => {
      const found = findExtensions({ cwd, stateDir, project });
      return { ...found, places: [...found.places, ...inline.map(inlinePlace)] };
    },
    debug: false,
    tell: (level, text) => told.push(`${level}: ${text}`),
    ...hostOptions,
  });
  t.after(() => host.dispose());
  host.onError((error) => errors.push(error));
  const manager = SessionManager.inMemory(cwd);
  const session = recordingSession(manager, host);
  host.attach(session);
  await host.load();
  return { host, stateDir, cwd, session, manager, errors, told, path: (name) => join(stateDir, "extensions", name) };
}

export const inlinePlace = (factory: ExtensionFactory, index: number): ExtensionPlace => {
  const path = `inline:${index + 1}`;
  return { path, factory, source: { path, source: path, scope: "temporary", origin: "top-level" } };
};

/** The URL of a module with this source, for module names. */
export function moduleUrl(source: string): string {
  const path = join(temporaryFolder(), "module.mjs");
  writeFileSync(path, source);
  return pathToFileURL(path).href;
}

function recordingSession(manager: SessionManager, host: ExtensionHost): ExtensionSession & { sent: unknown[] } {
  const sent: unknown[] = [];
  return {
    sent,
    sessionManager: manager,
    cwd: manager.getCwd(),
    model: undefined,
    thinkingLevel: "off",
    isIdle: true,
    hasPendingMessages: false,
    signal: undefined,
    mcp: {
      register: (config) => {
        sent.push(["register", config.name, config.endpoint]);
        return () => void sent.push(["end", config.name]);
      },
    },
    abort: async () => void sent.push(["abort"]),
    waitForIdle: async () => undefined,
    compact: async (options) => {
      sent.push(["compact", options]);
      return { cancelled: true };
    },
    getContextUsage: () => ({ tokens: 10, window: 100, percent: 10 }),
    getSystemPrompt: () => "Be good.",
    setModel: () => undefined,
    setThinkingLevel: (level) => sent.push(["setThinkingLevel", level]),
    setSessionName: (name) => void manager.setSessionName(name),
    setLabel: (id, label) => void manager.appendLabelChange(id, label),
    sendCustomMessage: async (message, options) => void sent.push(["sendCustomMessage", message, options]),
    sendUserMessage: async (content, options) => void sent.push(["sendUserMessage", content, options]),
    appendCustomEntry: (type, data) => manager.appendCustomEntry(type, data),
    newSession: async ({ setup, ...options }) => {
      manager.newSession(options);
      await setup?.(manager);
      return { cancelled: false };
    },
    branch: async (entryId) => {
      sent.push(["branch", entryId]);
      return { cancelled: false, selectedText: "Again" };
    },
    clone: async (entryId) => {
      sent.push(["clone", entryId]);
      return { cancelled: false };
    },
    navigateTree: async (targetId) => {
      manager.branch(targetId);
      return { cancelled: false, editorText: "Edit me" };
    },
    switchSession: async () => ({ cancelled: true }),
    reload: async (renew) => {
      await host.emit("session_shutdown", { reason: "reload" });
      await renew(new AbortController().signal);
      await host.emit("session_start", { reason: "reload" });
    },
  };
}
