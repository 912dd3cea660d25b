/**
 * `promptBlock`: text from outside inside a prompt, fenced by a tag that the text itself cannot close.
 * Part of `agent/`; the one escape function of the sink "prompt".
 */
import { unclosable } from "../tree/content.ts";

/** `<tag name="value">`, the text, `</tag>`, on lines of their own. `tag` is a plain word. */
export function promptBlock(tag: string, attributes: Readonly<Record<string, string>>, text: string): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${attributeText(value)}"`);
  return `<${tag}${written.join("")}>\n${unclosable(tag, text.trimEnd())}\n</${tag}>`;
}

function attributeText(value: string): string {
  const named: Record<string, string> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };
  return value.replace(/[&"<>]/g, (character) => named[character]!).replace(/\s/g, " ");
}
