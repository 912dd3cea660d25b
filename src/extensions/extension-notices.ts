/**
 * What bough says about extensions. Part of `extensions/`.
 */

export const notThere = (path: string, source: string): string =>
  `The extension ${source} is not there: ${path} does not exist.`;
export const packageNotThere = (source: string, folder: string): string =>
  `The package ${source} is not there: ${folder} does not exist; install it, or take it out of "packages" in settings.json.`;
export const packageWithout = (folder: string): string =>
  `The package ${folder} has no extensions: its package.json lists none, and there is no extensions folder.`;
export const notInPackage = (manifest: string, entry: string): string =>
  `${manifest} lists the extension ${entry}, which does not exist.`;
export const badManifest = (path: string, reason: string): string => `${path} cannot be used: ${reason}`;

export const NO_FACTORY = "its default export is not a function.";
export const loadFailed = (path: string, reason: string): string => `The extension ${path} was not loaded: ${reason}`;
export const factoryTooSlow = (seconds: number): string => `its factory has not returned within ${seconds} seconds.`;
export const slowLoad = (path: string): string => `Loading extension ${path} … Stop it with Escape to leave it out.`;
export const SKIPPED = "it was left out because it took too long.";
export const outsideTrust = (path: string, folder: string): string =>
  `${path} lies outside of ${folder} and so is not covered by the project's trust; move it there.`;

export const unknownEvent = (path: string, event: string): string =>
  `The extension ${path} listens to "${event}", which bough does not have; that is never told.`;
export const missingMethod = (path: string, method: string): string =>
  `The extension ${path} uses pi.${method}, which bough does not have; that part of it does nothing.`;
export const builtinCommand = (path: string, name: string): string =>
  `The extension ${path} has a command /${name}, which is bough's own; bough's is used.`;
export const reservedKey = (path: string, key: string): string =>
  `The extension ${path} wants the key ${key}, which bough needs itself; it is not given.`;
export const keyTaken = (path: string, key: string, other: string): string =>
  `The extensions ${other} and ${path} both want the key ${key}; the latter has it.`;
export const flagTaken = (path: string, name: string, other: string): string =>
  `The extensions ${other} and ${path} both have a flag --${name}; the former's counts.`;
export const toolTaken = (path: string, name: string, other: string): string =>
  `The extensions ${other} and ${path} both have a tool "${name}"; the former's is used.`;

export const whileLoading = (method: string): string =>
  `pi.${method} cannot be called while the extension is being loaded; call it from a handler, a command or a tool.`;
/** Of sendMessage and of answers to before_agent_start. */
export const BAD_MESSAGE = "A message must have a customType, and text or a list of blocks as its content.";
export const NO_NAME = "A name must be a text that is not empty.";
export const NOT_A_WORD = "The name of a tool or command must have no spaces and no control characters.";
export const NO_PARAMETERS = "A tool must have parameters, which are a JSON Schema.";
export const noFunction = (member: string): string => `"${member}" must be a function.`;
export const STALE = "This extension has been loaded anew or was not loaded; its former objects can no longer be used.";
export const noSession = (method: string): string => `pi.${method} cannot be called before there is a session.`;

export const tooSlow = (event: string, seconds: number): string =>
  `Nothing came of "${event}" within ${seconds} seconds.`;
export const badAnswer = (event: string, expected: string): string => `The answer to "${event}" must be ${expected}.`;
/** For the model. */
export const callBlocked = (path: string, reason: string): string =>
  `The call was blocked because the extension ${path} failed: ${reason}`;
export const commandBlocked = (path: string, reason: string): string =>
  `The command was not run because the extension ${path} failed: ${reason}`;
export const badToolResult = (name: string): string =>
  `The tool "${name}" has given no result: its content must be a list of blocks.`;
export const unknownFlag = (name: string): string =>
  `There is no flag --${name}: neither bough nor an extension that is loaded has it.`;
export const flagNeedsText = (name: string): string => `--${name} needs a text behind it.`;
export const flagTakesNone = (name: string, value: string): string =>
  `--${name} is on or off and takes no text, but was given "${value}".`;
/** In place of the event's name. */
export const NO_EVENT = "something nobody waited for";
export const failed = (path: string, event: string, reason: string): string =>
  `The extension ${path} failed at "${event}": ${reason}`;
