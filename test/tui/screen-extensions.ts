/**
 * An extension's side of the screen, without a host: what it brings is given by the test, and the test holds its
 * `ctx.ui`. Used by the tests of what extensions may do to the screen.
 */
import type { TestContext } from "node:test";
import type { UiFor, UiOwner, UiPort } from "../../src/extensions/ui-port.ts";
import { NO_EXTENSIONS, type Owned, type ScreenExtensions } from "../../src/tui/screen-extensions.ts";
import { type InteractiveHarness, type InteractiveHarnessOptions, startInteractive } from "./interactive-harness.ts";

export interface Extended extends InteractiveHarness {
  ui: UiPort;
  /** Another extension's. */
  uiOf(name: string): UiPort;
  /** Ends the extension that `ui` belongs to. */
  leave(): void;
  /** "name event: message" of each mistake that was reported. */
  failures: string[];
}

export async function startExtended(
  t: TestContext,
  brought: (owned: <T>(value: T) => Owned<T>) => Partial<ScreenExtensions> = () => ({}),
  options: InteractiveHarnessOptions = {},
): Promise<Extended> {
  const gone = new AbortController();
  const failures: string[] = [];
  const ownerOf = (name: string, signal?: AbortSignal): UiOwner => ({
    name,
    gone: signal,
    failed: (event, error) => void failures.push(`${name} ${event}: ${(error as Error).message}`),
  });
  const owner = ownerOf("mine.ts", gone.signal);
  let uiFor: UiFor | undefined;
  const extensions: ScreenExtensions = {
    ...NO_EXTENSIONS,
    attach: async (given) => {
      uiFor = given.uiFor;
    },
    ...brought((value) => ({ owner, value })),
  };
  const started = await startInteractive(t, { ...options, mode: { extensions, ...options.mode } });
  await started.see("0.0.0");
  if (uiFor === undefined) throw new Error("The screen did not call attach.");
  const make = uiFor;
  return { ...started, ui: make(owner), uiOf: (name) => make(ownerOf(name)), leave: () => gone.abort(), failures };
}
