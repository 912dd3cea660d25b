/**
 * Reads the data scripts of an exported page, whatever part of the page the browser has reached.
 * Part of the page: browser only. Used by main.ts and bodies.ts.
 */
import { FACTS_ID, imageId } from "./page-data.ts";
import type { PageFacts, PageImage } from "./page-data.ts";

/** Between two looks for a script that the browser has not read yet, in milliseconds. */
const PATIENCE = 16;

export async function readFacts(): Promise<PageFacts> {
  return JSON.parse(new TextDecoder().decode(bytesOf(await scriptText(FACTS_ID)))) as PageFacts;
}

/** The same as `readPacked`, for what is not needed again: its text is taken out of the page. */
export async function takePacked(id: string): Promise<unknown> {
  const json = await readPacked(id);
  document.getElementById(id)?.remove();
  return json;
}

/** The JSON of a compressed script. Rejects when the page has no such script, or it is damaged. */
export async function readPacked(id: string): Promise<unknown> {
  const packed = new Blob([bytesOf(await scriptText(id))]);
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(unpacked).json();
}

/** For `src`. The page's writer has looked at type and text of the image. */
export async function imageUrl(image: number, { mimeType }: PageImage): Promise<string> {
  return `data:${mimeType};base64,${await scriptText(imageId(image))}`;
}

async function scriptText(id: string): Promise<string> {
  for (;;) {
    // The browser adds the text of a long script bit by bit; it is whole when something follows.
    const isRead = document.readyState !== "loading";
    const script = document.getElementById(id);
    if (script !== null && (isRead || script.nextElementSibling !== null)) return script.textContent ?? "";
    if (isRead) throw new Error(`The page has no data ${id}; it was cut off or changed.`);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE));
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
