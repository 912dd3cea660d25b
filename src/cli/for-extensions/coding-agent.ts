/**
 * What "pi-coding-agent", and "bough" itself, is in extensions: bough's own pieces under the names that extensions for
 * pi and omp import. Part of `cli/`; see extension-names.ts.
 */
export { agentDirectory as getAgentDir, CONFIG_DIR_NAME, VERSION } from "./places.ts";
export { convertToLlm } from "../../tree/messages.ts";
export { buildSessionContext } from "../../tree/session-context.ts";
export { CURRENT_SESSION_VERSION } from "../../tree/entries.ts";
export { conversationText, conversationText as serializeConversation } from "../../agent/conversation-text.ts";
export { estimateMessageTokens as estimateTokens, calculateContextTokens } from "../../agent/providers.ts";
export { SessionManager } from "../../session/session-manager.ts";
export { defineTool } from "../../extensions/api.ts";
export { createEventBus } from "../../extensions/event-bus.ts";
export { foldBranch } from "../../extensions/fold-branch.ts";
export {
  createBashTool,
  createBashTool as createBashToolDefinition,
  createCodingTools,
  createEditTool,
  createEditTool as createEditToolDefinition,
  createFindTool,
  createFindTool as createFindToolDefinition,
  createGrepTool,
  createGrepTool as createGrepToolDefinition,
  createLocalBashOperations,
  createLsTool,
  createLsTool as createLsToolDefinition,
  createReadOnlyTools,
  createReadTool,
  createReadTool as createReadToolDefinition,
  createWriteTool,
  createWriteTool as createWriteToolDefinition,
} from "./tool-factories.ts";
export type { BashToolOptions } from "./tool-factories.ts";
export {
  formatSize,
  MAX_OUTPUT_BYTES as DEFAULT_MAX_BYTES,
  MAX_OUTPUT_LINES as DEFAULT_MAX_LINES,
} from "../../agent/output-limits.ts";
export { inFileQueue as withFileMutationQueue } from "../../agent/tools/file-queue.ts";
export { truncateHead, truncateLine, truncateTail } from "./truncation.ts";
export { parseFrontmatter, stripFrontmatter } from "./front-matter.ts";
export {
  isBashToolResult,
  isEditToolResult,
  isFindToolResult,
  isGrepToolResult,
  isLsToolResult,
  isReadToolResult,
  isToolCallEventType,
  isWriteToolResult,
} from "./tool-events.ts";
export { BorderedLoader } from "../../tui/bordered-loader.ts";
export { CustomEditor } from "../../tui/custom-editor.ts";
export { DynamicBorder } from "../../tui/dynamic-border.ts";
export { getSelectListTheme, getSettingsListTheme } from "../../tui/list-themes.ts";
export { getMarkdownTheme } from "../../tui/markdown.ts";
export { highlightCode, languageOf as getLanguageFromPath } from "../../tui/highlight.ts";
export { Theme } from "../../tui/theme.ts";
export { keyHint, keyText, rawKeyHint } from "../../tui/key-hints.ts";
export { formatReadLineRange, renderDiff } from "./shown.ts";
