/**
 * The proof that the messages of `tree/` are pi-ai's, so that what a session stores is what the agent loop runs on, and
 * the roles bough adds to the loop's own. It does not compile when pi-ai changes a message in a way that matters here.
 * Part of `agent/`; imported by agent-session.ts for its declarations.
 */
import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type * as pi from "@earendil-works/pi-ai";
import type * as tree from "../tree/messages.ts";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Proof<T extends true> = T;

export type MessagesAreTheProviders = [
  Proof<Equal<tree.Message, pi.Message>>,
  /** With the declarations below. */
  Proof<Equal<tree.AgentMessage, AgentMessage>>,
  Proof<Equal<tree.SystemMessage, pi.SystemMessage>>,
  Proof<Equal<tree.UserMessage, pi.UserMessage>>,
  Proof<Equal<tree.AssistantMessage, pi.AssistantMessage>>,
  Proof<Equal<tree.ToolResultMessage, pi.ToolResultMessage>>,
  Proof<Equal<tree.TextContent, pi.TextContent>>,
  Proof<Equal<tree.ThinkingContent, pi.ThinkingContent>>,
  Proof<Equal<tree.ImageContent, pi.ImageContent>>,
  Proof<Equal<tree.ToolCall, pi.ToolCall>>,
  Proof<Equal<tree.Usage, pi.Usage>>,
  Proof<Equal<tree.StopReason, pi.StopReason>>,
  Proof<Equal<tree.JsonObject, pi.JsonObject>>,
  /** convertToLlm takes any model of the catalogue. */
  Proof<pi.Model<pi.Api> extends tree.RequestModel ? true : false>,
];

declare module "@earendil-works/pi-agent-core" {
  interface CustomAgentMessages {
    developer: tree.DeveloperMessage;
    bashExecution: tree.BashExecutionMessage;
    pythonExecution: tree.PythonExecutionMessage;
    fileMention: tree.FileMentionMessage;
    custom: tree.CustomMessage;
    branchSummary: tree.BranchSummaryMessage;
    compactionSummary: tree.CompactionSummaryMessage;
  }
}
