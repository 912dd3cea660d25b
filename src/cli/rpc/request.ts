/**
 * From a line of input to a command of `--mode rpc`. Part of `cli/`; used by dispatcher.ts.
 */
import { isRecord } from "../../tree/json.ts";
import { faultsOf, isCommand } from "./commands.ts";
import type { CommandName, Taken } from "./commands.ts";
import { CommandFailure } from "./failure.ts";
import type { InputLine } from "./line-input.ts";

export type RequestId = string | number;

/** A command whose fields are what its schema says. */
export type Request = { [N in CommandName]: { id: RequestId | undefined; name: N; taken: Taken<N> } }[CommandName];

/** A line that is no command: what can be told of it, and why. */
export interface BadRequest {
  id: RequestId | undefined;
  /** "parse" when the line names none. */
  name: string;
  failure: CommandFailure;
}

export const isBad = (request: Request | BadRequest): request is BadRequest => "failure" in request;

export function readRequest(line: InputLine): Request | BadRequest {
  if ("tooLong" in line) return unreadable(`The line is too long (${line.tooLong} bytes).`);
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return unreadable(`The line is no JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!isRecord(value)) return unreadable("The line is no JSON object.");
  const { id: givenId, type, ...taken } = value;
  const id = typeof givenId === "string" || typeof givenId === "number" ? givenId : undefined;
  if (typeof type !== "string") return { ...unreadable('The line names no command in "type".'), id };
  if (!isCommand(type)) return { id, name: type, failure: new CommandFailure("unknown", unknownText(type)) };
  const faults = faultsOf(type, value).map(({ path, message }) => `${path.slice(1) || "the line"}: ${message}`);
  if (faults.length > 0) return { id, name: type, failure: new CommandFailure("invalid", invalidText(type, faults)) };
  return { id, name: type, taken } as unknown as Request;
}

const unreadable = (text: string): BadRequest => ({
  id: undefined,
  name: "parse",
  failure: new CommandFailure("parse", text),
});

const unknownText = (name: string): string => `There is no command "${name}"; docs/rpc.md lists them.`;
const invalidText = (name: string, faults: readonly string[]): string =>
  `The command ${name} cannot be read: ${faults.join("; ")}.`;
