// Compacts by a list of the user's own prompts, without asking any model.
import type { ExtensionAPI } from "bough";

export default function (pi: ExtensionAPI): void {
  pi.on("session_before_compact", ({ preparation }) => {
    const { messagesToSummarize, turnPrefixMessages, firstKeptEntryId, tokensBefore, previousSummary } = preparation;
    const prompts = [...messagesToSummarize, ...turnPrefixMessages]
      .filter((message) => message.role === "user")
      .map(({ content }) =>
        typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join(""),
      );
    const summary = [
      previousSummary ?? "The user asked, one after the other:",
      ...prompts.map((prompt) => `- ${prompt}`),
    ];
    return { compaction: { summary: summary.join("\n"), firstKeptEntryId, tokensBefore } };
  });
}
