/**
 * What the editor offers while one types: /commands with their arguments, @files of the project, paths on Tab.
 * Part of `tui/`; used by interactive-mode.
 */
import {
  type AutocompleteItem,
  type AutocompleteProvider,
  type AutocompleteSuggestions,
  CombinedAutocompleteProvider,
  fuzzyFilter,
  type SlashCommand,
} from "@earendil-works/pi-tui";
import { FileNames } from "./file-names.ts";
import { sanitise } from "./sanitise.ts";

const MAX_FILES_OFFERED = 20;
/** "@" at the start of a word, and what follows up to the cursor. */
const FILE_PREFIX = /(?:^|\s)(@(?:"[^"]*|[^\s"]*))$/;

export class PromptCompletion implements AutocompleteProvider {
  readonly triggerCharacters = ["@"];
  readonly #commandsAndPaths: CombinedAutocompleteProvider;
  readonly #files: FileNames;

  constructor(commands: readonly SlashCommand[], cwd: string) {
    this.#commandsAndPaths = new CombinedAutocompleteProvider([...commands], cwd, null);
    this.#files = new FileNames(cwd);
  }

  async getSuggestions(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Promise<AutocompleteSuggestions | null> {
    const prefix = FILE_PREFIX.exec((lines[cursorLine] ?? "").slice(0, cursorCol))?.[1];
    const found =
      prefix === undefined
        ? await this.#commandsAndPaths.getSuggestions(lines, cursorLine, cursorCol, options)
        : { prefix, items: await this.#fileItems(prefix) };
    const items = found?.items.filter(isHarmless) ?? [];
    return found === null || items.length === 0 || options.signal.aborted ? null : { prefix: found.prefix, items };
  }

  applyCompletion(
    lines: string[],
    cursorLine: number,
    cursorCol: number,
    item: AutocompleteItem,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number } {
    return this.#commandsAndPaths.applyCompletion(lines, cursorLine, cursorCol, item, prefix);
  }

  shouldTriggerFileCompletion(lines: string[], cursorLine: number, cursorCol: number): boolean {
    return this.#commandsAndPaths.shouldTriggerFileCompletion(lines, cursorLine, cursorCol);
  }

  async #fileItems(prefix: string): Promise<AutocompleteItem[]> {
    const query = prefix.slice(1).replace(/^"/, "");
    const names = await this.#files.list();
    const found = query === "" ? names : fuzzyFilter([...names], query, (name) => name);
    return found.slice(0, MAX_FILES_OFFERED).map((path) => ({
      value: /\s/.test(path) ? `@"${path}"` : `@${path}`,
      label: path.slice(path.lastIndexOf("/") + 1),
      description: path,
    }));
  }
}

/** A file whose name could drive the terminal is not offered: its name would have to change to be shown. */
export const isHarmless = ({ value }: AutocompleteItem): boolean => sanitise(value) === value && !value.includes("\n");
