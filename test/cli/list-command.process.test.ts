/** `bough list` and `bough stats` over a user's own sessions, as programs. */
import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalPath, directoryKey } from "../../src/session/locations.ts";
import { Place } from "../support/command.ts";
import { HEADER, at, file, line, message } from "../support/session-lines.ts";

/** A session recorded in `cwd`, with a message so many seconds after its header. */
function put(place: Place, id: string, cwd: string, seconds: number, ...lines: string[]): string {
  const folder = join(place.stateDir, "sessions", directoryKey(canonicalPath(cwd)));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
  const header = HEADER.replace('"s1"', JSON.stringify(id)).replace('"/w"', JSON.stringify(cwd));
  writeFileSync(path, file(header, message(`ask ${id}`, null, { timestamp: at(seconds) }), ...lines));
  // Copying and syncing change a file's time; a list goes by what is in it.
  utimesSync(path, 2_000_000_000 - seconds, 2_000_000_000 - seconds);
  return path;
}

test("[D2, D5] the sessions of a folder by the time of their messages, without those of subagents; --all has all", async () => {
  const place = new Place();
  const gone = join(place.home, "gone");
  put(place, "old", place.cwd, 60);
  put(place, "new", place.cwd, 3600, line("session_info", "n", "ask new", { name: "Fresh \u001b[2J", source: "user" }));
  put(
    place,
    "child",
    place.cwd,
    7200,
    line("session_init", "i", "ask child", { systemPrompt: "", task: "", tools: [] }),
  );
  put(place, "moved", gone, 30);
  const empty = put(place, "empty", place.cwd, 0);
  writeFileSync(empty, "");

  assert.deepEqual(await place.run(["list"]), {
    code: 0,
    out: `      used (UTC)  messages   id  session
2026-01-01 01:00         1  new  Fresh
2026-01-01 00:01         1  old  ask old
                                 ${empty}: empty
`,
    err: "",
  });
  const all = await place.run(["list", "--all"]);
  assert.match(all.out, /ask old \(\S+\)\n/);
  assert.ok(all.out.includes(`ask moved (its folder is gone: ${gone})\n`));
  const records = (await place.run(["list", "--json", "--all"])).out
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual(
    records.map(({ id, name, cwdMissing, messages, kind }) => [id, name, cwdMissing, messages, kind]),
    [
      ["new", "Fresh \u001b[2J", false, 1, "ok"],
      ["old", undefined, false, 1, "ok"],
      ["moved", undefined, true, 1, "ok"],
      ["", undefined, false, 0, "empty"],
    ],
  );
  assert.deepEqual(await new Place().run(["list"]), { code: 0, out: "No sessions here.\n", err: "" });
  assert.equal((await place.run(["list", "x"])).code, 2);
  assert.match((await place.run(["list", "--help"])).out, /^bough list: /);

  const answers = async (...args: string[]): Promise<unknown[]> => {
    const { code, out } = await place.run(["stats", "--json", ...args]);
    const { files, sessions, unread } = JSON.parse(out) as { files: number; sessions: object[]; unread: object[] };
    return [code, files, sessions.length, unread.length];
  };
  // Those of subagents cost money, too.
  assert.deepEqual(await answers(), [1, 4, 3, 1]);
  assert.deepEqual(await answers("--all"), [1, 5, 4, 1]);
});
