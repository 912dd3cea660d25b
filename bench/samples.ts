/**
 * One sample: a program of the works, run in a process of its own. Programs that are compared see the same files, the
 * same environment and an empty home.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./child/measured.ts";
import { OUTCOME_MARK } from "./child/measured.ts";
import { copyFor, RECORDED_CWD, type MadeFiles } from "./files.ts";
import { openedPage } from "./page.ts";
import { CHILD, floorProgram, type Program } from "./programs.ts";
import { startedTerminal } from "./terminal.ts";
import type { Work } from "./works.ts";

/** Who does the work: a program, or the cheapest that can touch the same bytes. */
export type Doer = Program | "floor";

const TIME_LIMIT = 10 * 60_000;

/** Runs samples in folders under `scratch`. */
export class Sampler {
  readonly #scratch: string;

  constructor(scratch: string) {
    this.#scratch = scratch;
    mkdirSync(join(scratch, "temporary"));
  }

  /** Throws an Error that says why when the program fails. */
  async sample(work: Work, doer: Doer, made: MadeFiles | undefined): Promise<Outcome> {
    const folder = mkdtempSync(join(this.#scratch, "sample-"));
    const cwd = join(folder, "project");
    const home = join(folder, "home");
    mkdirSync(cwd);
    mkdirSync(home);
    try {
      const path = made && work.writes ? copyFor(made, join(folder, "session.jsonl"), cwd) : made?.path;
      const before = made && stamp(made.path);
      const outcome = await this.#run(work, doer, made && { ...made, path: path as string }, { cwd, home });
      if (made && stamp(made.path) !== before) throw new Error(`It changed ${made.path}, which it should only read`);
      return outcome;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #run(work: Work, doer: Doer, made: MadeFiles | undefined, place: Place): Promise<Outcome> {
    const env = this.#environment(place.home, doer);
    if (work.does === "version") return versionOutcome(doer, { ...place, env });
    const path = made?.path ?? "";
    if (doer === "floor")
      return childOutcome(process.execPath, [floorProgram(work.floor as string), path], { ...place, env });
    if (work.does === "terminal") return startedTerminal(doer, path, made?.lastTexts ?? [], { cwd: place.cwd, env });
    const out = join(place.cwd, "page.html");
    const input = JSON.stringify({ path, jumpIds: made?.jumpIds ?? [], cwd: RECORDED_CWD, out });
    const operation = work.does === "page" ? "write" : work.does;
    const outcome = childOutcome(doer.runtime, [CHILD, doer.name, operation, input], { ...place, env });
    return work.does === "page" ? openedPage(doer, out, made?.bytes ?? 0, this.#scratch) : outcome;
  }

  /** Nothing of the user's own, and no key that works. */
  #environment(home: string, doer: Doer): Record<string, string> {
    const temporary = join(this.#scratch, "temporary");
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      TMPDIR: temporary,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      COLORTERM: "truecolor",
      PI_OFFLINE: "1",
      ANTHROPIC_API_KEY: "bench",
      BENCH_PEERS: doer === "floor" ? "" : doer.modules,
    };
  }
}

interface Place {
  cwd: string;
  home: string;
}
interface Surroundings {
  cwd: string;
  env: Record<string, string>;
}

const stamp = (path: string): string => {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
};

function childOutcome(command: string, args: readonly string[], { cwd, env }: Surroundings): Outcome {
  // Node's own reader of TypeScript would be counted as memory of the idle process; what is in the cache needs it not.
  const cache = { NODE_COMPILE_CACHE: join(env["TMPDIR"] as string, "compiled") };
  const output = finished(command, args, { cwd, env: { ...env, ...cache } });
  const line = output.split("\n").findLast((text) => text.startsWith(OUTCOME_MARK));
  if (line === undefined) throw new Error(`It ended without a result: ${lastLine(output)}`);
  return JSON.parse(line.slice(OUTCOME_MARK.length)) as Outcome;
}

function versionOutcome(doer: Doer, { cwd, env }: Surroundings): Outcome {
  const [command, args] =
    doer === "floor" ? [process.execPath, ["-e", "0"]] : [doer.runtime, [doer.command, "--version"]];
  const start = performance.now();
  const output = finished(command, args, { cwd, env });
  return { figures: { ms: performance.now() - start }, answer: output.trim() };
}

/** What a program wrote to standard output; throws when it fails. */
function finished(command: string, args: readonly string[], { cwd, env }: Surroundings): string {
  const { error, status, signal, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    timeout: TIME_LIMIT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`It ended with ${signal ?? status}: ${lastLine(stderr)}`);
  return stdout;
}

const lastLine = (text: string): string =>
  text.split("\n").findLast((line) => /error/i.test(line)) ?? text.trim().split("\n").at(-1) ?? "";
