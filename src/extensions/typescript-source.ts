/**
 * JavaScript from an extension's TypeScript, as loose a dialect as extensions are written in. Part of `extensions/`;
 * typescript-loading.ts uses it.
 *
 * Types are blanked out, so that lines and columns stay; a file with syntax that has to be turned into code (enums,
 * parameter properties, namespaces) is rewritten instead. Imports of which nothing is used are dropped, as TypeScript
 * does: they name types.
 */
import { stripTypeScriptTypes } from "node:module";
import { systemCode } from "../session/session-errors.ts";

export interface JavaScript {
  format: "module" | "commonjs";
  source: string;
}

/** Throws a SyntaxError for what is no TypeScript. */
export function javaScriptOf(typeScript: string): JavaScript {
  const source = withoutUnusedImports(withoutTypes(typeScript));
  const format = moduleFormat(source);
  return { format, source: format === "module" ? withCommonNames(source) : source };
}

/** What a source without further notice is: extensions are modules unless they are clearly the older kind. */
export const moduleFormat = (source: string): JavaScript["format"] =>
  !/^\s*(?:import|export)\b/m.test(source) && /\b(?:module\.exports|exports\.\w+)\s*=/.test(source)
    ? "commonjs"
    : "module";

function withoutTypes(source: string): string {
  try {
    return quietly(() => stripTypeScriptTypes(source, { mode: "strip" }));
  } catch (error) {
    if (systemCode(error) !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") throw error;
    return quietly(() => stripTypeScriptTypes(source, { mode: "transform" }));
  }
}

/** Node warns that the function may change; that is bough's business and not the user's. */
function quietly<T>(call: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return call();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What may stand before and between the imports at the head of a file. */
const GAP = /(?:\s+|;|#!.*|\/\/.*|\/\*[\s\S]*?\*\/|import\s*(?:"[^"\n]+"|'[^'\n]+'))/y;
const IMPORT = /(import\s+)([\w$\s{},*]+?)(\s+from\s*(?:"[^"\n]+"|'[^'\n]+')(?:\s*with\s*\{[^}]*\})?)/y;
/** Names in comments are no use of them; what looks like a comment in a template with names in it is none. */
const COMMENT = /^[ \t]*\/\*(?:(?!\*\/|\$\{)[\s\S])*\*\/|^[ \t]*\/\/(?:(?!\$\{).)*$/gm;

/** Only the imports at the head are looked at: further down may stand texts that look like some. */
function withoutUnusedImports(source: string): string {
  const head: (string | RegExpExecArray)[] = [];
  let at = 0;
  for (;;) {
    GAP.lastIndex = IMPORT.lastIndex = at;
    const found = IMPORT.exec(source) ?? GAP.exec(source);
    if (found === null) break;
    head.push(found.length > 1 ? found : found[0]);
    at += found[0].length;
  }
  const body = source.slice(at);
  const used = new Set(body.replace(COMMENT, "").match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));
  return head.map((part) => (typeof part === "string" ? part : usedImport(part, used))).join("") + body;
}

function usedImport(
  [statement, keyword = "", clause = "", from = ""]: RegExpExecArray,
  used: ReadonlySet<string>,
): string {
  const kept = keptClause(clause, used);
  if (kept === clause) return statement;
  const code = kept === "" ? "" : keyword.trimEnd() + " " + kept + from.replace(/\s+/g, " ");
  // The lines below stay where they are.
  return code + "\n".repeat(statement.split("\n").length - 1);
}

/** The part of an import clause that is used; "" for none, the clause itself for all. */
function keptClause(clause: string, used: ReadonlySet<string>): string {
  const braces = /\{([^}]*)\}/.exec(clause);
  const single = clause.replace(/\{[^}]*\}/, "").split(",");
  const names = (braces?.[1] ?? "").split(",");
  const all = [...single, ...names].map((part) => part.trim()).filter((part) => part !== "");
  const isUsed = (part: string): boolean => used.has(part.trim().split(/\s+/).at(-1)!);
  if (all.every(isUsed)) return clause;
  const keptNames = names.filter((part) => part.trim() !== "" && isUsed(part)).map((part) => part.trim());
  const keptSingle = single.filter((part) => part.trim() !== "" && isUsed(part)).map((part) => part.trim());
  return [...keptSingle, ...(keptNames.length > 0 ? [`{ ${keptNames.join(", ")} }`] : [])].join(", ");
}

const COMMON_NAMES = {
  require: "process.getBuiltinModule('module').createRequire(import.meta.url)",
  __filename: "import.meta.filename",
  __dirname: "import.meta.dirname",
};

/** Extensions written for loaders that give modules the names of the older kind find them here, too. */
function withCommonNames(source: string): string {
  const declarations = Object.entries(COMMON_NAMES)
    .filter(([name]) => new RegExp(`(?<![.\\w$])${name}\\b`).test(source))
    .filter(([name]) => !new RegExp(`\\b(?:const|let|var|function|import)\\s+[{\\s]*${name}\\b`).test(source))
    .map(([name, value]) => `const ${name} = ${value};`);
  return declarations.length === 0 ? source : `${declarations.join(" ")} ${source.replace(/^#!/, "//")}`;
}
