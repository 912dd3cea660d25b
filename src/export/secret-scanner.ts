/**
 * `SecretScanner`: finds secrets in texts by secretlint's rules and some of bough's own.
 * Part of `export/`; used by redaction. Loading the rules takes some 60 ms, so they are loaded when there is a text to look at.
 */
import type { SecretValue } from "./secret-values.ts";

/** Texts that are looked at together: for short ones the rules cost more than the looking. Characters. */
const BATCH = 256 * 1024;
/** Between two texts; no rule reads across it, and what does is looked at again text by text. */
const BORDER = "\n\u0000\n";

/** A rule of bough's own: the group `secret`, or else the whole match, is the secret. */
interface OwnRule {
  kind: string;
  pattern: RegExp;
}

/** What secretlint has no rules for and agents often print. Every repetition has an end: a text may be made to be slow. */
const OWN_RULES: readonly OwnRule[] = [
  { kind: "json web token", pattern: /\beyJ[\w-]{8,500}\.eyJ[\w-]{8,8000}\.[\w-]{16,2000}/g },
  { kind: "google api key", pattern: /\bAIza[\w-]{35}/g },
  { kind: "api key", pattern: /\b(?:sk|xai)-(?=[\w-]{0,300}\d)[\w-]{20,300}/g },
  { kind: "authorization", pattern: /\b(?:Bearer|Basic)[ \t]+(?<secret>[\w.~+/-]{16,4000}=*)/g },
  // NAME=value as `env` and shell scripts have it, and the same in JSON: also in JSON that is a text in JSON, where each
  // quote has backslashes before it.
  {
    kind: "variable",
    pattern:
      /\b[A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)=\\{0,7}["']?(?<secret>(?!process\.|os\.)(?=[^\s"']{0,300}\d)(?=[^\s"']{0,300}[A-Za-z])[^\s"'$(){}<>]{7,4000}[^\s"'\\$(){}<>])/g,
  },
  {
    kind: "variable",
    pattern:
      /"[\w-]{0,60}(?:api[_-]?key|token|secret|password|access[_-]?key)\\{0,7}"\s{0,20}:\s{0,20}\\{0,7}"(?<secret>(?=[^\s"]{0,300}\d)(?=[^\s"]{0,300}[A-Za-z])[^\s"$(){}<>]{11,4000}[^\s"\\$(){}<>])\\{0,7}"/gi,
  },
  // The password alone may stand elsewhere. A plain word would be masked in every sentence: only its address is.
  {
    kind: "password",
    pattern:
      /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@"']{1,200}:(?<secret>(?=[^\s@]{0,200}\d)(?=[^\s@]{0,200}[A-Za-z])[^\s:/@"'${}<>]{8,200})@/g,
  },
];

/** secretlint obeys comments that switch it off, and looks at files by name: neither belongs to a session. */
const UNWANTED = /-(?:filter-comments|preset-[\w-]+)$/;
/** Names of secretlint's messages that say too little, or too much. */
const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ["BasicAuth", "password"],
  ["MongoDBConnection", "database connection"],
  ["MySQLConnection", "database connection"],
  ["PostgreSQLConnection", "database connection"],
  ["OPS_TOKEN", "1password token"],
]);

type Lint = (text: string) => Promise<SecretValue[]>;

export class SecretScanner {
  readonly #found: (secret: SecretValue) => void;
  #lint: Promise<Lint> | undefined;
  #texts: string[] = [];
  #length = 0;

  /** @param found is told of each secret, also of one that was found before */
  constructor(found: (secret: SecretValue) => void) {
    this.#found = found;
  }

  /** Looks at a text now or later; undefined when there is nothing to wait for. */
  add(text: string): Promise<void> | undefined {
    // No rule matches less.
    if (text.length < 8) return undefined;
    this.#texts.push(text);
    this.#length += text.length;
    return this.#length < BATCH ? undefined : this.finish();
  }

  /** Looks at all that was added. */
  async finish(): Promise<void> {
    const texts = this.#texts;
    this.#texts = [];
    this.#length = 0;
    if (texts.length === 0) return;
    const lint = await (this.#lint ??= loadLint());
    const secrets = await lint(texts.join(BORDER));
    const isAcross = ({ value }: SecretValue): boolean => value.includes("\u0000");
    if (secrets.some(isAcross)) for (const text of texts) for (const found of await lint(text)) this.#found(found);
    for (const secret of secrets) if (!isAcross(secret)) this.#found(secret);
  }
}

async function loadLint(): Promise<Lint> {
  const [{ lintSource }, { secretLintProfiler }, preset] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/profiler"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  // It would keep a mark for each rule and text.
  secretLintProfiler.setEnabled(false);
  const rules = preset.rules
    .filter(({ meta }) => !UNWANTED.test(meta.id))
    .map((rule) => ({ id: rule.meta.id, rule, options: { enableIDScanRule: true } }));
  return async (text) => {
    const { messages } = await lintSource({
      source: { filePath: "text", content: text, contentType: "text" },
      options: { config: { rules }, noPhysicFilePath: true },
    });
    const found = messages.map(({ messageId, range }) => ({ value: text.slice(...range), kind: kindOf(messageId) }));
    return [...found, ...ownFindings(text)];
  };
}

function ownFindings(text: string): SecretValue[] {
  return OWN_RULES.flatMap(({ kind, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({ value: match.groups?.["secret"] ?? match[0], kind })),
  );
}

/** `GITHUB_TOKEN` and `AWSAccessKeyID` as words. */
const kindOf = (messageId: string): string =>
  KIND_NAMES.get(messageId) ??
  messageId
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
