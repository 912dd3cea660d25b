// Asks before a shell command that removes or overwrites much; without somebody to ask it is not run.
import type { ExtensionAPI } from "bough";

const RISKY = [/\brm\s+-\w*[rf]/, /\bsudo\b/, /\bgit\s+(?:reset\s+--hard|push\s+.*--force)/];

export default function (pi: ExtensionAPI): void {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    const command = String(input["command"]);
    if (toolName !== "bash" || !RISKY.some((pattern) => pattern.test(command))) return undefined;
    const isAllowed = ctx.hasUI && (await ctx.ui.confirm("Run this command?", command));
    return isAllowed ? undefined : { block: true, reason: "The user does not want this command to be run." };
  });
}
