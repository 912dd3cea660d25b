/** [C3] What convertToLlm returns, pi-ai's own code turns into bodies that keep each protocol's rules. */
import { describe, it } from "node:test";
import fc from "fast-check";
import { convertToLlm, type AgentMessage } from "../../src/tree/messages.ts";
import { PROTOCOLS, checkWire, modelOf, wireBody } from "../support/wire-rules.ts";
import { hostileMessage } from "../tree/hostile-messages.ts";

describe("bodies", () => {
  for (const protocol of PROTOCOLS)
    it(`[C3] any messages at all make a body that keeps the rules of ${protocol.api}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(hostileMessage, { maxLength: 10 }), fc.boolean(), async (messages, takesSystem) => {
          const model = modelOf(protocol, { supportsMidConvoSystemMessages: takesSystem });
          const asked = [...(messages as AgentMessage[]), { role: "user" as const, content: "go on", timestamp: 1 }];
          checkWire(protocol, await wireBody(protocol, convertToLlm(asked, { model }), model));
        }),
        { numRuns: 150 },
      );
    });
});
