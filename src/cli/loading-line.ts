/**
 * The line that names an extension which is slow to load, before anything is drawn, and the keys that leave it out.
 * Part of `cli/`; used by terminal-mode.ts.
 */
import { basename, dirname } from "node:path";
import { sanitiseLine } from "../tui/sanitise.ts";

const ESCAPE = 0x1b;
const CONTROL_C = 0x03;
const CLEAR_LINE = "\r\x1b[2K";

/** Shows it, until `end`; the terminal is then as it was, with what was typed for whoever reads next. */
export function loadingLine(path: string): { skipped: Promise<void>; end(): void } {
  const { stdin, stdout } = process;
  const { promise, resolve } = Promise.withResolvers<void>();
  const others: Uint8Array[] = [];
  const onData = (data: Buffer): void => {
    // Other keys begin with an Escape, too.
    const isEscape = data.at(-1) === ESCAPE;
    if (isEscape || data.includes(CONTROL_C)) resolve();
    others.push(data.filter((byte) => byte !== CONTROL_C).subarray(0, isEscape ? -1 : undefined));
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdout.write(`Loading extension ${nameOf(path)} … (Escape or Ctrl+C leaves it out)`);
  return {
    skipped: promise,
    end: () => {
      stdin.off("data", onData);
      stdin.pause();
      stdin.setRawMode(false);
      if (others.length > 0) stdin.unshift(Buffer.concat(others));
      stdout.write(CLEAR_LINE);
    },
  };
}

/** Of one with a folder to itself, the folder. */
function nameOf(path: string): string {
  const file = basename(path);
  return sanitiseLine(file.startsWith("index.") ? basename(dirname(path)) : file);
}
