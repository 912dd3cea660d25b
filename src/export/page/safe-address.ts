/**
 * Which addresses of a conversation become links.
 * Part of the page; pure.
 */
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
// What browsers leave out when they read an address.
const IGNORED = /[\p{Cc}\p{Cf}\s]/u;

/** The address as browsers read it; undefined for all but whole addresses of the web and of people. */
export function safeAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (IGNORED.test(trimmed) || !/^(?:https?:\/\/|mailto:)/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const address = new URL(trimmed);
  return SCHEMES.has(address.protocol) ? address.href : undefined;
}
