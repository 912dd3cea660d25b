/**
 * What AgentSession says to the user: every refusal and notice, one plain sentence each.
 * Part of `agent/`.
 */

export const TURN_RUNS = "A turn is running; wait for its end, or stop it first.";
export const PROMPT_WHILE_RUNNING =
  'A turn is running; give streamingBehavior "steer" or "followUp" to queue this, or stop the turn first.';
export const JUMP_RUNS = "Another jump or change of session is under way; wait for its end.";
export const COMMAND_RUNS = "A command is still running; wait for its end, or stop it first.";
export const EMPTY_PROMPT = "A prompt needs text or an image.";
export const NOTHING_TO_CLONE = "There is nothing to clone yet.";
export const NOT_A_USER_MESSAGE = "Invalid entry ID for branching";
export const NO_SUMMARY_MODEL = "No model available for summarization";
export const READ_ONLY = "This session is open for reading only; a summary cannot be written to it.";
export const notSummarised = (reason: string): string => `${reason} Nothing was moved.`;
export const MOVED_MEANWHILE = "The session went on while the jump was being prepared; nothing was moved.";
export const STRAGGLER = "A tool that was stopped has finished late; its result is on the branch it belongs to.";
export const STRAGGLER_LOST =
  "A tool that was stopped has finished after its session was left; its result was not kept.";

export const entryNotFound = (id: string): string => `Entry ${id} not found`;

export const modelNotUsable = (recorded: string, current: string | undefined): string =>
  current === undefined
    ? `This conversation used ${recorded}, which cannot be used here; set its key or give --base-url and --model again.`
    : `This conversation used ${recorded}, which cannot be used here; it continues with ${current}.`;

export const overflow = (model: string, window: number): string =>
  `The conversation no longer fits into ${model} (${window} tokens); shorten it with /compact, go back with /tree, or start anew with /new.`;

export const queueDropped = (texts: readonly string[]): string =>
  texts.length === 1
    ? `A queued message was dropped: ${texts[0]}`
    : `${texts.length} queued messages were dropped: ${texts.join(" · ")}`;

export const queueNotKept = (reason: string): string =>
  `Queued messages would not survive a crash: they cannot be written to the state folder, ${reason}.`;
export const imagesNotKept = (count: number): string =>
  `${count === 1 ? "An image" : `${count} images`} of queued messages would not survive a crash: ` +
  "more than 16 MB of them are not kept.";
export const unsentReturned = (count: number): string =>
  `${count === 1 ? "A queued message" : `${count} queued messages`} of the last run ${count === 1 ? "was" : "were"} never sent; ` +
  `${count === 1 ? "it is" : "they are"} in the editor.`;
export const imagesAttached = (count: number): string =>
  `${count === 1 ? "An image goes" : `${count} images go`} with the next prompt.`;

export const UNFINISHED_TURN =
  "The last turn here was interrupted before its answer came. Write on to continue, or change the prompt with /tree.";

const named = (rules: readonly string[]): string =>
  `${rules.length === 1 ? "the rule" : "the rules"} ${rules.join(", ")}`;
export const stoppedByRules = (rules: readonly string[]): string => `Stopped by ${named(rules)}.`;
export const ruleTooSlow = (name: string, place: string): string =>
  `${place}: the condition of the rule ${name} took too long on this answer; the rule is off until bough starts again.`;
export const RULES_REST = "Rules were given ten times in this turn; they rest until its end.";

export const NO_PLAN = "There is no plan to decide on here.";
export const PLAN_DECIDED = "The plan has been decided on already.";
export const PLAN_UNDER_WAY =
  "The plan is approved and about to be carried out; Escape stops that, and then /plan leaves.";
export const EMPTY_PLAN = "The plan is empty; hand in all of it as plan.";
export const PLAN_NOT_TAKEN = "The turn was stopped; the plan was not taken.";
export const NOT_PLANNING = "Plan mode is off: nobody waits for a plan. Do what was asked.";
export const refusedWhilePlanning = (tool: string): string =>
  `${tool} is refused: plan mode is on, and nothing may be changed. Look with read, grep, find and ls, and hand in a plan with submit_plan.`;
export const planTaken = (path: string): string => `The plan is in ${path}. The user decides on it now; stop here.`;
export const planNotWritten = (path: string, reason: string): string =>
  `The plan was not written to ${path}: ${reason}.`;
export const planUnreadable = (path: string, reason: string): string =>
  `The plan in ${path} cannot be read: ${reason}.`;
export const planNotExecuted = (reason: string): string =>
  `The plan is not carried out yet: ${reason.replace(/\.$/, "")}. /plan-review shows it again.`;

export const NOT_A_CUSTOM_MESSAGE =
  "A message of an extension needs a customType and content: a text, or a list of texts and images.";

/** For the model, in place of a tool's result. */
export const callBlocked = (reason: string): string => `The call was blocked: ${reason}`;
export const BLOCKED_WITHOUT_REASON = "An extension blocked this call.";
export const commandBlocked = (reason: string): string => `The command was not run: an extension failed: ${reason}`;

export const hookFailed = (name: string, reason: string): string => `An extension failed in ${name}: ${reason}`;

export const hookRefused = (name: string, what: string): string =>
  `An extension's answer to ${name} ${what}; nothing was changed.`;

export const goesOnUnsaved = (reason: string): string =>
  `This session cannot be saved: ${reason}. It goes on in memory and is saved as soon as that is possible; ` +
  "/save-as PATH saves all of it elsewhere.";
export const SAVED_AGAIN = "All of this session is saved again.";

export const notSaved = (reason: string): string => `The last step is not saved: ${reason}`;

/** `project`: the folder whose own files were read at the start. */
export const worksElsewhere = (cwd: string, project: string): string =>
  `This session works in ${cwd}. Settings, rules and MCP servers are still those of ${project}; ` +
  "start bough there to work with that folder's own.";

const otherBough = (pid: number | undefined): string =>
  pid === undefined ? "another bough" : `another bough (process ${pid})`;

export const following = (pid: number | undefined): string =>
  `This session is open in ${otherBough(pid)}: you follow it live and write nothing. ` +
  "/take-over asks for it, /clone copies this branch into a session of your own, /new starts another.";
export const FOLLOWING =
  "You follow this session and cannot write to it; /take-over asks for it, /clone copies this branch.";
export const NOT_FOLLOWING = "This session is written here already.";
export const TAKEN_OVER = "This session is written here now.";
export const HAND_OVER_STOPPED = "The session was not handed over.";
export const askedForHandOver = (pid: number | undefined): string =>
  `Asked ${otherBough(pid)} to hand over this session when its turn is done.`;
export const handOverAsked = (pid: number): string =>
  `This session is asked for by ${otherBough(pid)}, which gets it when nothing runs here any more.`;
export const noLongerAsked = (pid: number): string =>
  `This session is no longer asked for by ${otherBough(pid)}; it stays here.`;
export const handedOver = (pid: number): string =>
  `This session was handed over to ${otherBough(pid)}; you follow it now, and /take-over asks for it back.`;
export const notHandedOver = (reason: string): string => `This session was not handed over: ${reason}`;
