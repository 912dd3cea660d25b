/**
 * The lines under the editor: where one is, what it has cost, how full the context is, which model answers.
 * Part of `tui/`; used by session-screen, which calls `refresh` after each event that may change a fact.
 */
import { type Component, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { sanitiseLine } from "./sanitise.ts";
import { styledLine } from "./styled-text.ts";
import { theme, type ThemeToken } from "./theme.ts";

export interface FooterFacts {
  /** Working folder, the home folder already written as `~`. */
  cwd: string;
  gitBranch: string | undefined;
  sessionName: string | undefined;
  /** Tokens and dollars of the whole session, every branch; undefined until they are counted. */
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number; cost: number } | undefined;
  /** Of the active branch. `percent` is unknown right after a compaction. */
  context: { window: number; percent: number | undefined } | undefined;
  /** `answering`: the id of the model that a virtual one has sent the latest request to. */
  model: { provider: string; id: string; hasThinking: boolean; answering?: string | undefined } | undefined;
  thinkingLevel: string;
  /** "none" outside any mode. */
  mode: string;
  /** Another program writes the session. */
  isFollowing: boolean;
  /** Entries that are in memory only. */
  unsaved: number;
  /** What extensions say, each one line. */
  statuses: readonly string[];
}

/** Percent of the context window from which the number is coloured. */
const NEARLY_FULL = 70;
const FULL = 90;

export class Footer implements Component {
  readonly #read: () => FooterFacts;
  #facts: FooterFacts | undefined;

  /** `read` is called for a frame after a refresh: many events between two frames cost one reading. */
  constructor(read: () => FooterFacts) {
    this.#read = read;
  }
  refresh(): void {
    this.#facts = undefined;
  }
  render(width: number): readonly string[] {
    this.#facts ??= this.#read();
    const facts = this.#facts;
    return [
      theme.fg("dim", truncateToWidth(placeText(facts), width, "…")),
      twoSides(usageTexts(facts), modelText(facts), width),
      ...statusLines(facts.statuses, width),
    ];
  }
  invalidate(): void {}
}

/** 999 → "999", 1234 → "1.2k", 12345 → "12k", 1234567 → "1.2M". */
export function shortNumber(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 10_000) return `${(value / 1000).toFixed(1)}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return value < 10_000_000 ? `${(value / 1_000_000).toFixed(1)}M` : `${Math.round(value / 1_000_000)}M`;
}

const statusLines = (statuses: readonly string[], width: number): string[] =>
  statuses.length === 0 ? [] : [truncateToWidth(statuses.map(styledLine).join(" "), width, "…")];

function placeText({ cwd, gitBranch, sessionName }: FooterFacts): string {
  const branch = gitBranch === undefined ? "" : ` (${sanitiseLine(gitBranch)})`;
  const name = sessionName === undefined ? "" : ` • ${sanitiseLine(sessionName)}`;
  return `${sanitiseLine(cwd)}${branch}${name}`;
}

interface Piece {
  text: string;
  token: ThemeToken;
}

function usageTexts({ usage, context, unsaved, isFollowing, mode }: FooterFacts): Piece[] {
  const pieces: Piece[] = [];
  const add = (text: string, token: ThemeToken = "dim"): void => void pieces.push({ text, token });
  if (mode !== "none") add(sanitiseLine(mode), "planMode");
  if (isFollowing) add("following", "warning");
  if (unsaved > 0) add(`${unsaved} unsaved`, "error");
  if (usage !== undefined) {
    if (usage.input > 0) add(`↑${shortNumber(usage.input)}`);
    if (usage.output > 0) add(`↓${shortNumber(usage.output)}`);
    if (usage.cacheRead > 0) add(`R${shortNumber(usage.cacheRead)}`);
    if (usage.cacheWrite > 0) add(`W${shortNumber(usage.cacheWrite)}`);
    if (usage.cost > 0) add(`$${usage.cost.toFixed(3)}`);
  }
  if (context !== undefined) {
    const { percent, window } = context;
    const token = percent === undefined || percent <= NEARLY_FULL ? "dim" : percent <= FULL ? "warning" : "error";
    add(`${percent === undefined ? "?" : `${percent.toFixed(1)}%`}/${shortNumber(window)}`, token);
  }
  return pieces;
}

function modelText({ model, thinkingLevel }: FooterFacts): string {
  if (model === undefined) return "no model: /model";
  const thinking = model.hasThinking ? ` • ${sanitiseLine(thinkingLevel)}` : "";
  const answering = model.answering === undefined ? "" : ` → ${sanitiseLine(model.answering)}`;
  return `(${sanitiseLine(model.provider)}) ${sanitiseLine(model.id)}${thinking}${answering}`;
}

/** Left and right on one line; when there is no room for both, the right one is cut first. */
function twoSides(left: readonly Piece[], right: string, width: number): string {
  const plain = left.map(({ text }) => text).join(" ");
  const coloured = left.map(({ text, token }) => theme.fg(token, text)).join(theme.fg("dim", " "));
  const used = visibleWidth(plain);
  if (used >= width) return truncateToWidth(coloured, width, "");
  const room = width - used - (used > 0 ? 2 : 0);
  if (room <= 0) return coloured;
  const cut = truncateToWidth(right, room, "…");
  return coloured + " ".repeat(width - used - visibleWidth(cut)) + theme.fg("dim", cut);
}
