/**
 * Which tool an event is about, as extensions ask it. Part of `cli/`; see coding-agent.ts.
 */
interface OfTool {
  toolName: string;
}

/** Whether a `tool_call` event is of the tool; TypeScript then knows what its `input` is, if the caller says so. */
export const isToolCallEventType = <Input = Record<string, unknown>>(
  toolName: string,
  event: OfTool,
): event is OfTool & { input: Input } => event.toolName === toolName;

const isOf =
  (toolName: string) =>
  (event: OfTool): boolean =>
    event.toolName === toolName;

export const isBashToolResult = isOf("bash");
export const isReadToolResult = isOf("read");
export const isEditToolResult = isOf("edit");
export const isWriteToolResult = isOf("write");
export const isGrepToolResult = isOf("grep");
export const isFindToolResult = isOf("find");
export const isLsToolResult = isOf("ls");
