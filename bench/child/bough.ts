/** bough as it is published: the classes of dist/. */
import type { exportSession } from "../../src/export/export-session.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";
import type { defaultKeybindings } from "../../src/tui/keybindings.ts";
import type { TreeSelector } from "../../src/tui/tree-selector.ts";
import { dirname } from "node:path";
import type { Engine, LoadEngine, OpenSession } from "./engine.ts";
import { ignore } from "./engine.ts";

interface ManagerModule {
  SessionManager: typeof SessionManager;
}
interface ExportModule {
  exportSession: typeof exportSession;
}
interface SelectorModules {
  TreeSelector: typeof TreeSelector;
  defaultKeybindings: typeof defaultKeybindings;
}

const built = (module: string): Promise<unknown> => import(new URL(`../../dist/${module}.js`, import.meta.url).href);

export const load: LoadEngine = async (part): Promise<Engine> => {
  const manager = (await built("session/session-manager")) as ManagerModule;
  const modules = part === "selector" ? await selectorModules() : undefined;
  const pages = part === "pages" ? ((await built("export/export-session")) as ExportModule) : undefined;
  const write = async (path: string, out: string, redact: boolean): Promise<void> => {
    const host = { cwd: dirname(out), home: "/", secrets: () => [] };
    await pages?.exportSession(path, { out, format: "html", redact }, host);
  };
  return {
    open: async (path) => opened(await manager.SessionManager.open(path), modules),
    list: async (cwd, dir) => (await manager.SessionManager.list(cwd, dir)).length,
    writePage: (path, out) => write(path, out, false),
    writeMaskedPage: (path, out) => write(path, out, true),
  };
};

const selectorModules = async (): Promise<SelectorModules> =>
  Object.assign({}, await built("tui/tree-selector"), await built("tui/keybindings")) as SelectorModules;

function opened(session: SessionManager, modules: SelectorModules | undefined): OpenSession {
  return {
    leafId: () => session.getLeafId(),
    context: () => session.buildSessionContext().messages.length,
    append: (message) => session.appendMessage(message),
    jump: (id) => session.branch(id),
    branchToFile: async (leafId) => {
      const path = session.createBranchedSession(leafId);
      await session.flush();
      return path as string;
    },
    treeSelector: (rows) => {
      const tui = modules as SelectorModules;
      return new tui.TreeSelector({
        screen: { keybindings: tui.defaultKeybindings(), rows: () => rows, requestRender: ignore },
        source: session.getIndex(),
        onSelect: ignore,
        onCancel: ignore,
        onLabel: ignore,
        onCopy: ignore,
      });
    },
  };
}
