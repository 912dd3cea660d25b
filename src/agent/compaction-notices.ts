/**
 * What compaction says to the user and to the programs that use it, one plain sentence each.
 * Part of `agent/`.
 */

// pi's words, which programs that use a session look for.
export const ALREADY_COMPACTED = "Already compacted";
export const TOO_SMALL = "Nothing to compact (session too small)";

export const COMPACTION_RUNS = "The conversation is being compacted; wait for its end, or stop it first.";
export const SESSION_WENT_ON = "The session went on elsewhere while it was being compacted; nothing was changed.";

/** `fault` completes "… because ". */
export const hookRefused = (fault: string): string =>
  `An extension's compaction was refused, because ${fault}; the session is unchanged.`;

export const hookAnswerRefused = (fault: string): string =>
  `What an extension said about the compaction was refused, because ${fault}; the session is unchanged.`;

export const notCompacted = (reason: string): string =>
  `The context was not compacted: ${reason} /compact tries again, also without a model.`;
