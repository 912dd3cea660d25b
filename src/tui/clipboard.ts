/**
 * Text into the clipboard of the machine the user sits at.
 * Part of `tui/`; used by /copy.
 */
import { getNativeClipboard, type Terminal } from "@earendil-works/pi-tui";

/** Most terminals cut longer OSC 52 payloads or drop them whole. */
const MAX_OSC52_BYTES = 100_000;

/** Copies natively where that works, else through the terminal (OSC 52, also over ssh); false when it is too long. */
export async function copyText(terminal: Terminal, text: string): Promise<boolean> {
  const isRemote = Boolean(process.env["SSH_CONNECTION"]);
  try {
    const native = isRemote ? undefined : getNativeClipboard();
    if (native?.setText !== undefined) {
      await native.setText(text);
      return true;
    }
  } catch {
    // No display, no permission: the terminal may still take it.
  }
  const payload = Buffer.from(text, "utf8");
  if (payload.length > MAX_OSC52_BYTES) return false;
  terminal.write(`\x1b]52;c;${payload.toString("base64")}\x07`);
  return true;
}
