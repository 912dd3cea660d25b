/** All that an exported file says, whatever it is packed in. */
import { inflateRawSync } from "node:zlib";

/** The text of the file, and of a page what its data scripts hold. */
export function textsOfExport(bytes: Buffer): string[] {
  const text = bytes.toString();
  const packed = [...text.matchAll(/<script[^>]*>([A-Za-z0-9+/=\s]+)<\/script>/g)].flatMap(([, data = ""]) => {
    const raw = Buffer.from(data, "base64");
    try {
      return [inflateRawSync(raw).toString()];
    } catch {
      return [raw.toString()];
    }
  });
  return [text, ...packed];
}
