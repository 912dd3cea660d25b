/**
 * Model servers on this machine: asked for their models when nothing else is configured.
 * Part of `agent/`; used by ModelRegistry.
 */
import type { OwnModel, OwnProvider } from "./providers.ts";

export interface LoopbackServer {
  /** Provider id; kept in session files, so it is fixed for each port. */
  id: string;
  name: string;
  port: number;
}

/** Where Ollama, llama.cpp's server (its default and a usual second port) and LM Studio listen unless told otherwise. */
export const LOOPBACK_SERVERS: readonly LoopbackServer[] = [
  { id: "ollama", name: "Ollama", port: 11434 },
  { id: "llama.cpp", name: "llama.cpp", port: 8080 },
  { id: "llama.cpp-9931", name: "llama.cpp", port: 9931 },
  { id: "lm-studio", name: "LM Studio", port: 1234 },
];

const TIMEOUT_MS = 300;
/** Taken for a local model whose server does not tell; small enough for what such servers usually load. */
const LOCAL_CONTEXT_WINDOW = 32_768;

/** Asks all servers at once; those that do not answer in time with a list of models are left out. Never rejects. */
export async function discoverLoopback(
  servers: readonly LoopbackServer[] = LOOPBACK_SERVERS,
  timeoutMs: number = TIMEOUT_MS,
): Promise<OwnProvider[]> {
  const answers = await Promise.all(
    servers.map(async (server): Promise<OwnProvider> => {
      const baseUrl = `http://127.0.0.1:${server.port}/v1`;
      const served = await servedModels(baseUrl, timeoutMs);
      const models = served.map((model) => ({ contextWindow: LOCAL_CONTEXT_WINDOW, ...model }));
      return { id: server.id, name: server.name, baseUrl, api: "openai-completions", models };
    }),
  );
  return answers.filter((provider) => provider.models.length > 0);
}

/** The models an OpenAI-compatible server lists under `/models`; none when it is not one. Never rejects. */
export async function servedModels(baseUrl: string, timeoutMs: number, apiKey?: string): Promise<OwnModel[]> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
      headers: { accept: "application/json", ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.ok ? listedModels(await response.json()) : [];
  } catch {
    return [];
  }
}

/** Other programs use these ports too: whatever does not look like a list of models is none. */
function listedModels(body: unknown): OwnModel[] {
  const list = memberOf(body, "data");
  if (!Array.isArray(list)) return [];
  return list.flatMap((listed: unknown): OwnModel[] => {
    const id = memberOf(listed, "id");
    if (typeof id !== "string" || id === "" || /embed/i.test(id)) return [];
    const meta = memberOf(listed, "meta");
    // llama.cpp tells the window it serves, or at least the one the model was trained for.
    const window = memberOf(meta, "n_ctx") ?? memberOf(meta, "n_ctx_train");
    return [{ id, ...(typeof window === "number" && window > 0 ? { contextWindow: window } : {}) }];
  });
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
