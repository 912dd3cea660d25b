// Stands in for a provider, so that the examples run without a key: answers each request as `answer` says, in the
// protocol that most local servers speak (chat completions, streamed).
import { createServer } from "node:http";

/**
 * `answer` gets the text of the last message and the number of the request, from 1. It gives the text to answer, or
 * `{tool, input}` to have a tool called.
 */
export async function startModel(answer) {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { messages } = JSON.parse(Buffer.concat(chunks).toString());
    const { content } = messages.at(-1);
    const text = typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
    const given = answer(text, ++requests);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choice) => {
      const chunk = { id: `r${requests}`, object: "chat.completion.chunk", model: "stand-in", choices: [choice] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    if (typeof given === "string") {
      for (const word of given.match(/\s*\S+/g) ?? []) send({ index: 0, delta: { content: word } });
      send({ index: 0, delta: {}, finish_reason: "stop" });
    } else {
      const call = { name: given.tool, arguments: JSON.stringify(given.input) };
      send({ index: 0, delta: { tool_calls: [{ index: 0, id: `c${requests}`, type: "function", function: call }] } });
      send({ index: 0, delta: {}, finish_reason: "tool_calls" });
    }
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The stand-in has no port");
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
