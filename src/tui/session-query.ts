/**
 * Which sessions `/resume` lists for a query, and in which order. Part of `tui/`; used by session-picker. Pure.
 */
import type { SessionInfo } from "../session/catalog.ts";

export type SessionOrder = "recent" | "threaded" | "relevance";
export const SESSION_ORDERS: readonly SessionOrder[] = ["recent", "threaded", "relevance"];

/** A parsed query, or what is wrong with it as one sentence. */
export type SessionQuery =
  | { kind: "words"; words: readonly string[] }
  | { kind: "pattern"; pattern: RegExp }
  | { kind: "broken"; text: string };

/** `re:` makes the rest a regular expression; else every word, and every "quoted phrase", has to occur. */
export function parseSessionQuery(text: string): SessionQuery {
  if (text.startsWith("re:")) {
    try {
      return { kind: "pattern", pattern: new RegExp(text.slice(3), "iu") };
    } catch {
      return { kind: "broken", text: `"${text.slice(3)}" is not a regular expression` };
    }
  }
  const words = [...text.toLowerCase().matchAll(/"([^"]*)"?|[^\s"]+/g)].map((match) => match[1] ?? match[0]);
  return { kind: "words", words: words.filter((word) => word.trim() !== "") };
}

const searchedText = (session: SessionInfo): string =>
  [session.name ?? "", session.firstMessage, session.cwd, session.id].join("\n");

export function matchesSession(session: SessionInfo, query: SessionQuery): boolean {
  if (query.kind === "broken") return false;
  if (query.kind === "pattern") return query.pattern.test(searchedText(session));
  const text = searchedText(session).toLowerCase();
  return query.words.every((word) => text.includes(word));
}

export interface SessionRow {
  session: SessionInfo;
  /** Steps from the session its thread began with; 0 in the other orders. */
  depth: number;
}

/** The rows for a list of sessions; examples come last. */
export function orderSessions(
  sessions: readonly SessionInfo[],
  order: SessionOrder,
  query: SessionQuery,
): SessionRow[] {
  const own = sessions.filter((session) => !session.isExample);
  const examples = sessions.filter((session) => session.isExample).sort(newestFirst);
  const flat = (list: SessionInfo[]): SessionRow[] => list.map((session) => ({ session, depth: 0 }));
  if (order === "threaded") return [...threads(own), ...flat(examples)];
  const rank = order === "relevance" ? relevance(query) : () => 0;
  return flat([...own.sort((a, b) => rank(a) - rank(b) || newestFirst(a, b)), ...examples]);
}

const timeOf = (session: SessionInfo): number => session.modified.getTime();

const newestFirst = (a: SessionInfo, b: SessionInfo): number =>
  timeOf(b) - timeOf(a) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

/** Lower is better: the name itself, words in the name, words in the first prompt, anything else. */
function relevance(query: SessionQuery): (session: SessionInfo) => number {
  const occurs = (text: string): boolean =>
    query.kind === "pattern"
      ? query.pattern.test(text)
      : query.kind === "words" && query.words.every((word) => text.includes(word));
  const whole = query.kind === "words" ? query.words.join(" ") : "";
  return (session) => {
    const name = (session.name ?? "").toLowerCase();
    if (whole !== "" && name === whole) return 0;
    if (name !== "" && occurs(name)) return 1;
    return occurs(session.firstMessage.toLowerCase()) ? 2 : 3;
  };
}

/** Sessions under the one they were branched from; the thread with the newest session first. */
function threads(sessions: readonly SessionInfo[]): SessionRow[] {
  const children = childrenOf(sessions);
  const seen = new Set<SessionInfo>();
  // Sessions that name each other as parents hang below no root; going over all of them catches those.
  return [...(children.get(undefined) ?? []), ...sessions]
    .map((root) => thread(root, children, seen))
    .filter((rows) => rows.length > 0)
    .map((rows) => ({ rows, newest: rows.reduce((time, { session }) => Math.max(time, timeOf(session)), 0) }))
    .sort((a, b) => b.newest - a.newest)
    .flatMap(({ rows }) => rows);
}

type Children = Map<SessionInfo | undefined, SessionInfo[]>;

function childrenOf(sessions: readonly SessionInfo[]): Children {
  const byName = new Map(
    sessions.flatMap((session) => [[session.id, session] as const, [session.path, session] as const]),
  );
  const children: Children = new Map();
  for (const session of [...sessions].sort(newestFirst)) {
    const parent = byName.get(session.parentSession ?? "");
    const key = parent === session ? undefined : parent;
    const siblings = children.get(key);
    if (siblings === undefined) children.set(key, [session]);
    else siblings.push(session);
  }
  return children;
}

/** The session and all below it that no thread has had yet. */
function thread(root: SessionInfo, children: Children, seen: Set<SessionInfo>): SessionRow[] {
  const rows: SessionRow[] = [];
  const stack: SessionRow[] = [{ session: root, depth: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (seen.has(next.session)) continue;
    seen.add(next.session);
    rows.push(next);
    for (const session of (children.get(next.session) ?? []).toReversed())
      stack.push({ session, depth: next.depth + 1 });
  }
  return rows;
}

const AGES: readonly (readonly [unit: string, milliseconds: number])[] = [
  ["y", 365 * 86_400_000],
  ["mo", 30 * 86_400_000],
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** "now", "5m", "3h", "2d", "1w", "4mo", "1y": how long before `now`, in milliseconds since 1970, something was. */
export function ageOf(modified: Date, now: number): string {
  const elapsed = now - modified.getTime();
  const unit = AGES.find(([, milliseconds]) => elapsed >= milliseconds);
  return unit === undefined ? "now" : `${Math.floor(elapsed / unit[1])}${unit[0]}`;
}
