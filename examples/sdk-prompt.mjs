// One prompt, its answer as it comes, and the events around it.
import { ModelRegistry, SessionManager, createAgentSession } from "bough";
import { startModel } from "./support/model-server.mjs";

// The stand-in is for this example alone: without `registry` and `model` bough takes what you have set up.
const provider = await startModel((text) => `You said: ${text}`);
const registry = await ModelRegistry.load({ environment: {} });
await registry.addEndpoint({ baseUrl: provider.baseUrl, model: "stand-in" });

const session = await createAgentSession({
  registry,
  model: "endpoint/stand-in",
  sessionManager: SessionManager.inMemory(), // SessionManager.create(cwd) keeps it in a file
});

const seen = [];
const unsubscribe = session.subscribe((event) => {
  if (event.type !== "message_update") seen.push(event.type);
  else if (event.assistantMessageEvent.type === "text_delta") process.stdout.write(event.assistantMessageEvent.delta);
});

// Settles when the answer, its tools, retries and everything queued behind it are done.
await session.prompt("Why is the shop slow?");
console.log();
console.log(seen.slice(seen.indexOf("agent_start")).join(" "));

// A provider that fails does not reject: the last message says so.
const answer = session.messages.at(-1);
console.log(answer.role, answer.role === "assistant" && answer.stopReason);

unsubscribe();
await session.dispose(); // stops what runs and saves
await session.sessionManager.close();
provider.close();
