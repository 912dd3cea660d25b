/** What is told of a record's bytes before rules look for secrets in it. It listens to all regular expressions for that. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as fc from "fast-check";
import { findSecrets, scannedRecord } from "../../src/export/redaction.ts";
import { SecretMarks } from "../../src/export/secret-marks.ts";
import { SecretScanner } from "../../src/export/secret-scanner.ts";
import { SECRETS } from "../support/secrets.ts";

const marks = new SecretMarks();
const standIn = (json: string): boolean => marks.standIn(Buffer.from(json));

async function found(text: string): Promise<string[]> {
  const values: string[] = [];
  const scanner = new SecretScanner(({ value }) => values.push(value));
  await scanner.add(text);
  await scanner.finish();
  return values;
}

/** Every expression that a rule holds against a long text. */
async function patternsOfRules(): Promise<RegExp[]> {
  const patterns = new Map<string, RegExp>();
  const { exec } = RegExp.prototype;
  const text = "a plain text ".repeat(10);
  RegExp.prototype.exec = function (this: RegExp, subject: string): RegExpExecArray | null {
    if (subject === text) patterns.set(String(this), this);
    return exec.call(this, subject);
  };
  try {
    await found(text);
  } finally {
    RegExp.prototype.exec = exec;
  }
  // The ends of lines are looked for by what counts them.
  return [...patterns.values()].filter(({ source }) => source !== String.raw`[\r\n\u2028\u2029]`);
}

/** Texts that the pattern finds; what may not stand around them is left to chance. */
function matchesOf({ source, flags }: RegExp): fc.Arbitrary<string> {
  const plain = source
    .replaceAll(/\(\?<?[!=](?:\[[^\]]*\]|\\.|[^[\])])*\)/g, "")
    .replaceAll(String.raw`\b`, "")
    .replaceAll(/\(\?<\w+>/g, "(");
  const text = fc.stringMatching(new RegExp(`^(?:${plain})$`, flags.replaceAll(/[gim]/g, "")));
  if (!flags.includes("i")) return text;
  return fc
    .tuple(text, fc.infiniteStream(fc.boolean()))
    .map(([each, upper]) =>
      each.replaceAll(/[a-z]/g, (letter) => (upper.next().value === true ? letter.toUpperCase() : letter)),
    );
}

let patterns: RegExp[] = [];
before(async () => {
  patterns = await patternsOfRules();
});

test("[E3] whatever a rule finds in a text has a mark in the text's JSON, whoever wrote it", async () => {
  assert.ok(patterns.length >= 43, `${patterns.length} patterns`);
  for (const pattern of patterns) {
    let matches = 0;
    await fc.assert(
      fc.asyncProperty(matchesOf(pattern), async (text) => {
        const whole = `see ${text} there`;
        pattern.lastIndex = 0;
        if (!pattern.test(whole)) return;
        matches++;
        // Rules pass over addresses without a password.
        if (whole.includes("://") && (await found(whole)).length === 0) return;
        const json = JSON.stringify({ a: [whole] });
        assert.ok(standIn(json), json);
        for (const slashes of [/\//g, /(?<=:)\//g, /(?<=:\/)\//g])
          assert.ok(standIn(json.replaceAll(slashes, String.raw`\/`)), `a backslash before ${slashes}`);
        assert.ok(standIn(JSON.stringify({ a: json })), "JSON in a text");
      }),
      { numRuns: 100 },
    );
    assert.ok(matches > 0, `nothing that was made up matches ${pattern}`);
  }
});

test("[E3] every secret has a mark, also where JSON gives its characters as numbers", () => {
  const asNumbers = (text: string): string =>
    Array.from(text, (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  for (const [kind, secret] of Object.entries(SECRETS)) {
    assert.ok(standIn(JSON.stringify({ a: secret })), kind);
    assert.ok(standIn(`{"a":"${asNumbers(secret)}"}`), kind);
  }
  for (const address of ["https://a:b-1@host.com", "ftp://registry.example.com/@scope", "see https://a.b @c"])
    assert.equal(standIn(JSON.stringify({ a: address })), address === "https://a:b-1@host.com", address);
});

test("[Y10] no record is read whose bytes have no mark, and each other one once", async () => {
  let read = 0;
  const counted = (record: object) => ({ ...scannedRecord(record), read: () => (read++, record) });
  const plain = Array.from({ length: 500 }, (_, n) =>
    counted({ n, text: `ordinary words, number ${n}`, usage: { totalTokens: n } }),
  );
  const marked = Object.values(SECRETS).map((secret) => counted({ text: secret }));
  const secrets = await findSecrets([...plain, ...marked, ...plain], []);
  assert.equal(read, marked.length);
  assert.ok(secrets.size >= marked.length);
});
