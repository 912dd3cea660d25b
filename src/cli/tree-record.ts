/**
 * A row of a session's tree as a JSON object. Part of `cli/`; used by `bough tree --json` and `--mode rpc`.
 */
import { plainText } from "../tree/outline-lines.ts";
import type { OutlineRow } from "../tree/outline.ts";

export interface TreeRecord {
  /** From 1. */
  row: number;
  /** The row it continues; null for a root. */
  after: number | null;
  /** Which of the rows after that one it is, from 1, … */
  branch: number;
  /** … and how many there are. */
  branches: number;
  indent: number;
  id: string;
  parentId: string | null;
  type: string;
  role?: string | undefined;
  active: boolean;
  current: boolean;
  label?: string | undefined;
  problem?: string | undefined;
  text: string;
}

export function treeRecord(row: OutlineRow): TreeRecord {
  const { entry } = row;
  return {
    row: row.index + 1,
    after: row.parent < 0 ? null : row.parent + 1,
    branch: row.branch,
    branches: row.branches,
    indent: row.indent,
    id: entry.id,
    parentId: entry.parentId,
    type: entry.type,
    role: entry.type === "message" ? entry.message?.role : undefined,
    active: row.active,
    current: row.current,
    label: row.label,
    problem: row.problem,
    text: plainText(row.text),
  };
}
