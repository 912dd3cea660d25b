/**
 * The head of a Markdown file, for extensions that read their own. Part of `cli/`; see coding-agent.ts.
 */
import { readFrontMatter } from "../../agent/front-matter.ts";

/** `frontmatter` by key: a text, a list of them, or true and false. Throws one sentence for a head that cannot be read. */
export function parseFrontmatter<T extends Record<string, unknown> = Record<string, unknown>>(
  content: string,
): { frontmatter: T; body: string } {
  const read = readFrontMatter(content);
  if ("problem" in read) throw new Error(`Line ${read.line}: ${read.problem}.`);
  const entries = [...read.values].map(([key, values]) => {
    const texts = values.map(({ text }) => valueOf(text));
    return [key, texts.length === 1 ? texts[0] : texts.length === 0 ? "" : texts];
  });
  return { frontmatter: Object.fromEntries(entries) as T, body: read.body };
}

/** What follows the head. */
export const stripFrontmatter = (content: string): string => parseFrontmatter(content).body;

const valueOf = (text: string): string | boolean => (text === "true" ? true : text === "false" ? false : text);
