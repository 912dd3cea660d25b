// A tool of your own, beside or instead of bough's: the model calls it, bough checks its input and keeps the result.
import { ModelRegistry, SessionManager, createAgentSession } from "bough";
import { startModel } from "./support/model-server.mjs";

const provider = await startModel((text, request) =>
  request === 1 ? { tool: "stock", input: { product: "lamp" } } : `There are ${text} lamps.`,
);
const registry = await ModelRegistry.load({ environment: {} });
await registry.addEndpoint({ baseUrl: provider.baseUrl, model: "stand-in" });

const session = await createAgentSession({
  registry,
  model: "endpoint/stand-in",
  sessionManager: SessionManager.inMemory(),
  // Asked before each prompt; without `tools` they are read, write, edit, bash, grep, find, ls and task.
  tools: () => [
    {
      name: "stock",
      label: "stock",
      description: "How many of a product are in stock.",
      // JSON Schema; what the model sends is checked against it before `execute` is called.
      parameters: { type: "object", properties: { product: { type: "string" } }, required: ["product"] },
      execute: async (_callId, { product }, signal) => {
        signal?.throwIfAborted();
        return { content: [{ type: "text", text: product === "lamp" ? "12" : "0" }], details: undefined };
      },
    },
  ],
  instructions: "You answer questions about the shop.",
});
session.subscribe((event) => {
  if (event.type === "tool_execution_start") console.log("calls", event.toolName, event.args);
  if (event.type === "tool_execution_end") console.log("gets", event.result.content[0].text);
  if (event.type === "message_end" && event.message.role === "assistant")
    for (const block of event.message.content) if (block.type === "text") console.log(block.text);
});
await session.prompt("How many lamps are there?");

await session.dispose();
await session.sessionManager.close();
provider.close();
