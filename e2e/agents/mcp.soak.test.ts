import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { ending, runIn } from "../packages/run-command.ts";
import { file, flags, startMcpHosts } from "./mcp.ts";

const { people, token, start: startMcp } = await startMcpHosts();
/** As a host starts it. */
const program = `${root}node_modules/.bin/holdfast-mcp`;

test("[AG8] stdout carries only the protocol, even while errors are logged", async () => {
  const child = runIn(root, program, [], { HOLDFAST_URL: people.url, HOLDFAST_TOKEN: token }, "pipe");
  const ended = ending(child);
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const initialize = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "an older host", version: "1" },
  };
  send({ id: 1, method: "initialize", params: initialize });
  send({ method: "notifications/initialized" });
  child.stdin?.write("this is no JSON\n");
  send({ id: 2, method: "tools/list" });
  send({ id: 3, method: "tools/call", params: { name: "read_record", arguments: { model: "slide", id: "nowhere" } } });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await until(() => expect(output).toContain('"id":3'));
  child.stdin?.end();
  const { code, stdout } = await ended;
  const messages = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { jsonrpc: string; id?: number });
  expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
  expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2, 3]));
  expect(code).toBe(0);
});

test("[AG9] if the program cannot start, it prints one sentence on stderr and nothing on stdout", async () => {
  const start = (env: Record<string, string>, ...args: string[]) =>
    ending(runIn(root, process.execPath, [...flags, file, ...args], env));
  const given = { HOLDFAST_URL: people.url, HOLDFAST_TOKEN: token };
  const cases = [
    [start({ ...given, HOLDFAST_TOKEN: "nonsense" }), /apikey_invalid/],
    [start({ ...given, HOLDFAST_URL: "http://127.0.0.1:1" }), /does not answer/],
    [start(given, "--models", "slide,nothing"), /no model "nothing"/],
  ] as const;
  for (const [running, sentence] of cases) {
    const { code, stdout, output } = await running;
    expect(output).toMatch(sentence);
    expect(output).not.toContain(token);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  }
  expect(await start({}, "--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("HOLDFAST_TOKEN") });
});

test("[AG12] [AG15] [AG14] a command supplies the token, and the next one after a revocation; without a token every tool returns needs_auth", async () => {
  const folder = temporaryFolder("token", onTestFinished);
  const file = join(folder, "token");
  const mint = async () => {
    const body = { participantId: "renewed", operations: ["slide.*"], syncGroups: ["deck:renewed"], ttlSeconds: 600 };
    const made = await people.request("POST", "/v1/capabilities", body);
    writeFileSync(file, `${made.token}\n`);
    return String(made.id);
  };
  const first = await mint();
  const mcp = await startMcp({ HOLDFAST_TOKEN: "", HOLDFAST_TOKEN_COMMAND: `cat ${file}` });
  expect(mcp.stderr()).toMatch(/does not cover are omitted: .*document/);
  const { tools } = await mcp.client.listTools();
  for (const { inputSchema } of tools)
    expect(inputSchema).toMatchObject({ properties: { model: { enum: ["slide"] } } });
  await people.request("POST", "/v1/models/slide", { id: "renewed", data: { deckId: "renewed", title: "Base" } });
  const read = () => mcp.call("read_record", { model: "slide", id: "renewed" });
  await until(async () => expect((await read()).ok).toBe(true));
  const second = await mint();
  await people.request("DELETE", `/v1/capabilities/${first}`);
  const update = (title: string) => mcp.call("update_record", { model: "slide", id: "renewed", data: { title } });
  await until(async () => expect(await update("renewed")).toMatchObject({ status: "confirmed" }));
  writeFileSync(file, "");
  await people.request("DELETE", `/v1/capabilities/${second}`);
  await until(async () => expect(await update("too late")).toMatchObject({ ok: false, code: "needs_auth" }));
  expect(await read()).toMatchObject({ ok: false, code: "needs_auth" });
});

test("[AG9] --schema takes the models from a file, and --models restricts them", async () => {
  const file = `${root}packages/server/reference-schema.json`;
  const { client } = await startMcp({}, ["--schema", file, "--models", "document,slide"]);
  const { tools } = await client.listTools();
  for (const { inputSchema } of tools)
    expect(inputSchema).toMatchObject({ properties: { model: { enum: ["document", "slide"] } } });
});
