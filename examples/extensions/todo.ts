// A list of things to do that the model keeps and `/todos` shows. It lies in entries, so each branch has its own.
import { type ExtensionAPI, type ExtensionContext, foldBranch } from "bough";
import { Type } from "typebox";

const todos = foldBranch<string[]>(
  () => [],
  (list, entry) => (entry.type === "custom" && entry.customType === "todo" ? (entry.data as string[]) : list),
);

export default function (pi: ExtensionAPI): void {
  pi.registerTool({
    name: "todo",
    label: "Todo",
    description: "Sets the whole list of what is still to be done",
    parameters: Type.Object({ items: Type.Array(Type.String()) }),
    execute: async (_id, { items }, _signal, _onUpdate, ctx) => {
      pi.appendEntry("todo", items);
      if (ctx.hasUI) ctx.ui.setStatus("todo", `${items.length} to do`);
      return { content: [{ type: "text", text: `${items.length} to do` }], details: undefined };
    },
  });
  pi.registerCommand("todos", {
    description: "What is still to be done on this branch",
    handler: (_args, ctx) => ctx.ui.notify(todos(ctx).join("\n") || "Nothing is to be done."),
  });
  const show = (ctx: ExtensionContext): void => {
    const { length } = todos(ctx);
    ctx.ui.setStatus("todo", length === 0 ? undefined : `${length} to do`);
  };
  pi.on("session_start", (_event, ctx) => show(ctx));
  pi.on("session_tree", (_event, ctx) => show(ctx));
}
