/**
 * One line from the user before anything is drawn. Part of `cli/`; used by what is asked at the start.
 */
import { createInterface } from "node:readline";

/**
 * What was typed; "" for Enter, Escape, the end of the input and an aborted signal. Control+C ends the program as it
 * would without a question.
 */
export async function askLine(question: string, signal?: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, historySize: 0 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const close = (): void => terminal.close();
  const onKey = (_: unknown, { name }: { name?: string }): void => {
    if (name === "escape") close();
  };
  process.stdin.on("keypress", onKey);
  signal?.addEventListener("abort", close);
  terminal.on("close", () => resolve(""));
  terminal.on("SIGINT", () => {
    close();
    process.kill(process.pid, "SIGINT");
  });
  terminal.question(question, resolve);
  if (signal?.aborted === true) close();
  const answer = await promise;
  close();
  process.stdin.off("keypress", onKey);
  signal?.removeEventListener("abort", close);
  process.stdout.write("\n");
  return answer;
}
