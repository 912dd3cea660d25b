/**
 * Every command of `--mode rpc`: what it takes, what it gives, and whether it waits for its turn. This one table checks
 * what comes in, types the handlers, and is what docs/rpc.md is made of.
 * Part of `cli/`; used by request.ts, dispatcher.ts and scripts/rpc-docs.mjs.
 */
import { arr, bool, compile, int, lit, nullable, num, obj, oneOf, opt, str, union } from "@earendil-works/pi-schema";
import type { Properties, Schema, Static, StaticObject, Validator } from "@earendil-works/pi-schema";
import { THINKING_LEVELS } from "../../agent/providers.ts";
import {
  BRANCH_SPENT,
  BY_MODEL,
  COMMAND_RUN,
  CONTEXT,
  ENTRY,
  EXTENSION_COMMAND,
  FILTER,
  IMAGE,
  MCP_SERVER,
  MESSAGE,
  MODEL,
  QUEUE,
  SESSION_ITEM,
  SPENT,
  TREE_ROW,
} from "./shapes.ts";

interface Command<Takes extends Properties, Gives> {
  /** For the document: what it does, in a sentence or two. */
  says: string;
  takes: Takes;
  gives: Schema<Gives>;
  /**
   * "in turn": done when the commands of this kind before it are done, since it changes where the session stands.
   * "at once": done when it is read, whatever else is under way.
   */
  order: "in turn" | "at once";
}

const command = <const Takes extends Properties, Gives>(row: Command<Takes, Gives>): Command<Takes, Gives> => row;

const NOTHING = obj({});
const CANCELLED = bool({ description: "An extension said no, or it was stopped; nothing has changed then." });
const EXPECTED_LEAF = opt(
  nullable(
    str({
      description: "The id of the leaf the client knows, null for before the first entry. With another leaf: refused.",
    }),
  ),
);
const STOPS_TURN = opt(bool({ description: "Stop a running turn first; without it a running turn refuses the move." }));
const LIMIT = opt(int({ minimum: 1, maximum: 10_000, description: "At most so many; default 1000." }));
const MOVED = {
  cancelled: CANCELLED,
  aborted: opt(bool({ description: "It was stopped by abort." })),
  leafId: nullable(str({ description: "Where the session stands now." })),
} as const;

export const COMMANDS = {
  // The conversation.
  prompt: command({
    says:
      "Sends a prompt. The answer comes when it is under way; events tell the rest, up to agent_settled. While a turn runs " +
      "it is refused, unless streamingBehavior says how to queue it.",
    takes: {
      message: str(),
      images: opt(arr(IMAGE)),
      streamingBehavior: opt(oneOf(["steer", "followUp"])),
      expectedLeaf: EXPECTED_LEAF,
    },
    gives: obj({
      disposition: oneOf(["started", "queued", "handled"], {
        description: '"handled": an extension has dealt with it, by a command of its own or otherwise.',
      }),
    }),
    order: "in turn",
  }),
  steer: command({
    says: "Queues a message that goes in after the current tool calls, or behind the next prompt.",
    takes: { message: str({ minLength: 1 }), images: opt(arr(IMAGE)) },
    gives: NOTHING,
    order: "at once",
  }),
  follow_up: command({
    says: "Queues a message that goes in when the agent would stop.",
    takes: { message: str({ minLength: 1 }), images: opt(arr(IMAGE)) },
    gives: NOTHING,
    order: "at once",
  }),
  clear_queue: command({
    says: "Empties the queue and gives what was in it.",
    takes: {},
    gives: QUEUE,
    order: "at once",
  }),
  take_unsent: command({
    says: "What was queued in an earlier run that ended before it was sent. Given once; bough never sends it by itself.",
    takes: {},
    gives: obj({ messages: arr(str()) }),
    order: "at once",
  }),
  abort: command({
    says: "Stops the running turn and waits until all its results are written; without one, stops a move that still asks.",
    takes: {},
    gives: NOTHING,
    order: "at once",
  }),
  abort_retry: command({
    says: "Ends the wait before a failed answer is asked for again; the failed answer stands.",
    takes: {},
    gives: NOTHING,
    order: "at once",
  }),
  bash: command({
    says: "Runs a shell command of the user in the session's folder and records it. One at a time.",
    takes: {
      command: str({ minLength: 1 }),
      excludeFromContext: opt(bool({ description: "Record it, but never send it to the model." })),
    },
    gives: COMMAND_RUN,
    order: "at once",
  }),
  abort_bash: command({ says: "Stops that command.", takes: {}, gives: NOTHING, order: "at once" }),

  // What there is.
  get_state: command({
    says: "Where the session stands and what is under way.",
    takes: {},
    gives: obj({
      sessionId: str(),
      sessionFile: nullable(str({ description: "null: kept in memory." })),
      sessionName: opt(str()),
      cwd: str(),
      leafId: nullable(str()),
      model: nullable(MODEL),
      thinkingLevel: oneOf(THINKING_LEVELS),
      mode: str({ description: '"none" outside any mode.' }),
      isStreaming: bool({ description: "A prompt is being worked on." }),
      isCompacting: bool({ description: "The older part of the conversation is being summarised." }),
      isBashRunning: bool(),
      isIdle: bool({ description: "No turn, no command, no move." }),
      isFollowing: bool({ description: "Another program writes the session; this one may not." }),
      messageCount: int({ description: "Messages of the current path." }),
      pendingMessageCount: int({ description: "Queued messages." }),
      unsavedEntries: int({ description: "Entries in memory only, because the file cannot be written." }),
      canGoBack: bool(),
      canGoForward: bool(),
      problems: arr(str(), { description: "What is wrong with the session's file; at most 100." }),
    }),
    order: "at once",
  }),
  get_messages: command({
    says: "The conversation of the current path, as the next request would hold it.",
    takes: {},
    gives: obj({ messages: arr(MESSAGE) }),
    order: "at once",
  }),
  get_entries: command({
    says: "The session's entries on all branches, in the order of the file.",
    takes: {
      since: opt(str({ description: "Only those after this entry: the last one the client has." })),
      limit: LIMIT,
    },
    gives: obj({
      entries: arr(ENTRY),
      more: bool({ description: "There are further ones: ask again since the last of these." }),
      leafId: nullable(str({ description: "Where the session stands, moves that no entry tells of included." })),
    }),
    order: "at once",
  }),
  get_tree: command({
    says: "The session's tree as rows, the active branch first: what /tree shows.",
    takes: {
      filter: opt(FILTER),
      search: opt(str({ description: "Only rows that hold all these words, in any case." })),
      from: opt(int({ minimum: 1, description: "The first row; default 1." })),
      limit: LIMIT,
    },
    gives: obj({
      rows: arr(TREE_ROW),
      total: int({ description: "Rows there are." }),
      leafId: nullable(str()),
    }),
    order: "at once",
  }),
  get_stats: command({
    says: "What the session has spent: whole, by model, and on each branch.",
    takes: {},
    gives: obj({
      total: SPENT,
      byModel: BY_MODEL,
      branches: arr(BRANCH_SPENT, { description: "Where the session stands first, then by cost; at most 1000." }),
      branchCount: int(),
      context: nullable(
        obj(
          { tokens: num(), window: num(), percent: num() },
          { description: "Of the next request; null without model." },
        ),
      ),
    }),
    order: "at once",
  }),

  get_context: command({
    says: "What the next request holds, entry by entry, in estimated tokens, and what was dropped.",
    takes: {},
    gives: CONTEXT,
    order: "at once",
  }),

  // Moving in the tree.
  navigate: command({
    says:
      "Moves to another entry of this session. A prompt's text comes back as editorText, and the session then stands before " +
      "it; any other entry becomes the leaf. Nothing is erased. abort ends the writing of a summary, and with it the move.",
    takes: {
      targetId: str(),
      expectedLeaf: EXPECTED_LEAF,
      abort: STOPS_TURN,
      summarize: opt(
        union([bool(), lit("digest")], {
          description: 'Hang a summary of what is left behind at the new place, by a model; "digest": without one.',
        }),
      ),
      customInstructions: opt(str({ description: "What the summary should have most of." })),
      replaceInstructions: opt(bool({ description: "They stand in place of bough's own." })),
      label: opt(str({ description: "For the summary, or for the target where none is made." })),
    },
    gives: obj({ ...MOVED, editorText: opt(str()), summaryEntry: opt(ENTRY) }),
    order: "in turn",
  }),
  back: command({
    says: "Moves to where the session stood before the latest move.",
    takes: { expectedLeaf: EXPECTED_LEAF, abort: STOPS_TURN },
    gives: obj({ ...MOVED, moved: bool({ description: "False: there is nothing to go back to." }) }),
    order: "in turn",
  }),
  forward: command({
    says: "Undoes the latest back.",
    takes: { expectedLeaf: EXPECTED_LEAF, abort: STOPS_TURN },
    gives: obj({ ...MOVED, moved: bool({ description: "False: there is nothing to go forward to." }) }),
    order: "in turn",
  }),
  set_label: command({
    says: "Labels an entry; without a label, or with an empty one, takes it away.",
    takes: { entryId: str(), label: opt(str()) },
    gives: NOTHING,
    order: "in turn",
  }),

  compact: command({
    says:
      "Replaces the older part of the conversation, for the model, by a summary. A running turn is stopped first; what was " +
      "queued meanwhile is sent afterwards. The entries stay in the tree.",
    takes: {
      focus: opt(str({ description: "What the summary should have most of." })),
      digest: opt(bool({ description: "Write it without a model." })),
    },
    gives: obj({ cancelled: CANCELLED, entry: opt(ENTRY) }),
    order: "in turn",
  }),
  abort_compaction: command({
    says: "Stops a compaction and nothing else: a turn goes on without it.",
    takes: {},
    gives: NOTHING,
    order: "at once",
  }),

  uncompact: command({
    says: "Moves above the latest compaction of the branch, so that the model reads again what it replaced.",
    takes: { expectedLeaf: EXPECTED_LEAF, abort: STOPS_TURN },
    gives: obj({ ...MOVED, editorText: opt(str()), summaryEntry: opt(ENTRY) }),
    order: "in turn",
  }),

  // Plan mode.
  set_plan_mode: command({
    says: "Begins or leaves plan mode: the model looks, changes nothing, and hands in a plan (plan_submitted).",
    takes: { on: bool() },
    gives: NOTHING,
    order: "in turn",
  }),
  get_plan: command({
    says: "The plan that waits for a decision, as its file holds it.",
    takes: {},
    gives: obj({ title: str(), path: str(), plan: str() }),
    order: "at once",
  }),
  approve_plan: command({
    says:
      "Carries the plan out. Answered when that is under way, or when it did not come about: a notice then says why, and " +
      "`started` is false.",
    takes: {
      choice: oneOf(["execute", "compact", "keep"], {
        description: "In a new session; in this one, compacted; or in this one as it is.",
      }),
    },
    gives: obj({ started: bool() }),
    order: "in turn",
  }),

  // Sessions.
  branch: command({
    says: "A new session that ends before a prompt, whose text comes back.",
    takes: { entryId: str({ description: "A message of the user." }) },
    gives: obj({ cancelled: CANCELLED, selectedText: str() }),
    order: "in turn",
  }),
  clone: command({
    says: "A new session with a copy of the current path.",
    takes: {},
    gives: obj({ cancelled: CANCELLED }),
    order: "in turn",
  }),
  new_session: command({
    says: "An empty session in the same folder.",
    takes: { parentSession: opt(str({ description: "The file it came from." })) },
    gives: obj({ cancelled: CANCELLED }),
    order: "in turn",
  }),
  switch_session: command({
    says: "Opens another session; on an error the current one stays.",
    takes: { session: str({ minLength: 1, description: "A path, or the beginning of an id." }) },
    gives: obj({ cancelled: CANCELLED }),
    order: "in turn",
  }),
  list_sessions: command({
    says: "The sessions of the folder bough was started in, the last used first; those of subagents are left out.",
    takes: {
      all: opt(bool({ description: "Those of all folders." })),
      complete: opt(
        bool({ description: "Read large files whole for names and numbers of messages; default: only their ends." }),
      ),
    },
    gives: obj({ sessions: arr(SESSION_ITEM) }),
    order: "at once",
  }),
  set_name: command({
    says: "Names the session; an empty name takes it away.",
    takes: { name: str() },
    gives: NOTHING,
    order: "in turn",
  }),
  save_as: command({
    says: "Writes all of the session to a new file and goes on in it; the way out when its own cannot be written.",
    takes: { path: str({ minLength: 1 }) },
    gives: obj({ sessionFile: str() }),
    order: "in turn",
  }),
  export: command({
    says:
      "Writes the session to a file to give away, as it is on disk now: all of it, the path to branch, or the path between " +
      "from and to. The places of masked secrets come back; the session stays as it is.",
    takes: {
      out: opt(str({ minLength: 1, description: "A file or a folder; default: a name made from the session's file." })),
      format: opt(oneOf(["html", "md", "jsonl"], { description: "Default: what out ends in, else html." })),
      branch: opt(str({ description: "An entry." })),
      from: opt(str({ description: "An entry." })),
      to: opt(str({ description: "An entry; default: where the session stands." })),
      images: opt(bool({ description: "Default true." })),
      redact: opt(bool({ description: "Mask secrets; default true for html and md, false for jsonl." })),
      hideHome: opt(bool({ description: "Show the user's home folder as ~." })),
      force: opt(bool({ description: "Replace a file that is there." })),
    },
    gives: obj({
      path: str(),
      format: oneOf(["html", "md", "jsonl"]),
      entries: int(),
      bytes: int(),
      imagesLeftOut: int(),
      linesLeftOut: int({ description: "Damaged lines of the session that are not in a masked jsonl." }),
      redacted: nullable(
        obj({
          total: int({ description: "Secrets masked." }),
          placeCount: int(),
          places: arr(
            obj({
              entryId: nullable(str({ description: "null: the header." })),
              field: str({ examples: ["message.content[0].text"] }),
              kind: str({ examples: ["github token"] }),
              count: int(),
            }),
            { description: "The first 1000." },
          ),
        }),
        { description: "null: nothing was looked for." },
      ),
    }),
    order: "at once",
  }),
  take_over: command({
    says: "Asks the program that writes the session to hand it over, and waits for that; abort ends the wait.",
    takes: {},
    gives: NOTHING,
    order: "in turn",
  }),

  // Tools of MCP servers.
  get_mcp: command({
    says: "The MCP servers, how they are, and which of their tools this branch uses.",
    takes: {},
    gives: obj({ servers: arr(MCP_SERVER) }),
    order: "at once",
  }),
  select_mcp_tools: command({
    says: "Chooses the tools this branch uses from now on; recorded, so that a later move back restores the choice.",
    takes: { names: arr(str(), { description: "As get_mcp names them; no others are used then." }) },
    gives: NOTHING,
    order: "in turn",
  }),

  // The model.
  get_available_models: command({
    says: "The models that can be used now.",
    takes: {},
    gives: obj({ models: arr(MODEL) }),
    order: "at once",
  }),
  set_model: command({
    says: "Takes another model from the next request on. Recorded in the session, so that a later move back restores it.",
    takes: {
      model: str({ minLength: 1, description: '"provider/id", an id or its beginning; perhaps ":level" behind.' }),
    },
    gives: obj({ model: MODEL, thinkingLevel: oneOf(THINKING_LEVELS) }),
    order: "in turn",
  }),
  get_commands: command({
    says: "The commands of extensions; sent as a prompt, /name and what follows, they are run.",
    takes: {},
    gives: obj({ commands: arr(EXTENSION_COMMAND) }),
    order: "at once",
  }),
  reload_extensions: command({
    says: "Loads every extension anew. Refused while a turn runs.",
    takes: {},
    gives: NOTHING,
    order: "in turn",
  }),
  set_thinking_level: command({
    says: "Sets the nearest level the model has.",
    takes: { level: oneOf(THINKING_LEVELS) },
    gives: obj({ level: oneOf(THINKING_LEVELS) }),
    order: "in turn",
  }),
} as const;

type Table = typeof COMMANDS;
export type CommandName = keyof Table;
/** What a command takes, beside `type` and `id`. */
export type Taken<N extends CommandName> = StaticObject<Table[N]["takes"]>;
/** What a command gives, as `data` of its response. */
export type Given<N extends CommandName> = Static<Table[N]["gives"]>;

export const ID = union([str(), num()], { description: "Comes back with the response." });

export const isCommand = (name: unknown): name is CommandName =>
  typeof name === "string" && Object.hasOwn(COMMANDS, name);

/** The whole line of a command as a schema: its type, perhaps an id, and what it takes. No other fields. */
export const lineSchema = (name: CommandName): Schema =>
  obj({ type: lit(name), id: opt(ID), ...(COMMANDS[name].takes as Properties) });

const validators = new Map<CommandName, Validator>();

/** What is wrong with the line of a command, each as `{path, message}`; empty when nothing is. */
export function faultsOf(name: CommandName, line: object): { path: string; message: string }[] {
  let validator = validators.get(name);
  if (validator === undefined) validators.set(name, (validator = compile(lineSchema(name))));
  return validator.errors(line);
}
