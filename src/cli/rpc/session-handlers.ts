/**
 * What the commands of `--mode rpc` do about the session, its tree and others like it. Part of `cli/`; used by handlers.ts.
 */
import type { AgentSession } from "../../agent/agent-session.ts";
import type { RetraceResult } from "../../agent/navigation.ts";
import { findSession, listAllSessions, listSessions } from "../../session/catalog.ts";
import type { SessionManager } from "../../session/session-manager.ts";
import type { SessionEntry } from "../../tree/entries.ts";
import { sessionRecord } from "../session-record.ts";
import type { Given, Taken } from "./commands.ts";
import type { Handlers } from "./dispatcher.ts";
import { exportAnswer } from "./export-handler.ts";
import { CommandFailure } from "./failure.ts";
import { checkLeaf } from "./rpc-host.ts";
import type { RpcHost } from "./rpc-host.ts";
import { stateJson, statsJson } from "./state-json.ts";
import { TreeView } from "./tree-view.ts";

type Handled =
  | ("get_state" | "get_messages" | "get_entries" | "get_tree" | "get_stats" | "navigate" | "back" | "forward")
  | ("set_label" | "branch" | "clone" | "new_session" | "switch_session" | "list_sessions" | "set_name" | "save_as")
  | ("take_over" | "compact" | "abort_compaction" | "uncompact" | "get_context" | "export");

/** Entries and rows that are given at once when the client does not say. */
const DEFAULT_LIMIT = 1000;

export function sessionHandlers({ session, cwd }: RpcHost): Pick<Handlers, Handled> {
  const manager = session.sessionManager;
  const tree = new TreeView(manager);
  return {
    get_state: () => stateJson(session),
    get_messages: () => ({ messages: session.messages }),
    get_entries: (taken) => entriesAfter(manager, taken),
    get_tree: ({ from = 1, limit = DEFAULT_LIMIT, ...shown }) => tree.rows(shown, from, limit),
    get_stats: () => statsJson(session),

    navigate: async ({ targetId, expectedLeaf, ...options }) => {
      checkLeaf(session, expectedLeaf);
      return placed(session, await session.navigateTree(targetId, options));
    },
    back: async ({ expectedLeaf, abort = false }) => {
      checkLeaf(session, expectedLeaf);
      return retraced(session, await session.back({ abort }));
    },
    forward: async ({ expectedLeaf, abort = false }) => {
      checkLeaf(session, expectedLeaf);
      return retraced(session, await session.forward({ abort }));
    },
    set_label: ({ entryId, label }) => {
      session.setLabel(entryId, label);
      return {};
    },

    compact: (options) => session.compaction.compact(options),
    abort_compaction: () => {
      session.compaction.abort();
      return {};
    },
    uncompact: async ({ expectedLeaf, abort = false }) => {
      checkLeaf(session, expectedLeaf);
      return placed(session, await session.compaction.uncompact({ abort }));
    },
    get_context: () => session.compaction.report(),

    branch: ({ entryId }) => session.branch(entryId),
    clone: () => session.clone(),
    new_session: (taken) => session.newSession(taken),
    switch_session: ({ session: asked }) => session.switchSession(findSession(asked, cwd)),
    list_sessions: async ({ all = false, complete = false }) => {
      const sessions = await (all ? listAllSessions({ complete }) : listSessions(cwd, undefined, { complete }));
      return { sessions: sessions.filter(({ isSubagent }) => !isSubagent).map(sessionRecord) };
    },
    set_name: ({ name }) => {
      session.setSessionName(name);
      return {};
    },
    export: (taken) => exportAnswer(session, cwd, taken),
    save_as: ({ path }) => ({ sessionFile: session.saveAs(path) }),
    take_over: async () => {
      await session.takeOver();
      return {};
    },
  };
}

function entriesAfter(
  manager: SessionManager,
  { since, limit = DEFAULT_LIMIT }: Taken<"get_entries">,
): Given<"get_entries"> {
  const index = manager.getIndex();
  const known = since === undefined ? -1 : index.ordinal(since);
  if (known === undefined) throw new CommandFailure("refused", `Entry ${since} not found`);
  const end = Math.min(index.size, known + 1 + limit);
  const entries: SessionEntry[] = [];
  for (let n = known + 1; n < end; n++) entries.push(index.at(n));
  return { entries, more: end < index.size, leafId: manager.getLeafId() };
}

const placed = <Result extends object>(session: AgentSession, result: Result): Result & { leafId: string | null } => ({
  ...result,
  leafId: session.sessionManager.getLeafId(),
});

const retraced = (session: AgentSession, { place, ...result }: RetraceResult): Given<"back"> =>
  placed(session, { ...result, moved: place !== undefined });
