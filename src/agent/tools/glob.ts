/**
 * `globMatcher`: which paths a file pattern means, as in .gitignore files, with braces.
 * Part of `agent/`; used by find and grep, which leave the choice of files by .gitignore to ripgrep: given a glob,
 * ripgrep itself would no longer heed .gitignore for what the glob matches.
 *
 * No regular expression: one made of many stars would try every way to share a path among them.
 */

const MAX_GLOB_LENGTH = 1000;
const MAX_ALTERNATIVES = 1000;

/** One character of a name. */
type CharacterTest = (character: string) => boolean;
/** `*` within a part of a path, and a part `**`. */
const STAR = "star";
type Part = typeof STAR | readonly (typeof STAR | CharacterTest)[];

/**
 * A test for paths relative to the searched directory, with `/` and no leading one. A pattern without `/` is tried on
 * the last part of the path, any other on the whole path. `*` and `?` stop at `/`, `**` does not, `[a-z]`, `[!a-z]`
 * and `{a,b}` are understood, `\` takes the next character as it is. Undefined when the pattern is broken.
 */
export function globMatcher(glob: string): ((path: string) => boolean) | undefined {
  const anchored = glob.replace(/^(\.?\/)+/, "");
  if (anchored === "" || glob.length > MAX_GLOB_LENGTH) return undefined;
  const patterns: (readonly Part[])[] = [];
  for (const alternative of withoutBraces(anchored) ?? [undefined]) {
    const parts = alternative === undefined ? undefined : partsOf(alternative);
    if (parts === undefined) return undefined;
    patterns.push(parts);
  }
  const wholePath = glob.includes("/");
  return (path) => {
    const names = wholePath ? path.split("/") : [path.slice(path.lastIndexOf("/") + 1)];
    const characters = names.map((name) => Array.from(name));
    return patterns.some((parts) => matches(parts, characters, (part, name) => matches(part, name, fits)));
  };
}

const fits = (test: CharacterTest, character: string): boolean => test(character);

/**
 * Whether a row of things fits a row of tests between stars. Only the last star seen is ever widened, which is enough:
 * so the work is at most the product of both lengths.
 */
function matches<Test, Thing>(
  tests: readonly (typeof STAR | Test)[],
  things: readonly Thing[],
  fit: (test: Test, thing: Thing) => boolean,
): boolean {
  let [test, thing, star, widened] = [0, 0, -1, 0];
  while (thing < things.length) {
    const next = tests[test];
    if (next === STAR) {
      star = test++;
      widened = thing;
    } else if (next !== undefined && fit(next as Test, things[thing]!)) {
      test++;
      thing++;
    } else if (star >= 0) {
      test = star + 1;
      thing = ++widened;
    } else return false;
  }
  while (tests[test] === STAR) test++;
  return test === tests.length;
}

/** Every text a pattern with braces stands for; undefined when one is not closed or there are far too many. */
function withoutBraces(glob: string): string[] | undefined {
  const done: string[] = [];
  const pending = [glob];
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    const group = firstGroup(text);
    if (group === "open" || done.length + pending.length > MAX_ALTERNATIVES) return undefined;
    if (group === undefined) done.push(text);
    else pending.push(...group);
  }
  return done;
}

/** The texts that come of the first pair of braces; "open" when it has no end, undefined when there is none. */
function firstGroup(text: string): string[] | "open" | undefined {
  let [start, depth] = [-1, 0];
  const commas: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === "{" && depth++ === 0) start = at;
    else if (character === "," && depth === 1) commas.push(at);
    else if (character === "}" && depth > 0 && --depth === 0) {
      const [before, after] = [text.slice(0, start), text.slice(at + 1)];
      const starts = [start, ...commas];
      return starts.map((from, index) => before + text.slice(from + 1, commas[index] ?? at) + after);
    }
  }
  return depth > 0 ? "open" : undefined;
}

/** The parts of a pattern between its slashes; undefined when a set is not closed. */
function partsOf(glob: string): Part[] | undefined {
  const names = glob.split("/");
  // All that is in a directory, not the directory itself.
  if (names.at(-1) === "") names[names.length - 1] = "**";
  if (names.at(-1) === "**") names.push("*");
  const parts: Part[] = [];
  for (const name of names) {
    const part = name === "**" ? STAR : testsOf(Array.from(name));
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
}

function testsOf(glob: readonly string[]): (typeof STAR | CharacterTest)[] | undefined {
  const tests: (typeof STAR | CharacterTest)[] = [];
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at]!;
    if (character === "*") tests.push(STAR);
    else if (character === "?") tests.push(() => true);
    else if (character === "[") {
      // A bracket right after the opening one, or after "!", is a member of the set.
      const negated = glob[at + 1] === "!" || glob[at + 1] === "^";
      const end = glob.indexOf("]", at + (negated ? 3 : 2));
      if (end < 0) return undefined;
      tests.push(setTest(glob.slice(at + (negated ? 2 : 1), end), negated));
      at = end;
    } else {
      if (character === "\\" && at + 1 < glob.length) at++;
      const literal = glob[at];
      tests.push((candidate) => candidate === literal);
    }
  }
  return tests;
}

/** `members` are single characters and ranges such as a-z. */
function setTest(members: readonly string[], negated: boolean): CharacterTest {
  const ranges: [first: string, last: string][] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at]!;
    const isRange = members[at + 1] === "-" && at + 2 < members.length;
    ranges.push([first, isRange ? members[at + 2]! : first]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([first, last]) => first <= character && character <= last) !== negated;
}
