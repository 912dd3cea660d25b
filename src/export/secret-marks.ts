/**
 * `SecretMarks`: tells at once of most records that no rule finds a secret in them. Whatever a rule finds holds one of the
 * marks below; they are looked for in the bytes of a record's JSON, before anything is made of it.
 * Part of `export/`; used by redaction. A new rule needs its mark here; a test holds every rule against this list.
 */

/** Bytes of a mark. */
const WIDTH = 4;

/** Four characters in a row without which a rule finds nothing; a pair of brackets stands for one of those in it. */
const MARKS: readonly string[] = [
  // AWS: ids of keys, a secret access key, the number of an account.
  "AKIA AGPA AIDA AROA AIPA ANPA ANVA ASIA A3T[A-Z0-9] [sS_]KEY [sS_]Key [sS_]key CCOU ccou",
  // PRIVATE KEY, and an address that is a secret itself.
  "VATE [kK].[cC][oO]",
  // Tokens by how they begin.
  "npm_ xox[abopr] xapp SG.[A-Za-z0-9_] hp[pc]a hpat hpss k_li k_te gh[oprsu]_ hub_ glpa glc_ glsa gsk_ hf_[A-Za-z]",
  "lin_ ntn_ s_ey hv[brs]. vc[aciprk]_ dapi dckr figd cfk_ cfut cfat tske AIza eyJ[A-Za-z0-9_-] sk-[A-Za-z0-9_-] xai-",
  // In front of values: a header, a variable, a member of JSON (also of JSON within a text: `key\"`).
  "Bear Basi KEY= KEN= RET= ORD= SWD=",
  '[kK][eE][yY]["\\] [kK][eE][nN]["\\] [rR][eE][tT]["\\] [oO][rR][dD]["\\]',
  // JSON may say any character of a mark by its number.
  "u00[2-7]",
].flatMap((marks) => marks.split(" "));
/** Of an address, which is a mark if a password follows. JSON may have a backslash before each slash. */
const ADDRESSES: readonly string[] = ["[A-Za-z0-9+.-]://", ":\\/\\", ":\\//", ":/\\/"];

const [SPACE, SLASH, AT] = [0x20, 0x2f, 0x40];

export class SecretMarks {
  /** By two bytes: how far the end of a mark with them is away, at least. */
  readonly #ahead = new Uint8Array(1 << 16).fill(WIDTH - 1);
  /** Each mark, and whether it is that of an address. */
  readonly #isAddress = new Map<number, boolean>();

  constructor() {
    for (const mark of MARKS.flatMap(eachOf)) this.#add(mark, false);
    for (const mark of ADDRESSES.flatMap(eachOf)) this.#add(mark, true);
  }

  /** Whether a rule may find something in one of the record's texts, or in what they are called. */
  standIn(json: Uint8Array): boolean {
    for (let last = WIDTH - 1; last < json.length;) {
      const ahead = this.#ahead[pairAt(json, last)]!;
      if (ahead > 0) {
        last += ahead;
        continue;
      }
      const isAddress = this.#isAddress.get(markAt(json, last));
      if (isAddress === false || (isAddress === true && hasPassword(json, last + 1))) return true;
      last++;
    }
    return false;
  }

  #add(mark: string, isAddress: boolean): void {
    const bytes = Uint8Array.from(mark, (character) => character.charCodeAt(0));
    this.#isAddress.set(markAt(bytes, WIDTH - 1), isAddress);
    for (let last = 1; last < WIDTH; last++) {
      const pair = pairAt(bytes, last);
      this.#ahead[pair] = Math.min(this.#ahead[pair]!, WIDTH - 1 - last);
    }
  }
}

const pairAt = (bytes: Uint8Array, last: number): number => (bytes[last - 1]! << 8) | bytes[last]!;
const markAt = (bytes: Uint8Array, last: number): number => (pairAt(bytes, last - 2) << 16) | pairAt(bytes, last);

/** A name, a password and `@` have no slash and no white space among them. */
function hasPassword(json: Uint8Array, start: number): boolean {
  for (let at = json[start] === SLASH ? start + 1 : start; at < json.length; at++) {
    const byte = json[at];
    if (byte === AT) return true;
    if (byte === SLASH || byte === SPACE) return false;
  }
  return false;
}

/** All the texts that a mark stands for. */
function eachOf(mark: string): string[] {
  let texts = [""];
  for (const [part, group] of mark.matchAll(/\[(.[^\]]*)\]|./g)) {
    const characters = group === undefined ? [part] : charactersOf(group);
    texts = texts.flatMap((text) => characters.map((character) => text + character));
  }
  return texts;
}

const charactersOf = (group: string): string[] => {
  const isOne = new RegExp(`^[${group.replace("\\", "\\\\")}]$`);
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((each) => isOne.test(each));
};
