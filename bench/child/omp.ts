/** omp: the session module of its package, from source, under Bun. */
import { join } from "node:path";
import type { Engine, LoadEngine, OpenSession, Selector, UserMessage } from "./engine.ts";
import { ignore, peersFolder } from "./engine.ts";

interface Manager {
  getLeafId(): string | null;
  buildSessionContext(): { messages: unknown[] };
  appendMessage(message: UserMessage): string;
  branch(id: string): void;
  createBranchedSession(leafId: string): string | undefined;
  flush(): Promise<void>;
  getTree(): unknown[];
}
interface ManagerModule {
  SessionManager: { open(path: string): Promise<Manager>; list(cwd: string, dir: string): Promise<unknown[]> };
}
interface SelectorModule {
  TreeSelectorComponent: new (
    tree: unknown[],
    leafId: string | null,
    rows: number,
    onSelect: () => void,
    onCancel: () => void,
  ) => Selector;
}

const source = (module: string): Promise<unknown> =>
  import(join(peersFolder(), "@oh-my-pi/pi-coding-agent/src", module));

interface ExportModule {
  exportFromFile(path: string, out: string): Promise<string>;
}

export const load: LoadEngine = async (part): Promise<Engine> => {
  const { SessionManager } = (await source("session/session-manager.ts")) as ManagerModule;
  let selectors: SelectorModule | undefined;
  const pages = part === "pages" ? ((await source("export/html/index.ts")) as ExportModule) : undefined;
  if (part === "selector") {
    selectors = (await source("modes/components/tree-selector.ts")) as SelectorModule;
    ((await source("modes/theme/theme.ts")) as { initThemeSync(): void }).initThemeSync();
  }
  return {
    open: async (path) => opened(await SessionManager.open(path), selectors),
    list: async (cwd, dir) => (await SessionManager.list(cwd, dir)).length,
    writePage: async (path, out) => void (await pages?.exportFromFile(path, out)),
  };
};

const opened = (session: Manager, selectors: SelectorModule | undefined): OpenSession => ({
  leafId: () => session.getLeafId(),
  context: () => session.buildSessionContext().messages.length,
  append: (message) => session.appendMessage(message),
  jump: (id) => session.branch(id),
  branchToFile: async (leafId) => {
    const path = session.createBranchedSession(leafId);
    await session.flush();
    return path as string;
  },
  treeSelector: (rows) =>
    new (selectors as SelectorModule).TreeSelectorComponent(
      session.getTree(),
      session.getLeafId(),
      rows,
      ignore,
      ignore,
    ),
});
