import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { agentToken } from "./agent-token.ts";
import { chooseSchema } from "./choose-schema.ts";
import { readMcpArgs, USAGE, UsageError } from "./mcp-args.ts";

const given = { HOLDFAST_TOKEN: "rk_one" };

test("[AG9] arguments and environment name the server, the token and the models", () => {
  expect(readMcpArgs([], given)).toEqual({
    url: "http://127.0.0.1:8787",
    token: { kind: "fixed", token: "rk_one" },
    schemaFile: undefined,
    models: undefined,
    run: undefined,
    onBehalfOf: undefined,
    propose: false,
    store: undefined,
  });
  const args = [
    "--url",
    "https://sync.example.com/api",
    "--models",
    "slide, document",
    "--store",
    "agent.db",
    "--run",
    "r1",
    "--on-behalf-of",
    "user:ann",
    "--propose",
  ];
  expect(readMcpArgs(args, { ...given, HOLDFAST_URL: "http://elsewhere" })).toMatchObject({
    url: "https://sync.example.com/api",
    models: ["slide", "document"],
    run: "r1",
    onBehalfOf: "user:ann",
    propose: true,
    store: "agent.db",
  });
});

test("[AG9] help is not a fault, and lists every option", () => {
  expect(readMcpArgs(["--help"], {})).toBeUndefined();
  for (const option of [
    "--url",
    "--schema",
    "--models",
    "--run",
    "--on-behalf-of",
    "--propose",
    "--store",
    "HOLDFAST_TOKEN",
    "HOLDFAST_TOKEN_COMMAND",
    "HOLDFAST_TOKEN_URL",
  ])
    expect(USAGE).toContain(option);
});

test.each([
  [[], {}, /Set HOLDFAST_TOKEN to/],
  [[], { ...given, HOLDFAST_TOKEN_COMMAND: "print" }, /not several/],
  [[], { HOLDFAST_TOKEN_URL: "ftp://x" }, /http or https/],
  [["--url", "ftp://x"], given, /http or https/],
  [["--url", "nowhere"], given, /http or https/],
  [["--colour"], given, /--colour.*See --help/s],
  [["slide"], given, /See --help/],
] as const)("[AG9] %j is refused with a sentence", (args, env, sentence) => {
  expect(() => readMcpArgs(args, env)).toThrow(sentence);
  expect(() => readMcpArgs(args, env)).toThrow(UsageError);
});

test("[AG9] a schema that cannot be read is refused with a sentence", async () => {
  const args = readMcpArgs(["--schema", "nowhere.json"], given);
  if (!args) throw new Error("Help was requested.");
  await expect(chooseSchema(args, async () => "rk_one")).rejects.toThrow(/--schema cannot be read/);
});

test("[AG12] [AG14] a command or an address gives the next token; what goes wrong is a sentence without what was printed", async () => {
  let made = 0;
  const answers = ["plain-1", '{"object":"capability","token":"json-2"}', "", '{"tokens":[]}'];
  const server = createServer((_, response) => void response.end(answers[made++]));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const fromUrl = agentToken({ kind: "url", url });
  expect(await fromUrl()).toBe("plain-1");
  expect(await fromUrl()).toBe("json-2");
  await expect(fromUrl()).rejects.toThrow("HOLDFAST_TOKEN_URL did not return a token.");
  await expect(fromUrl()).rejects.toThrow("HOLDFAST_TOKEN_URL did not return a token.");
  server.close();
  expect(await agentToken({ kind: "command", command: "echo rk_two" })()).toBe("rk_two");
  const failing = agentToken({ kind: "command", command: "echo secret; echo secret >&2; exit 3" });
  await expect(failing()).rejects.toThrow(/^HOLDFAST_TOKEN_COMMAND exited with 3\.$/);
  await expect(agentToken({ kind: "command", command: "true" })()).rejects.toThrow("did not print a token");
});
