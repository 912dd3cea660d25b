/**
 * What to do with a session that another bough writes: the question, and a copy of its branch.
 * Part of `tui/`; used by selector-controller.
 */
import { NOTHING_TO_CLONE } from "../agent/session-notices.ts";
import { SessionManager } from "../session/session-manager.ts";
import type { Question } from "./choice-selector.ts";
import { sanitiseLine } from "./sanitise.ts";

/** What is known of the other; undefined members when it has not said who it is. */
export interface OtherBough {
  pid?: number | undefined;
  host?: string | undefined;
  since?: string | undefined;
}

export interface InUseAnswers {
  follow(): void;
  copy(): void;
  handOver(): void;
  /** Escape. */
  cancel(): void;
}

export function inUseQuestion({ pid, host, since }: OtherBough, answers: InUseAnswers): Question {
  const who =
    pid === undefined ? "" : ` It is process ${pid} on ${sanitiseLine(host ?? "?")}, since ${minuteOf(since)}.`;
  return {
    title: "This session is open in another bough",
    text: `Only one at a time can write a session.${who}`,
    choices: [
      { label: "Follow it live", value: answers.follow },
      { label: "Copy this branch to a session of your own", value: answers.copy },
      { label: "Ask for a hand-over", value: answers.handOver },
    ],
    onCancel: answers.cancel,
  };
}

/** "2026-11-30 23:55 UTC"; what is no time is shown as it is. */
function minuteOf(since = "?"): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:.*Z$/.test(since)
    ? `${since.slice(0, 10)} ${since.slice(11, 16)} UTC`
    : sanitiseLine(since);
}

/** Copies the current branch of a session that is not open here to a file beside it, and returns that. */
export async function copyOfBranch(path: string): Promise<string> {
  const session = await SessionManager.open(path, { readOnly: true });
  try {
    const leafId = session.getLeafId();
    if (leafId === null) throw new Error(NOTHING_TO_CLONE);
    return session.exportBranch(leafId);
  } finally {
    await session.close();
  }
}
