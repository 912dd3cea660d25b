// Remembers the working tree at each prompt, as a commit on no branch, and offers it when the user jumps back to it.
import { type ExtensionAPI, foldBranch } from "bough";

const checkpoints = foldBranch<Map<string | null, string>>(
  () => new Map(),
  (found, entry) =>
    entry.type === "custom" && entry.customType === "checkpoint"
      ? found.set(entry.parentId, String(entry.data))
      : found,
);

export default function (pi: ExtensionAPI): void {
  pi.on("before_agent_start", async (_event, ctx) => {
    const { stdout, code } = await pi.exec("git", ["stash", "create"], { cwd: ctx.cwd });
    if (code === 0 && stdout.trim() !== "") pi.appendEntry("checkpoint", stdout.trim());
    return undefined;
  });
  pi.on("session_tree", async (_event, ctx) => {
    const commit = [...checkpoints(ctx).values()].at(-1);
    if (commit === undefined || !ctx.hasUI) return;
    if (!(await ctx.ui.confirm("Bring the files back as they were here?", `git stash apply ${commit.slice(0, 8)}`)))
      return;
    const { code, stderr } = await pi.exec("git", ["stash", "apply", commit], { cwd: ctx.cwd });
    ctx.ui.notify(code === 0 ? "The files are as they were." : stderr.trim(), code === 0 ? "info" : "error");
  });
}
