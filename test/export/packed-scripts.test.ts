/** The data scripts of a page: what is compressed at once, in which order it comes, what it says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { PackedScripts } from "../../src/export/packed-scripts.ts";

const unpacked = (script: string): [id: string, text: string] => {
  const [, id = "", base64 = ""] = /^<script type="application\/octet-stream" id="(.*)">(.*)<\/script>\n$/.exec(
    script,
  )!;
  return [id, inflateRawSync(Buffer.from(base64, "base64")).toString()];
};

test("[E1] scripts say what was written to them, in order, however it came and however long it is", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc
      .tuple(fc.constantFrom("a", "é", "€", "🌿"), fc.integer({ min: 50_000, max: 300_000 }))
      .map(([c, n]) => c.repeat(n)),
  );
  const scripts = fc.array(fc.array(text, { maxLength: 4 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(scripts, async (texts) => {
      const taken: [string, string][] = [];
      const packer = new PackedScripts((script) => taken.push(unpacked(script)));
      for (const [n, pieces] of texts.entries()) {
        for (const piece of pieces) packer.write(piece);
        await packer.add(`s${n}`);
      }
      await packer.finish();
      assert.deepEqual(
        taken,
        texts.map((pieces, n) => [`s${n}`, pieces.join("")]),
      );
    }),
    { numRuns: 30 },
  );
});

test("[Y10] four scripts at most are being compressed when there is room for the next one", async () => {
  let taken = 0;
  const packer = new PackedScripts(() => taken++);
  const waiting: number[] = [];
  for (let n = 1; n <= 20; n++) {
    packer.write(`"${"text ".repeat(20_000)}"`);
    await packer.add(`s${n}`);
    waiting.push(n - taken);
  }
  assert.equal(Math.max(...waiting), 4);
  await packer.finish();
  assert.equal(taken, 20);
});
