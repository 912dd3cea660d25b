/** Errors of providers as people read them; sets BOUGH_DEBUG. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finalErrorText, isUnreachable, namedAddress, providerErrorText } from "../../src/agent/provider-error.ts";

const CASES: readonly [given: string, shown: string][] = [
  ["Connection error.", "Connection error."],
  ["Connection error.: connect ECONNREFUSED ::1:9", "Connection error: connect ECONNREFUSED ::1:9"],
  ["", ""],
  ["Unexpected token { in JSON at position 3", "Unexpected token { in JSON at position 3"],
  ['{"code": 7}', '{"code": 7}'],
  ['500 {"message": ""}', '500 {"message": ""}'],
  // OpenAI, Anthropic, Google (a body in a body), FastAPI, Ollama
  [
    '429: {"message":"Rate limit\\nreached for \\"o9\\".","type":"requests","code":null}',
    '429: Rate limit reached for "o9".',
  ],
  [
    '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
    "529: Overloaded",
  ],
  [
    JSON.stringify({
      error: { message: JSON.stringify({ error: { code: 400, message: "API key not valid." } }), code: 400 },
    }),
    "API key not valid.",
  ],
  ['422: {"detail":"Field required"}', "422: Field required"],
  ['404 {"error":"model \'x\' not found"}', "404: model 'x' not found"],
  // OpenRouter tells what the provider behind it said
  [
    `502: ${JSON.stringify({ message: "Provider returned error", metadata: { raw: JSON.stringify({ error: { message: "No GPU left" } }) } })}`,
    "502: Provider returned error (No GPU left)",
  ],
  // cut off
  ['400: {"message":"Too long","param":{"messages":[{"role":"us', "400: Too long"],
  ['400: {"message":"Too lo', '400: {"message":"Too lo'],
];

test("[U4] of a provider's error the sentence is shown, whatever JSON it comes in", () => {
  assert.deepEqual(
    CASES.map(([given]) => [given, providerErrorText(given)]),
    CASES,
  );
});

const ADVICE =
  " Check the network and that the server runs, or name another address with --base-url or in models.json.";

test("[U4] where nothing can be reached the error names the address, the cause and what to do", () => {
  const at = (text: string): string => finalErrorText(namedAddress(text, "https://me:secret@host.test/v1?key=secret"));
  const cannot = "https://host.test/v1 cannot be reached:";
  const cases: [given: string, shown: string][] = [
    [
      "Connection error.: connect ECONNREFUSED ::1:9",
      `${cannot} the connection is refused (connect ECONNREFUSED ::1:9).${ADVICE}`,
    ],
    [
      "exception TypeError: fetch failed sending request: getaddrinfo EAI_AGAIN host.test",
      `${cannot} the host is not found (getaddrinfo EAI_AGAIN host.test).${ADVICE}`,
    ],
    [
      "Connection error.: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)",
      `${cannot} its certificate is not accepted (self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)).${ADVICE}`,
    ],
    ["Connection error.: read ECONNRESET", "Connection error at https://host.test/v1: read ECONNRESET"],
    ["Connection error.", "Connection error."],
    ["502: connection error: connect ECONNREFUSED", "502: connection error: connect ECONNREFUSED"],
  ];
  assert.deepEqual(
    cases.map(([given]) => [given, at(given)]),
    cases,
  );
  assert.equal(isUnreachable(namedAddress("Connection error.: getaddrinfo ENOTFOUND x", "http://x/v1")), true);
  assert.equal(isUnreachable(namedAddress("Connection error.: connect ETIMEDOUT 1.2.3.4", "http://x/v1")), false);
  assert.equal(namedAddress("Connection error.: bad port", "no url"), "Connection error.: bad port");
});

test("[U4] with BOUGH_DEBUG a provider's error is shown as it came", (t) => {
  process.env["BOUGH_DEBUG"] = "1";
  t.after(() => delete process.env["BOUGH_DEBUG"]);
  assert.deepEqual(
    CASES.map(([given]) => providerErrorText(given)),
    CASES.map(([given]) => given),
  );
});
