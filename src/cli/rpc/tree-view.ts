/**
 * `TreeView`: the rows of get_tree. Keeps the outline it has made, so that a client that asks for page after page costs
 * one. Part of `cli/`; used by session-handlers.ts.
 */
import { homedir } from "node:os";
import type { SessionIndexView, SessionManager } from "../../session/session-manager.ts";
import { Outline } from "../../tree/outline.ts";
import type { FilterMode } from "../../tree/outline.ts";
import { treeRecord } from "../tree-record.ts";
import type { Given } from "./commands.ts";

export class TreeView {
  readonly #manager: SessionManager;
  #made: { index: SessionIndexView; outline: Outline } | undefined;

  constructor(manager: SessionManager) {
    this.#manager = manager;
  }

  /** @param from the first row, from 1 */
  rows(
    { filter = "default", search = "" }: { filter?: FilterMode; search?: string },
    from: number,
    limit: number,
  ): Given<"get_tree"> {
    const outline = this.#outline();
    outline.setFilter(filter);
    outline.setQuery(search);
    const rows = outline.rows(from - 1, limit).map((row) => ({ ...treeRecord(row), prefix: row.prefix }));
    return { rows, total: outline.rowCount, leafId: this.#manager.getLeafId() };
  }

  #outline(): Outline {
    const index = this.#manager.getIndex();
    if (this.#made?.index === index) this.#made.outline.refresh();
    else this.#made = { index, outline: new Outline(index, { home: homedir() }) };
    return this.#made.outline;
  }
}
