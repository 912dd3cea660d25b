/**
 * Markdown from models and extensions as terminal lines.
 * Part of `tui/`; used by every chat row that shows prose.
 */
import { type DefaultTextStyle, Markdown, type MarkdownTheme, setCapabilityOverrides } from "@earendil-works/pi-tui";
import { highlightCode } from "./highlight.ts";
import { sanitise } from "./sanitise.ts";
import { theme } from "./theme.ts";

// A hidden link target is a lie waiting to happen: the address always stands in the text. No image protocol either.
setCapabilityOverrides({ hyperlinks: false, images: null });

const MARKDOWN_THEME: MarkdownTheme = {
  heading: (text) => theme.fg("mdHeading", text),
  link: (text) => theme.fg("mdLink", text),
  linkUrl: (text) => theme.fg("mdLinkUrl", text),
  code: (text) => theme.fg("mdCode", text),
  codeBlock: (text) => theme.fg("mdCodeBlock", text),
  codeBlockBorder: (text) => theme.fg("mdCodeBlockBorder", text),
  quote: (text) => theme.fg("mdQuote", text),
  quoteBorder: (text) => theme.fg("mdQuoteBorder", text),
  hr: (text) => theme.fg("mdHr", text),
  listBullet: (text) => theme.fg("mdListBullet", text),
  bold: (text) => theme.bold(text),
  italic: (text) => theme.italic(text),
  strikethrough: (text) => theme.strikethrough(text),
  underline: (text) => theme.underline(text),
  highlightCode,
};

/** For Markdown of extensions, which Guarded keeps from driving the terminal. */
export const getMarkdownTheme = (): MarkdownTheme => ({ ...MARKDOWN_THEME });

/** Markdown that passed the sink. Formulas stay as written: `$HOME` is more often a variable than mathematics. */
export class MarkdownText extends Markdown {
  constructor(text: string, style?: DefaultTextStyle) {
    super(sanitise(text), 0, 0, MARKDOWN_THEME, style, { renderLatex: false, preserveOrderedListMarkers: true });
  }
  override setText(text: string): void {
    super.setText(sanitise(text));
  }
}
