/**
 * What a model is told to write when a conversation is compacted.
 * Part of `agent/`; used by compaction-summary.
 */

const SECTIONS = `## Goal
What the user wants in the end; several lines when there are several things.

## Constraints & Preferences
- What the user asked to do, to use or to avoid; "(none)" when nothing was said.

## Progress
### Done
- [x] What is finished
### In Progress
- [ ] What was being worked on at the end
### Blocked
- What stands in the way, if anything

## Key Decisions
- **The decision**: the reason for it

## Next Steps
1. What comes next, in order

## Critical Context
- Data, examples and references without which the work cannot go on; "(none)" when there are none.`;

const STYLE =
  "Keep it short. Keep file paths, names of functions and the words of error messages exactly. " +
  "A question of the user that nobody has answered yet belongs under Next Steps, word for word.";

export const HISTORY_INSTRUCTIONS =
  "The messages between the conversation tags are about to leave the context of the agent that works on them. Write a " +
  `summary from which it can go on without them, with exactly these sections:\n\n${SECTIONS}\n\n${STYLE}`;

export const UPDATE_INSTRUCTIONS =
  "The messages between the conversation tags came after what the previous summary tells. Write the summary anew so that " +
  "it covers both: keep what still holds, add what is new, move what was finished to Done, bring Next Steps up to date, " +
  `and drop only what no longer matters. Use exactly these sections:\n\n${SECTIONS}\n\n${STYLE}`;

export const TURN_PREFIX_INSTRUCTIONS =
  "The messages between the conversation tags are the beginning of a turn that was too long to be kept; its end stays as " +
  "it is and follows your summary. Write what is needed to understand that end, with exactly these sections:\n\n" +
  "## Original Request\nWhat the user asked for in this turn.\n\n" +
  "## Progress So Far\n- What was decided and done in this beginning\n\n" +
  `## Context Needed to Continue\n- What the rest of the turn relies on\n\n${STYLE}`;

export const NO_PRIOR_HISTORY = "No prior history.";
/** Between the summary of what was before a parted turn and that of its beginning; pi's words. */
export const TURN_CONTEXT = "\n\n---\n\n**Turn Context (split turn):**\n\n";
