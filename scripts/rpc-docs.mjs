// docs/rpc.md, made of the table of commands that also checks what comes in. Without --write it only says whether the
// document is as it should be.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../src/cli/rpc/commands.ts";
import { EVENT_TEXTS } from "../src/cli/rpc/event-texts.ts";
import { UI_REQUEST_TEXTS, UI_RESPONSE } from "../src/cli/rpc/extension-dialogs.ts";
import * as SHAPES from "../src/cli/rpc/shapes.ts";
import { root } from "./source-files.mjs";

const INTRO = `<!-- Made by scripts/rpc-docs.mjs from src/cli/rpc/commands.ts: npm run fix writes it. -->

# Driving bough from another program

\`bough --mode rpc\` keeps one session open, takes commands as lines of JSON on standard input, and writes responses and
events as lines of JSON on standard output. Nothing else is written there; what fails before the first line, or at the
end, is said on standard error. \`examples/rpc-tree.mjs\` is a client of sixty lines. The other arguments are those of the
terminal program: \`-c\`, \`-r ID\`, \`--session FILE\`, \`--model\`, \`--trust\` and so on; a project's own files are used
only with \`--trust\`. A session that another bough has open is refused with its process number, exit code 1.

\`\`\`text
→ {"id":1,"type":"navigate","targetId":"7b7193d6","expectedLeaf":"7e18108f"}
← {"type":"session_changed","reason":"tree","sessionId":"…","sessionFile":"…","leafId":"7b7193d6"}
← {"id":1,"type":"response","command":"navigate","success":true,"data":{"cancelled":false,"leafId":"7b7193d6"}}
\`\`\`

- A line ends at LF and nowhere else. Each is one JSON object in UTF-8, of at most 256 MiB. Empty lines are passed over.
- A command has a \`type\`, perhaps an \`id\` (text or number), and the fields below; others are refused, so that a
  misspelt one is never ignored. Its response carries the same \`id\`; events have none.
- A response has \`success\`, and either \`data\` or \`error\`, a sentence, with a \`code\`: \`parse\` (no JSON object; the
  command is then "parse"), \`unknown\` (no such command), \`invalid\` (its fields), \`leaf\` (the session stands elsewhere
  than \`expectedLeaf\` says; \`data.leafId\` is where), \`summary\` (none could be written; nothing was moved), \`refused\`
  (it cannot be done, or not now). bough goes on after each.
- *In turn* are commands that change where the session stands or what it holds: each begins when those before it are
  done, so that several may be sent at once. All others are done when they are read, whatever is under way.
- \`expectedLeaf\` makes a command safe beside other clients and beside the agent: it is compared at the moment the command
  begins, and with another leaf nothing is done.
- While the reader is behind by a mebibyte, no further command is read and the agent waits; nothing is lost.
- When the input ends, the commands before its end are done (for five seconds at most), a running turn is stopped, all is
  saved, and bough exits with 0; with 1 if something could not be saved; with 129, 130 or 143 after SIGHUP, SIGINT or
  SIGTERM. A client that wants an answer keeps the input open until \`agent_settled\`.
`;

const NAMED = new Map(
  Object.values(SHAPES)
    .filter((schema) => typeof schema.title === "string")
    .map((schema) => [schema.title, schema]),
);

/** The type of a value in words. */
function typeText(schema) {
  if (schema.title !== undefined) return `[${schema.title}](#${schema.title.replaceAll(" ", "-")})`;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(" or ");
  if (schema.type === "array") return `list of ${typeText(schema.items)}`;
  if (schema.type !== "object") return { string: "text", integer: "whole number" }[schema.type] ?? schema.type;
  if (schema.properties !== undefined) return `{${Object.keys(schema.properties).join(", ")}}`;
  return typeof schema.additionalProperties === "object" ? `map of ${typeText(schema.additionalProperties)}` : "object";
}

/** A line for each property; one that may be missing has a question mark. */
const fieldLines = (properties, isOptional) =>
  Object.entries(properties).map(([name, schema]) => {
    const description = schema.description ?? schema.anyOf?.find((part) => part.description)?.description;
    const says = description === undefined || schema.title !== undefined ? "" : ` — ${description}`;
    return `  - \`${name}${isOptional(name) ? "?" : ""}\`: ${typeText(schema)}${says}`;
  });
const objectLines = ({ properties, required = [] }) => fieldLines(properties, (name) => !required.includes(name));

function commandText([name, { says, takes, gives, order }]) {
  const schemaOf = (property) => property.schema ?? property;
  const taken = Object.fromEntries(Object.entries(takes).map(([field, property]) => [field, schemaOf(property)]));
  const takenLines = fieldLines(taken, (field) => takes[field].schema !== undefined);
  const givenLines = gives.title !== undefined ? [`  - a ${typeText(gives)}`] : objectLines(gives);
  const part = (title, lines) => (lines.length === 0 ? [] : [`- ${title}`, ...lines]);
  return [`### ${name}`, "", `${says} *${order === "in turn" ? "In turn." : "At once."}*`, ""]
    .concat(part("takes", takenLines), part("gives", givenLines))
    .join("\n")
    .trimEnd();
}

function shapeText([title, schema]) {
  const lines = schema.properties === undefined ? [] : ["", ...objectLines(schema).map((line) => line.slice(2))];
  return [`### ${title}`, ...(schema.description === undefined ? [] : ["", schema.description]), ...lines].join("\n");
}

const eventText = ([type, { fields, says }]) => `| \`${type}\` | ${fields} | ${says.replaceAll("|", "\\|")} |`;

const UI_INTRO = `What extensions ask and show comes as a line of the type \`extension_ui_request\`, with an \`id\`, a \`method\` and the
fields below. Where an answer is waited for, the client sends a line of the type \`extension_ui_response\`, which has no
response of its own. After \`timeout\` milliseconds, or when the extension is done with it, it counts as not answered;
answers that come later are passed over. What draws on a terminal (components, footers, editors) does nothing here.

\`\`\`text
← {"type":"extension_ui_request","id":"ui-1","method":"confirm","title":"Delete it?","message":"2 files"}
→ {"type":"extension_ui_response","id":"ui-1","confirmed":true}
\`\`\``;

const text = `${[
  INTRO.trimEnd(),
  "## Commands",
  ...Object.entries(COMMANDS).map(commandText),
  "## Events",
  "`bough --mode json` writes the same, after the session's header as its first line.",
  ["| event | fields | |", "|---|---|---|", ...Object.entries(EVENT_TEXTS).map(eventText)].join("\n"),
  "## Extensions",
  UI_INTRO,
  ["| method | fields | |", "|---|---|---|", ...Object.entries(UI_REQUEST_TEXTS).map(eventText)].join("\n"),
  ["An `extension_ui_response`:", "", ...objectLines(UI_RESPONSE).map((line) => line.slice(2))].join("\n"),
  "## Shapes",
  ...[...NAMED].map(shapeText),
].join("\n\n")}\n`;

const path = join(root, "docs/rpc.md");
if (process.argv.includes("--write")) writeFileSync(path, text);
else if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
  console.error("rpc: docs/rpc.md is not what the table of commands says; npm run fix writes it");
  process.exit(1);
}
console.log(`rpc: ${Object.keys(COMMANDS).length} commands, ${Object.keys(EVENT_TEXTS).length} events`);
