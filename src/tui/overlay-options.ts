/**
 * Where an extension wants its overlay, as values the screen can work with. Part of `tui/`; used by extension-ui.ts.
 */
import type { OverlayAnchor, OverlayMargin, OverlayOptions, SizeValue } from "@earendil-works/pi-tui";

/** No screen is larger; a row far below would make the screen's library draw all rows up to it. */
const MOST_CELLS = 1000;
const ANCHORS: ReadonlySet<string> = new Set<OverlayAnchor>([
  "center",
  "top-left",
  "top-right",
  "bottom-left",
  "bottom-right",
  "top-center",
  "bottom-center",
  "left-center",
  "right-center",
]);

/** The options as they are whenever the screen asks; what is no such value is left out. `given` may throw. */
export function overlayOptions(given: OverlayOptions | (() => OverlayOptions) | undefined): OverlayOptions {
  const now = (): OverlayOptions => {
    try {
      return (typeof given === "function" ? given() : given) ?? {};
    } catch {
      return {};
    }
  };
  const read = <T>(key: keyof OverlayOptions, check: (value: unknown) => T | undefined): T | undefined => {
    try {
      return check(now()[key]);
    } catch {
      return undefined;
    }
  };
  // Read anew for each frame, since `given` may be a function.
  const options = {
    get width() {
      return read("width", size);
    },
    get minWidth() {
      return read("minWidth", cells);
    },
    get maxHeight() {
      return read("maxHeight", size);
    },
    get anchor() {
      return read("anchor", (value) => (ANCHORS.has(value as string) ? (value as OverlayAnchor) : undefined));
    },
    get offsetX() {
      return read("offsetX", cells);
    },
    get offsetY() {
      return read("offsetY", cells);
    },
    get row() {
      return read("row", size);
    },
    get col() {
      return read("col", size);
    },
    get margin() {
      return read("margin", margin);
    },
    get nonCapturing() {
      return read("nonCapturing", (value) => value === true);
    },
    visible: (width: number, height: number): boolean => {
      try {
        return now().visible?.(width, height) !== false;
      } catch {
        return false;
      }
    },
  };
  return options as OverlayOptions;
}

function cells(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Math.max(-MOST_CELLS, Math.min(MOST_CELLS, Math.trunc(value)));
}

function size(value: unknown): SizeValue | undefined {
  if (typeof value === "string") return /^\d{1,3}(?:\.\d{1,6})?%$/.test(value) ? (value as SizeValue) : undefined;
  const given = cells(value);
  return given === undefined ? undefined : Math.max(0, given);
}

function margin(value: unknown): OverlayMargin | number | undefined {
  if (typeof value !== "object" || value === null) return cells(value);
  const sides = Object.entries(value).map(([side, width]: [string, unknown]) => [side, cells(width) ?? 0]);
  return Object.fromEntries(sides) as OverlayMargin;
}
