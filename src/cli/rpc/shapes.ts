/**
 * What the commands of `--mode rpc` take and give more than once, as JSON Schemas with types. Part of `cli/`; used by
 * commands.ts and, for docs/rpc.md, by scripts/rpc-docs.mjs. A `title` makes a shape one that the document names.
 */
import { arr, bool, int, lit, map, nullable, num, obj, opt, oneOf, str, unsafe } from "@earendil-works/pi-schema";
import type { Schema } from "@earendil-works/pi-schema";
import type { ContextReport } from "../../agent/context-report.ts";
import type { SessionEntry } from "../../tree/entries.ts";
import type { AgentMessage, BashExecutionMessage } from "../../tree/messages.ts";
import { FILTER_MODES } from "../../tree/outline-filter.ts";

const shape = <T>(title: string, description: string): Schema<T> =>
  unsafe<T>({ type: "object", title, description } as unknown as Schema);

export const ENTRY = shape<SessionEntry>(
  "entry",
  "A line of the session file, as docs/format.md describes it: type, id, parentId, timestamp and what its type has.",
);
export const MESSAGE = shape<AgentMessage>(
  "message",
  "A message of the conversation: role, content and timestamp, and what its role has; docs/format.md has all roles.",
);
export const COMMAND_RUN = shape<BashExecutionMessage>(
  "command run",
  "A message of the role bashExecution: command, output, exitCode, cancelled, truncated, fullOutputPath, timestamp.",
);

export const CONTEXT = shape<ContextReport>(
  "context",
  "`systemPrompt` and `tools` in tokens; `entries`, each with kind (summary, kept, later), entryId, text and tokens; " +
    "`dropped`, with the number `summarised`, their newest `prompts`, and the `repairs` that make the request valid.",
);

export const IMAGE = obj(
  { type: lit("image"), data: str({ description: "Base64." }), mimeType: str({ examples: ["image/png"] }) },
  { title: "image" },
);

export const MODEL = obj(
  {
    provider: str(),
    id: str(),
    name: str({ description: "For people." }),
    contextWindow: num({ description: "Tokens." }),
    thinkingLevels: arr(str(), { description: 'Those it has; "off" alone when it does not think.' }),
  },
  { title: "model" },
);

export const MCP_SERVER = obj(
  {
    name: str(),
    source: str({ description: "The file that names it." }),
    status: str(),
    problem: opt(str({ description: "Why it does not work." })),
    tools: arr(
      obj({
        name: str({ description: "As the model calls it." }),
        tool: str({ description: "As the server calls it." }),
        description: str(),
        isSelected: bool(),
      }),
    ),
  },
  {
    title: "server",
    description: "Each tool has a name, the server's name for it (tool), a description, and isSelected.",
  },
);

export const EXTENSION_COMMAND = obj(
  {
    name: str({ description: "As it is called: with `:1` where several have the name." }),
    description: opt(str()),
    source: str({ description: "The extension's file." }),
  },
  { title: "command" },
);

export const QUEUE = obj(
  {
    steering: arr(str(), { description: "Texts that go in after the current tool calls." }),
    followUp: arr(str(), { description: "Texts that go in when the agent would stop." }),
  },
  { title: "queue" },
);

export const SPENT = obj(
  {
    input: num(),
    output: num(),
    cacheRead: num(),
    cacheWrite: num(),
    totalTokens: num(),
    cost: num({ description: "Dollars." }),
  },
  { title: "spent", description: "Tokens, but for the cost." },
);

export const BRANCH_SPENT = obj(
  {
    tipId: str({ description: "The last entry of the branch." }),
    forkId: nullable(str({ description: "Where it parts from others; null when it shares nothing." })),
    label: opt(str({ description: "The last one on the branch's own part." })),
    active: bool({ description: "The session stands on it." }),
    entries: int({ description: "From the root to the tip." }),
    path: SPENT,
    own: SPENT,
  },
  { title: "branch", description: "`path` is spent from the root to the tip, `own` of it behind the last fork." },
);

export const TREE_ROW = obj(
  {
    row: int({ description: "Its number, from 1." }),
    after: nullable(int()),
    branch: int({ description: "Which of the rows that continue the same one it is, from 1." }),
    branches: int({ description: "How many continue that one." }),
    indent: int({ description: "Levels; it grows only where the tree splits." }),
    prefix: str({ description: "The lines of the tree, drawn." }),
    id: str({ description: "The entry's." }),
    parentId: nullable(str()),
    type: str(),
    role: opt(str({ description: "Of a message." })),
    active: bool({ description: "On the way from the root to the leaf." }),
    current: bool({ description: "Where the session stands." }),
    label: opt(str()),
    problem: opt(str({ description: "Why an entry with a parent is a root." })),
    text: str({ description: "One line." }),
  },
  { title: "row", description: "`after` is the row it continues, null for a root." },
);

export const SESSION_ITEM = obj(
  {
    path: str(),
    id: str({ description: '"" when the file is no session.' }),
    name: opt(str()),
    cwd: str({ description: "As recorded." }),
    cwdMissing: bool({ description: "That folder is gone: switching works, `bough --fork` re-roots a copy." }),
    created: str(),
    modified: str({ description: "The newest of the messages' times." }),
    messages: opt(int({ description: "On all branches; absent while only the ends of the file have been read." })),
    firstMessage: str(),
    parentSession: opt(str()),
    size: int({ description: "Bytes." }),
    kind: oneOf(["ok", "empty", "damaged", "newer"]),
    reason: opt(str({ description: "Why it is damaged." })),
  },
  { title: "session" },
);

export const FILTER = oneOf(FILTER_MODES, { description: 'Which entries to show; default "default".' });
export const BY_MODEL = map(SPENT, { description: 'By "provider/model"; "" for what names none.' });
