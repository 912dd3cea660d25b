/** pi: the main module of its package, under Node. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Engine, LoadEngine, OpenSession, Selector, UserMessage } from "./engine.ts";
import { ignore, peersFolder } from "./engine.ts";

interface Manager {
  getLeafId(): string | null;
  buildSessionContext(): { messages: unknown[] };
  appendMessage(message: UserMessage): string;
  branch(id: string): void;
  createBranchedSession(leafId: string): string | undefined;
  getTree(): unknown[];
}

interface Package {
  SessionManager: { open(path: string): Manager; list(cwd: string, dir: string): Promise<unknown[]> };
  TreeSelectorComponent: new (
    tree: unknown[],
    leafId: string | null,
    rows: number,
    onSelect: () => void,
    onCancel: () => void,
  ) => Selector;
  initTheme(name: string): void;
}

interface ExportModule {
  exportFromFile(path: string, out: string): Promise<string>;
}

export const load: LoadEngine = async (part): Promise<Engine> => {
  const main = join(peersFolder(), "@earendil-works/pi-coding-agent/dist/index.js");
  const pi = (await import(pathToFileURL(main).href)) as Package;
  pi.initTheme("dark");
  const pages =
    part === "pages" ? ((await import(beside(main, "core/export-html/index.js"))) as ExportModule) : undefined;
  return {
    open: async (path) => opened(pi.SessionManager.open(path), pi),
    list: async (cwd, dir) => (await pi.SessionManager.list(cwd, dir)).length,
    writePage: async (path, out) => void (await pages?.exportFromFile(path, out)),
  };
};

const beside = (main: string, module: string): string => pathToFileURL(join(main, "..", module)).href;

const opened = (session: Manager, pi: Package): OpenSession => ({
  leafId: () => session.getLeafId(),
  context: () => session.buildSessionContext().messages.length,
  append: (message) => session.appendMessage(message),
  jump: (id) => session.branch(id),
  branchToFile: async (leafId) => session.createBranchedSession(leafId) as string,
  treeSelector: (rows) => new pi.TreeSelectorComponent(session.getTree(), session.getLeafId(), rows, ignore, ignore),
});
