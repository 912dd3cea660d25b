/**
 * What the footer says of extensions, and what a footer of an extension's own cannot find out elsewhere.
 * Part of `tui/`; used by session-screen and extension-ui.ts.
 */
import type { FooterData } from "../extensions/ui-port.ts";
import { gitBranch } from "./git-branch.ts";

export interface FooterSourceOptions {
  cwd(): string;
  /** Providers with a key. */
  providers(): number;
  /** The statuses have changed. */
  changed(): void;
}

export class FooterSource implements FooterData {
  readonly #options: FooterSourceOptions;
  readonly #statuses = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #branch: string | null = null;

  constructor(options: FooterSourceOptions) {
    this.#options = options;
  }

  setStatus(key: string, text: string | undefined): void {
    if (text === undefined || text.trim() === "") this.#statuses.delete(key);
    else this.#statuses.set(key, text);
    this.#options.changed();
  }

  /** Texts by the order of their keys. */
  statuses(): string[] {
    return [...this.#statuses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  }

  /** To be called when the branch may have changed: it is not watched. */
  look(): void {
    const branch = gitBranch(this.#options.cwd()) ?? null;
    if (branch === this.#branch) return;
    this.#branch = branch;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }

  getGitBranch(): string | null {
    this.#branch = gitBranch(this.#options.cwd()) ?? null;
    return this.#branch;
  }
  getExtensionStatuses(): ReadonlyMap<string, string> {
    return new Map(this.#statuses);
  }
  onBranchChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  getAvailableProviderCount(): number {
    return this.#options.providers();
  }
}
