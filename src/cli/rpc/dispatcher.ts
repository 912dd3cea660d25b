/**
 * `Dispatcher`: does the commands of `--mode rpc` and answers each, whatever becomes of it. Those that change where the
 * session stands are done one after another, so that a client may send the next without waiting.
 * Part of `cli/`; used by rpc-mode.ts.
 */
import { COMMANDS } from "./commands.ts";
import type { CommandName, Given, Taken } from "./commands.ts";
import { failureOf } from "./failure.ts";
import type { InputLine } from "./line-input.ts";
import { isBad, readRequest } from "./request.ts";
import type { RequestId } from "./request.ts";

/** One function for each command. */
export type Handlers = { [N in CommandName]: (taken: Taken<N>) => Given<N> | Promise<Given<N>> };
type AnyHandler = (taken: object) => object | Promise<object>;

export class Dispatcher {
  readonly #handlers: Handlers;
  readonly #send: (response: object) => void;
  /** Settles when the commands that wait for their turn are done. */
  #turn: Promise<void> | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #isEnding = false;

  constructor(handlers: Handlers, send: (response: object) => void) {
    this.#handlers = handlers;
    this.#send = send;
  }

  take(line: InputLine): void {
    if ("text" in line && line.text.trim() === "") return;
    const request = readRequest(line);
    if (isBad(request)) {
      this.#answer(request.id, request.name, failureOf(request.failure));
      return;
    }
    const { id, name, taken } = request;
    const handler = this.#handlers[name] as AnyHandler;
    const { order } = COMMANDS[name];
    if (order === "at once") this.#track(this.#do(id, name, () => handler(taken)));
    else this.#inTurn(() => this.#do(id, name, () => handler(taken)));
  }

  /** Commands that wait for their turn wait for this as well. It must not reject. */
  hold(until: Promise<void>): void {
    this.#inTurn(() => until);
  }

  /** What still waits for its turn is refused from now on. */
  end(): void {
    this.#isEnding = true;
  }

  /** When all commands so far that wait for their turn are done. */
  async whenTurnsDone(): Promise<void> {
    while (this.#turn !== undefined) await this.#turn;
  }

  /** When every command so far is answered. */
  async whenAnswered(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #inTurn(command: () => Promise<void>): void {
    const done = this.#turn === undefined ? command() : this.#turn.then(command);
    const turn = done.then(() => {
      if (this.#turn === turn) this.#turn = undefined;
    });
    this.#turn = turn;
    this.#track(turn);
  }

  #track(done: Promise<void>): void {
    const tracked = done.then(() => void this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /** Never rejects. */
  async #do(id: RequestId | undefined, name: CommandName, command: () => object | Promise<object>): Promise<void> {
    try {
      if (this.#isEnding) throw new Error("bough is ending.");
      this.#answer(id, name, { success: true, data: await command() });
    } catch (error) {
      this.#answer(id, name, failureOf(error));
    }
  }

  #answer(id: RequestId | undefined, command: string, outcome: object): void {
    this.#send({ ...(id === undefined ? {} : { id }), type: "response", command, ...outcome });
  }
}
