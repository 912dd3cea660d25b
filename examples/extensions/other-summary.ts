// Lets another model write the summary of a branch that is left: `bough --summary-by provider/model`.
import { conversationText, type ExtensionAPI } from "bough";

export default function (pi: ExtensionAPI): void {
  pi.registerFlag("summary-by", { type: "string", description: "provider/model that writes summaries of branches" });
  pi.on("session_before_tree", async ({ preparation, signal }, ctx) => {
    const [provider = "", id = ""] = String(pi.getFlag("summary-by") ?? "").split("/");
    const model = ctx.modelRegistry.find(provider, id);
    if (!preparation.userWantsSummary || model === undefined) return undefined;
    const messages = preparation.entriesToSummarize.flatMap((entry) =>
      entry.type === "message" ? [entry.message] : [],
    );
    const prompt = `Say in five lines what was tried here and what came of it.\n\n${conversationText(messages)}`;
    const answer = await ctx.modelRegistry.complete(
      model,
      { messages: [{ role: "user", content: prompt, timestamp: Date.now() }] },
      { signal },
    );
    const summary = answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    return summary === "" ? undefined : { summary: { summary, usage: answer.usage } };
  });
}
