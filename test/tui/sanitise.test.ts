import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sanitise, sanitiseLine } from "../../src/tui/sanitise.ts";
import { DANGEROUS, HOSTILE_TEXTS } from "./hostile-texts.ts";

test("[U5] dB67 what the sink leaves of each hostile text", () => {
  const left = Object.fromEntries(HOSTILE_TEXTS.map(([what, text]) => [what, sanitise(text)]));
  assert.deepEqual(left, {
    "OSC 0 title, BEL": "ab",
    "OSC 0 title, ST": "ab",
    "OSC 2 title, 8-bit ST": "ab",
    "8-bit OSC title": "ab",
    "OSC 52 clipboard write": "ab",
    "OSC 52 clipboard read": "ab",
    "OSC 8 link to script": "click",
    "OSC 8 link to file": "x",
    "OSC 8 with an id": "x",
    "OSC 4 palette": "x",
    "OSC 10 foreground query": "x",
    "OSC 11 background": "x",
    "OSC 7 working folder": "x",
    "OSC 9 notification": "x",
    "OSC 777 notification": "x",
    "OSC 133 prompt mark": "x",
    "OSC 1337 iTerm2 file": "x",
    "OSC 1337 clear scrollback": "x",
    "OSC 50 font": "x",
    "OSC never ended": "visible ",
    "OSC ended by the next escape": "x",
    "OSC over two lines": "\nsecondthird",
    DCS: "ab",
    "DCS never ended": "a",
    "DCS sixel": "x",
    "8-bit DCS": "ab",
    "APC kitty image": "x",
    "APC cursor marker of the renderer": "x",
    "8-bit APC": "ab",
    PM: "ab",
    "8-bit PM": "ab",
    SOS: "ab",
    "8-bit SOS": "ab",
    "CSI 2J clear": "ab",
    "CSI 3J clear scrollback": "ab",
    "CSI H home": "ab",
    "CSI cursor up": "ab",
    "CSI 6n report": "ab",
    "CSI c attributes": "ab",
    "CSI 21t title report": "ab",
    "CSI ?1049h other screen": "ab",
    "CSI ?1000h mouse": "ab",
    "CSI ?2004h paste mode": "ab",
    "CSI ?25l hide cursor": "ab",
    "CSI SGR hidden": "ahiddenb",
    "CSI SGR with colons": "ab",
    "CSI intermediates": "ab",
    "CSI paste end": "arm -rf /b",
    "CSI without its last byte": "a",
    "CSI broken by a newline": "a\nb",
    "CSI with a control inside": "a1mb",
    "8-bit CSI": "ab",
    "8-bit CSI never ended": "a",
    "ESC c reset": "ab",
    "ESC 7 and 8": "ab",
    "ESC M reverse index": "ab",
    "ESC ( 0 line drawing": "aqqq",
    "ESC # 8 test pattern": "ab",
    "ESC alone": "a",
    "ESC ESC": "ab",
    "a sequence inside a sequence": "a31mb",
    "a sequence around a string": "a[2Jb",
    "shift out and in": "aqqqb",
    "backspaces over text": "rm -rf /echo hi",
    "carriage return over text": "rm -rf /echo hi ",
    BEL: "ab",
    NUL: "ab",
    "form feed and vertical tab": "abc",
    "XON, XOFF, DLE": "ab",
    "CAN and SUB": "ab",
    DEL: "ab",
    "NEL and other C1": "abcde",
    "right-to-left override": "a⟦U+202E⟧gpj.exe",
    isolates: "a⟦U+2066⟧b⟦U+2067⟧c⟦U+2068⟧d⟦U+2069⟧",
    "embedding marks": "a⟦U+202A⟧b⟦U+202B⟧c⟦U+202C⟧d⟦U+202D⟧e⟦U+200E⟧f⟦U+200F⟧g⟦U+061C⟧h",
    "tag characters": "a⟦hidden: ·ignore·⟧b",
    "annotation characters": "a⟦U+FFF9⟧b⟦U+FFFA⟧c⟦U+FFFB⟧d",
    "line and paragraph separators": "a\nb\nc",
    "lone surrogates": "a\ufffdb\ufffdc",
    tabs: "a    b        c",
  });
});

test("[U5] dB67 a hostile text cut at any place cannot come together again behind the sink", () => {
  for (const [what, text] of HOSTILE_TEXTS)
    for (let cut = 0; cut <= text.length; cut++) {
      const joined = sanitise(text.slice(0, cut)) + sanitise(text.slice(cut));
      assert.doesNotMatch(joined, DANGEROUS, `${what}, cut at ${cut}`);
    }
});

const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS.map(([, text]) => text)),
      fc.constantFrom("\x1b", "[", "]", "\x9b", "\x9d", "\\", "\x07", "\x9c", ";", "m", "0", " ", "\n", "\r\n"),
      fc.string({ unit: "binary" }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

test("[U5] whatever goes into the sink, only the newline is left of the control characters", () => {
  fc.assert(fc.property(hostileText, (text) => !DANGEROUS.test(sanitise(text))));
});

test("[U5] what has passed the sink passes it again unchanged", () => {
  fc.assert(fc.property(hostileText, (text) => sanitise(sanitise(text)) === sanitise(text)));
});

test("[U5] text without control characters is not touched", () => {
  const text = "Grüße, 日本語, 👩‍👩‍👧‍👦, עברית, العربية\nnext line ⟦kept⟧ \u200b\u{fe0f}";
  assert.equal(sanitise(text), text);
});

test("[U5] the one-line form has no newline, no outer space and no runs of spaces", () => {
  assert.equal(sanitiseLine("  a\r\n\n  b\tc \x1b[31m d  "), "a b c d");
  fc.assert(fc.property(hostileText, (text) => !/\n| {2}|^ | $/.test(sanitiseLine(text))));
});

test("[U5] a million introducers without an end are read once", () => {
  // Quadratic reading of these would take hours, so ending at all is the assertion.
  for (const unit of ["\x1b]", "\x9d\n", "\x1b[0;", "\x1b \x1b(", "\x1bP\x1b", "\u202e"])
    assert.doesNotMatch(sanitise(unit.repeat(1_000_000)), DANGEROUS, JSON.stringify(unit));
});
