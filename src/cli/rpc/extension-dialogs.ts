/**
 * What extensions ask and show in `--mode rpc`: dialogs are requests that the client answers, the rest goes one way.
 * Part of `cli/`; used by rpc-mode.ts. The lines are those of pi's RPC.
 */
import { bool, compile, lit, obj, opt, str } from "@earendil-works/pi-schema";
import { NO_UI } from "../../extensions/ui-port.ts";
import type { DialogOptions, UiOwner, UiPort } from "../../extensions/ui-port.ts";
import { isRecord } from "../../tree/json.ts";

/** What the client answers; of value, confirmed and cancelled the one that fits the request. */
export const UI_RESPONSE = obj({
  type: lit("extension_ui_response"),
  id: str({ description: "The request's." }),
  value: opt(str({ description: "To select, input and editor." })),
  confirmed: opt(bool({ description: "To confirm." })),
  cancelled: opt(bool({ description: "true: the user has not answered." })),
});
const response = compile(UI_RESPONSE);

/** The requests in words, for docs/rpc.md. */
export const UI_REQUEST_TEXTS: Record<string, { fields: string; says: string }> = {
  select: { fields: "title, options, timeout?", says: "Waits for the chosen option as `value`." },
  confirm: { fields: "title, message, timeout?", says: "Waits for `confirmed`." },
  input: { fields: "title, placeholder?, timeout?", says: "Waits for a line as `value`." },
  editor: { fields: "title, prefill?", says: "Waits for a text as `value`." },
  notify: { fields: "message, notifyType", says: 'To be shown: "info", "warning" or "error".' },
  setStatus: {
    fields: "statusKey, statusText?",
    says: "A short text that stays; without statusText it is taken away.",
  },
  setWidget: {
    fields: "widgetKey, widgetLines?, widgetPlacement?",
    says: 'Lines near the prompt, "aboveEditor" or "belowEditor"; without widgetLines they are taken away.',
  },
  setTitle: { fields: "title", says: "For the window." },
  set_editor_text: { fields: "text", says: "For the prompt." },
};

type Answer = { value?: string; confirmed?: boolean; cancelled?: boolean };

export class ExtensionDialogs {
  readonly #send: (line: object) => void;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  #lastId = 0;
  #isOver = false;

  constructor(send: (line: object) => void) {
    this.#send = send;
  }

  /** True when the line was an answer. Those to no dialog, or to one that has ended, are passed over. */
  take(line: { text: string } | { tooLong: number }): boolean {
    if (!("text" in line) || !line.text.includes('"extension_ui_response"')) return false;
    const given = parsed(line.text);
    if (!isRecord(given) || given["type"] !== "extension_ui_response") return false;
    const [fault] = response.errors(given);
    if (fault === undefined) this.#waiting.get(String(given["id"]))?.(given as Answer);
    else
      this.#send({
        type: "notice",
        level: "error",
        text: `The extension_ui_response cannot be read: ${fault.path.slice(1) || "the line"}: ${fault.message}.`,
      });
    return true;
  }

  /** Nobody will answer any more, those that are asked from now on included. */
  end(): void {
    this.#isOver = true;
    for (const answered of this.#waiting.values()) answered({ cancelled: true });
  }

  /** `ctx.ui` of one extension. */
  readonly uiFor = (owner: UiOwner): UiPort => ({
    ...NO_UI,
    select: async (title, options, dialog) => {
      const { value } = await this.#ask(owner, { method: "select", title, options }, dialog);
      return value !== undefined && options.includes(value) ? value : undefined;
    },
    confirm: async (title, message, dialog) =>
      (await this.#ask(owner, { method: "confirm", title, message }, dialog)).confirmed === true,
    input: async (title, placeholder, dialog) =>
      (await this.#ask(owner, { method: "input", title, placeholder }, dialog)).value,
    editor: async (title, prefill) => (await this.#ask(owner, { method: "editor", title, prefill })).value,
    notify: (message, notifyType = "info") => this.#tell({ method: "notify", message, notifyType }),
    setStatus: (statusKey, statusText) => this.#tell({ method: "setStatus", statusKey, statusText }),
    setWidget: (widgetKey, content, options) => {
      // Components draw on a terminal alone.
      if (typeof content === "function") return;
      const placement = options?.placement;
      const widgetPlacement = placement === undefined ? {} : { widgetPlacement: placement };
      this.#tell({ method: "setWidget", widgetKey, widgetLines: content, ...widgetPlacement });
    },
    setTitle: (title) => this.#tell({ method: "setTitle", title }),
    setEditorText: (text) => this.#tell({ method: "set_editor_text", text }),
    pasteToEditor: (text) => this.#tell({ method: "set_editor_text", text }),
  });

  #tell(request: object): string {
    const id = `ui-${++this.#lastId}`;
    this.#send({ type: "extension_ui_request", id, ...request });
    return id;
  }

  #ask({ gone }: UiOwner, request: object, { signal, timeout }: DialogOptions = {}): Promise<Answer> {
    const signals = [signal, gone].filter((given) => given !== undefined);
    if (this.#isOver || signals.some(({ aborted }) => aborted)) return Promise.resolve({ cancelled: true });
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const id = this.#tell({ ...request, ...(timeout === undefined ? {} : { timeout }) });
    const end = (): void => answered({ cancelled: true });
    const timer = timeout !== undefined && timeout > 0 ? setTimeout(end, timeout) : undefined;
    const answered = (answer: Answer): void => {
      clearTimeout(timer);
      for (const each of signals) each.removeEventListener("abort", end);
      this.#waiting.delete(id);
      resolve(answer.cancelled === true ? {} : answer);
    };
    for (const each of signals) each.addEventListener("abort", end, { once: true });
    this.#waiting.set(id, answered);
    return promise;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
