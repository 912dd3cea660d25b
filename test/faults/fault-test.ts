/**
 * What a fault test is: something goes wrong many times, and afterwards nothing that was confirmed may be missing.
 * Used by the fault tests, by scripts/test-faults.mjs (long forms) and by the *.process.test.ts beside (short forms).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Mean } from "./means.ts";

/** One way to run a test. */
export interface Form {
  /** What the machine must have; without it the form is skipped. */
  needs: readonly Mean[];
  run(tally: Tally): Promise<void>;
}

export interface FaultTest {
  /** "FT1" … "FT19", see README.md */
  id: string;
  /** In a few words, for the table. */
  title: string;
  /** Minutes at most. */
  long: Form;
  /** Seconds; needs no program but Node and a shell, and no rights. */
  short: Form;
}

/** What a test has seen so far. */
export class Tally {
  /** Rounds, crash points, prefixes …: times that something went wrong. */
  cases = 0;
  /** Entries that were confirmed and are gone, or are not what was written. */
  losses = 0;
  /** Each is a sentence. */
  readonly violations: string[] = [];
  /** Worth a line under the table. */
  readonly notes: string[] = [];

  /** True when `holds`; else a violation. */
  check(holds: boolean, violation: string): boolean {
    if (!holds) this.violations.push(violation);
    return holds;
  }

  /** Whole values, as assert.deepEqual compares them. */
  same(actual: unknown, expected: unknown, what: string): boolean {
    try {
      assert.deepEqual(actual, expected);
      return true;
    } catch (error) {
      return this.check(false, `${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** A confirmed entry is gone or changed. */
  lose(what: string): void {
    this.losses++;
    this.violations.push(what);
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }
}

/** Whether SPEC.md has a rule already: until it has, what the rule asks is only noted. */
export const isPromised = (rule: string): boolean =>
  readFileSync(new URL("../../SPEC.md", import.meta.url), "utf8").includes(`\n- **${rule}** `);

/** The short form inside `npm test`. */
export async function runShort(test: FaultTest): Promise<void> {
  const tally = new Tally();
  await test.short.run(tally);
  assert.deepEqual(tally.violations.slice(0, 5), []);
  assert.ok(tally.cases > 0, `${test.id} tried nothing`);
}
