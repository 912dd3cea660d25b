/** What is masked in an export, and what is said of it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fc from "fast-check";
import { EXPORT_FORMATS, exportSession } from "../../src/export/export-session.ts";
import type { Exported, ExportRequest } from "../../src/export/export-session.ts";
import { Redaction, findSecrets, scannedRecord } from "../../src/export/redaction.ts";
import type { SecretValue } from "../../src/export/secret-values.ts";
import { SecretValues } from "../../src/export/secret-values.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { textsOfExport } from "../support/exported-text.ts";
import { SECRETS, fullSession, textPlaces } from "../support/secrets.ts";
import { temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { file, readSound } from "../support/session-lines.ts";

/** A key that a file of settings holds, with what each format has to escape. */
const KNOWN: SecretValue = { value: 'k"e\\y</script>&ö`|7', kind: "apiKey in models.json" };
const ALL: readonly (readonly [string, string])[] = [...Object.entries(SECRETS), [KNOWN.kind, KNOWN.value]];

async function exportedAs(
  records: readonly object[],
  request: ExportRequest,
): Promise<{ texts: string[]; content: string; done: Exported }> {
  const source = temporaryFile(file(...records.map((record) => JSON.stringify(record))));
  const done = await exportSession(source, request, {
    cwd: temporaryFolder(),
    home: "/home/sam",
    secrets: () => [KNOWN],
  });
  assert.equal(readFileSync(source, "utf8"), file(...records.map((record) => JSON.stringify(record))));
  const content = readFileSync(done.path!);
  return { texts: textsOfExport(content), content: content.toString(), done };
}

/** The forms in which a text can stand in a file. */
const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  encodeURIComponent(secret),
];

function assertAbsent(texts: readonly string[], secret: string, where: string): void {
  for (const text of texts)
    for (const form of formsOf(secret)) {
      const found = text.indexOf(form);
      assert.ok(found < 0, `${where}: …${text.slice(Math.max(0, found - 60), found + 60)}…`);
    }
}

const treeOf = (content: string): unknown => {
  const { index } = readSound(content);
  return index
    .entries()
    .map((entry, n) => [index.kindAt(n), index.parentOrdinal(n), index.label(entry.id) !== undefined]);
};

for (const format of EXPORT_FORMATS)
  test(`[E3] nothing of a secret is left in any field of any entry: ${format}`, async () => {
    const places = textPlaces(fullSession()).length;
    assert.ok(places > 90);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ALL),
        fc.subarray([...Array(places).keys()], { minLength: 1, maxLength: 25 }),
        fc.constantFrom("", "see ", "KEY=", "é\n", '{"a": "', "\ud83d "),
        async ([kind, secret], chosen, before) => {
          const records = fullSession();
          const all = textPlaces(records);
          for (const n of chosen) all[n]!.holder[all[n]!.key] = `${before}${secret} x`;
          const { texts, content, done } = await exportedAs(records, { format, redact: true });
          assertAbsent(texts, secret, kind);
          assert.ok(done.redaction!.total >= 1);
          if (format === "jsonl")
            assert.deepEqual(treeOf(content), treeOf(file(...fullSession().map((r) => JSON.stringify(r)))));
        },
      ),
      { numRuns: format === "html" ? 12 : 25 },
    );
  });

test("[E3] a secret as the name of a member, in ids, kinds, roles and labels is masked, and links still fit", async () => {
  const secret = SECRETS["github token"]!;
  const records = [
    { type: "session", version: 3, id: secret, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" },
    {
      type: "message",
      id: `a ${secret}`,
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user", content: "x" },
    },
    {
      type: "message",
      id: "b",
      parentId: `a ${secret}`,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: secret, content: "y" },
    },
    { type: secret, id: "c", parentId: "b", timestamp: "2026-01-01T00:00:00.000Z", [secret]: 1, [`${secret} too`]: 2 },
    {
      type: "label",
      id: "d",
      parentId: "c",
      timestamp: "2026-01-01T00:00:00.000Z",
      targetId: `a ${secret}`,
      label: `l ${secret}`,
    },
  ];
  for (const format of EXPORT_FORMATS) {
    const { texts, content } = await exportedAs(records, { format, redact: true });
    assertAbsent(texts, secret, format);
    if (format !== "jsonl") continue;
    const { index, header } = readSound(content);
    assert.equal(header.id, "redacted-1");
    assert.deepEqual(
      index.entries().map(({ id, parentId, type }) => [type, id, parentId]),
      [
        ["message", "redacted-2", null],
        ["message", "b", "redacted-2"],
        ["[redacted: github token]", "c", "b"],
        ["label", "d", "c"],
      ],
    );
    assert.deepEqual([...index.labels()], [["redacted-2", "l [redacted: github token]"]]);
    assert.deepEqual(Object.keys(index.at(2)).slice(4), ["[redacted: github token]", "[redacted: github token] too"]);
  }
});

test("[E3] the report names entry, field, kind and number", async () => {
  const records = fullSession();
  const [github, slack] = [SECRETS["github token"]!, SECRETS["slack token"]!];
  const put = (record: number, field: string, text: string): void => {
    const place = textPlaces(records).find((each) => each.record === record && each.field === field)!;
    place.holder[place.key] = text;
  };
  put(7, "message.content", `${github} and ${github}, and ${slack}`);
  put(9, "message.content[2].arguments.nested.list[1].name", slack);
  records[0]!["cwd"] = `/w/${github}`;
  const { done } = await exportedAs(records, { format: "jsonl", redact: true });
  assert.deepEqual(
    { ...done.redaction },
    {
      byKind: new Map([
        ["github token", 3],
        ["slack token", 2],
      ]),
      places: [
        { entryId: undefined, field: "cwd", kind: "github token", count: 1 },
        { entryId: "e6", field: "message.content", kind: "github token", count: 2 },
        { entryId: "e6", field: "message.content", kind: "slack token", count: 1 },
        { entryId: "e8", field: "message.content[2].arguments.nested.list[1].name", kind: "slack token", count: 1 },
      ],
      placeCount: 4,
      total: 5,
    },
  );
});

test("[E3] a value that a rule knows by what stands before it is masked at its other places too", async () => {
  const value = "hunter2-and-more9";
  const records = [{ text: `DB_PASSWORD=${value}` }, { text: `it is ${value}, says he` }, { text: "none" }];
  const redaction = new Redaction({ secrets: await findSecrets(records.map(scannedRecord), []) });
  assert.deepEqual(
    records.map(({ text }) => redaction.text(text)),
    ["DB_PASSWORD=[redacted: variable]", "it is [redacted: variable], says he", "none"],
  );
});

test("[E3] a value is a secret by the name of its member, too, however deep it is", async () => {
  const value = "wJalr-Utn3EMI/K7MD";
  const deep = { arguments: { env: [{ AWS_SECRET_ACCESS_KEY: value }], apiKey: "key-of-9-words", password: 'q"1' } };
  const sound = { totalTokens: "12 in all 12", key: "an-ordinary-key-1", token: "no digits in here" };
  const redaction = new Redaction({
    secrets: await findSecrets([deep, sound, { text: `it is ${value}` }].map(scannedRecord), []),
  });
  assert.deepEqual(redaction.again(deep), {
    arguments: {
      env: [{ AWS_SECRET_ACCESS_KEY: "[redacted: variable]" }],
      apiKey: "[redacted: variable]",
      password: 'q"1',
    },
  });
  assert.equal(redaction.again(sound), sound);
  assert.equal(redaction.text(`it is ${value}`), "it is [redacted: variable]");
});

test("[E3] a value is a secret by its name in JSON that is a text in JSON, however often", async () => {
  const json = {
    apiKey: "key-of-9-words",
    in: { env: 'RUN_TOKEN="word-of-8-tokens" run', password: 'beginning-of-7"quoted' },
  };
  let text = JSON.stringify(json);
  let masked = text;
  for (const value of ["key-of-9-words", "word-of-8-tokens", "beginning-of-7"])
    masked = masked.replace(value, "[redacted: variable]");
  for (let depth = 1; depth <= 3; depth++) {
    const secrets = await findSecrets([scannedRecord({ text })], []);
    assert.equal(secrets.mask(text), masked, `${depth} deep`);
    [text, masked] = [JSON.stringify({ text }), JSON.stringify({ text: masked })];
  }
});

test("[E3] comments that switch secretlint off do not count, and a key across two texts is no key", async () => {
  const key = SECRETS["private key"]!;
  const off = `// secretlint-disable\n${SECRETS["github token"]!}`;
  const records = [{ a: key.slice(0, 60) }, { a: `${key.slice(60)} ${key}` }, { a: off }];
  const secrets = await findSecrets(records.map(scannedRecord), []);
  assert.equal(secrets.mask(key), "[redacted: private key]");
  assert.equal(secrets.mask(off), "// secretlint-disable\n[redacted: github token]");
  assert.equal(secrets.mask(key.slice(0, 60)), key.slice(0, 60));
});

test("[E3] secrets that overlap leave no rest, the longer of two counts, and nothing is cut in half", () => {
  const secrets = new SecretValues();
  for (const [value, kind] of [
    ["abcdefgh", "one"],
    ["efghijkl", "two"],
    ["abcdefghij-long", "three"],
    ["x\ud83d\ude00y1", "four"],
  ] as const)
    secrets.add({ value, kind });
  assert.equal(secrets.mask("-abcdefghijkl-"), "-[redacted: one]-");
  assert.equal(secrets.mask("abcdefghij-long"), "[redacted: three]");
  assert.equal(secrets.mask("\ud83d\ude00x\ud83d\ude00y1\ud83d\ude00"), "\ud83d\ude00[redacted: four]\ud83d\ude00");
  assert.equal(secrets.mask("abcdefg"), "abcdefg");
});

test("[E3] thousands of values are looked for at once", () => {
  const secrets = new SecretValues();
  const value = (n: number): string => `token-${n}-${"x".repeat(20)}`;
  for (let n = 0; n < 5000; n++) secrets.add({ value: value(n), kind: `k${n}` });
  assert.equal(
    secrets.mask(`${value(4999)} ${value(0)} ${value(5000)}`),
    `[redacted: k4999] [redacted: k0] ${value(5000)}`,
  );
});

test("[E3] the home folder becomes ~ where it is a path of its own, and is no secret", () => {
  const redaction = new Redaction({ secrets: undefined, home: "/home/sam" });
  const entry = {
    type: "custom",
    id: "a",
    parentId: null,
    timestamp: "",
    customType: "x",
    data: ["/home/sam", "/home/sam/a.ts", "/home/sammy", "/mnt/home/sam", 'cd "/home/sam"; ls'],
  } satisfies SessionEntry;
  assert.deepEqual(redaction.entry(entry), {
    ...entry,
    data: ["~", "~/a.ts", "/home/sammy", "/mnt/home/sam", 'cd "~"; ls'],
  });
  assert.deepEqual([redaction.report.total, redaction.report.places], [0, []]);
});

test("[E3] an entry without secrets is the very same, and __proto__ is a member like any other", () => {
  const secrets = new SecretValues();
  secrets.add({ value: "hidden-1", kind: "k" });
  const redaction = new Redaction({ secrets });
  const clean = { type: "custom", id: "a", parentId: null, timestamp: "", customType: "x" } satisfies SessionEntry;
  assert.equal(redaction.entry(clean), clean);
  const odd = JSON.parse(
    '{"type":"custom","id":"b","parentId":null,"timestamp":"","customType":"x","data":{"__proto__":{"a":"hidden-1"},"hidden-1":1,"[redacted: k]":2}}',
  ) as SessionEntry;
  assert.equal(
    JSON.stringify(redaction.entry(odd)),
    '{"type":"custom","id":"b","parentId":null,"timestamp":"","customType":"x","data":{"__proto__":{"a":"[redacted: k]"},"[redacted: k] 2":1,"[redacted: k]":2}}',
  );
});
