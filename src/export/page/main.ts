/**
 * Starts the exported page: reads facts and rows, and shows them; bodies come when they are looked at.
 * Part of the page: the entry point of its bundle.
 */
import { Bodies } from "./bodies.ts";
import { imageUrl, readFacts, readPacked, takePacked } from "./data-scripts.ts";
import { bodiesId, rowsId } from "./page-data.ts";
import type { BodyChunk, RowBlock } from "./page-data.ts";
import { PageElement } from "./page-element.ts";
import { PageTree } from "./page-tree.ts";
import { PageView } from "./page-view.ts";
import { applyTheme } from "./theme.ts";

async function start(): Promise<void> {
  applyTheme();
  const facts = await readFacts();
  const blocks = await Promise.all(Array.from({ length: facts.rowBlocks }, (_, block) => takePacked(rowsId(block))));
  const tree = new PageTree(facts, blocks as RowBlock[]);
  const bodies = new Bodies(tree, facts.chunks, (chunk) => readPacked(bodiesId(chunk)) as Promise<BodyChunk>);
  const page = new PageElement({
    facts,
    view: new PageView(tree, bodies),
    readImage: (image) => imageUrl(image, facts.images[image]!),
  });
  document.body.prepend(page);
  document.getElementById("notice")?.remove();
}

start().catch((error: unknown) => {
  const reason = document.createElement("p");
  reason.textContent = `This page could not be shown: ${String(error)}`;
  document.getElementById("notice")?.append(reason);
});
