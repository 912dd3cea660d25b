/**
 * One tool call as the tool's extension draws it. Part of `tui/`; used by the row of the call.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { ToolDefinition, ToolRenderContext } from "../extensions/api.ts";
import { drawn } from "./extension-drawings.ts";
import { liveTheme } from "./live-theme.ts";
import type { Owned } from "./screen-extensions.ts";
import { blocksOf } from "./shown-text.ts";

type DrawnResult = Parameters<NonNullable<ToolDefinition["renderResult"]>>[0];

/** What is known of the call. */
export interface DrawnCall {
  id: string;
  args: unknown;
  status: "pending" | "success" | "error" | "unanswered";
  content: unknown;
  details: unknown;
  isStarted: boolean;
}

export interface DrawingTerms {
  cwd: string;
  expanded: boolean;
  /** Draws the row again. */
  invalidate(): void;
}

export class ToolDrawing {
  readonly #tool: Owned<ToolDefinition>;
  /** The extension's own, kept between its renderers. */
  readonly #state = {};
  #lastCall: Component | undefined;
  #lastResult: Component | undefined;

  constructor(tool: Owned<ToolDefinition>) {
    this.#tool = tool;
  }

  /** It wants no frame of bough's. */
  get isUnframed(): boolean {
    return this.#tool.value.renderShell === "self";
  }

  /** Undefined leaves it to bough. */
  call(call: DrawnCall, terms: DrawingTerms, instead: () => Component): Component | undefined {
    return drawn(this.#tool, "renderCall", instead, (tool) => {
      const context = this.#context(call, terms, this.#lastCall);
      this.#lastCall = tool.renderCall?.(context.args, liveTheme, context);
      return this.#lastCall;
    });
  }

  /** Undefined leaves it to bough. */
  result(call: DrawnCall, terms: DrawingTerms, instead: () => Component): Component | undefined {
    return drawn(this.#tool, "renderResult", instead, (tool) => {
      const context = this.#context(call, terms, this.#lastResult);
      const { isPartial, expanded } = context;
      const result = structuredClone({ content: blocksOf(call.content), details: call.details });
      this.#lastResult = tool.renderResult?.(
        result as unknown as DrawnResult,
        { expanded, isPartial },
        liveTheme,
        context,
      );
      return this.#lastResult;
    });
  }

  #context(call: DrawnCall, { cwd, expanded, invalidate }: DrawingTerms, last: Component | undefined) {
    const isPartial = call.status === "pending";
    const context: ToolRenderContext = {
      args: structuredClone(call.args) ?? {},
      toolCallId: call.id,
      invalidate,
      lastComponent: last,
      state: this.#state,
      cwd,
      executionStarted: call.isStarted || !isPartial,
      argsComplete: call.isStarted || !isPartial,
      isPartial,
      expanded,
      showImages: false,
      isError: call.status === "error" || call.status === "unanswered",
      durationMs: undefined,
    };
    return context as ToolRenderContext<unknown, never>;
  }
}
