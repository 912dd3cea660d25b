/**
 * What compaction and the way out of a refused history say to the user and to programs, one plain sentence each.
 * Part of `agent/`.
 */

// pi's words, which programs that use a session look for.
export const ALREADY_COMPACTED = "Already compacted";
export const TOO_SMALL = "Nothing to compact (session too small)";

/** `kept`: how many of the tokens at the end a compaction leaves as they are. */
export const tooSmall = (tokens: number, kept: number): string =>
  tokens > kept
    ? `${TOO_SMALL}: its ${inWords(tokens)} cannot be parted any further.`
    : `${TOO_SMALL}: the conversation has about ${inWords(tokens)}, and the last ${inWords(kept)} stay word for word; ` +
      "compaction.keepRecentTokens in settings.json says how many.";

const inWords = (tokens: number): string => `${tokens.toLocaleString("en")} tokens`;

export const COMPACTION_RUNS = "The conversation is being compacted; wait for its end, or stop it first.";
export const SESSION_WENT_ON = "The session went on elsewhere while it was being compacted; nothing was changed.";

/** `fault` completes "… because ". */
export const hookRefused = (fault: string): string =>
  `An extension's compaction was refused, because ${fault}; the session is unchanged.`;

export const hookAnswerRefused = (fault: string): string =>
  `What an extension said about the compaction was refused, because ${fault}; the session is unchanged.`;

export const notCompacted = (reason: string): string =>
  `The context was not compacted: ${reason} /compact tries again, also without a model.`;

export const NOTHING_TO_UNCOMPACT = "There is no compaction on this branch.";

/** `form`: the beginning of what is sent instead. */
export const sentAsText = (reason: string, entryId: string | undefined, form: string): string =>
  `The provider refused the conversation (${reason}). It is asked once more, with ` +
  `${entryId === undefined ? "what came before the last prompt" : `entry ${entryId}`} as plain text: ${form} …`;

export const historyRejected = (reason: string, entryId: string | undefined): string =>
  `The provider refuses the conversation${entryId === undefined ? "" : ` because of entry ${entryId}`}: ${reason}`;
