import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "../clients/people.ts";
import { ending, runIn } from "../packages/run-command.ts";

const people = await startPeople();
const reference = JSON.parse(
  readFileSync(new URL("../../packages/server/reference-schema.json", import.meta.url), "utf8"),
) as { models: Record<string, unknown> };
/** As a host starts it. */
const program = `${root}node_modules/.bin/holdfast-mcp`;
const { flags, file } = sourceProgram(join(root, "packages/agent/src/holdfast-mcp.ts"));
const open: Mcp[] = [];
await people.request("POST", "/v1/schema", { models: reference.models });
const token = await tokenOf("robot");
afterAll(() => Promise.all(open.map(({ client }) => client.close())));

async function tokenOf(participantId: string): Promise<string> {
  const body = { participantId, operations: ["*.*"], wideScope: true };
  return String((await people.request("POST", "/v1/capabilities", body)).token);
}

interface Mcp {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  /** The result of a tool, and whether the protocol marks it as an error. */
  call(name: string, input: object): Promise<Record<string, unknown>>;
  stderr(): string;
}

/** The program, and the official client on the other end of its stdin and stdout. */
async function startMcp(
  env: Record<string, string> = {},
  args: string[] = [],
  options: ClientOptions = {},
): Promise<Mcp> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...flags, file, ...args],
    env: { PATH: process.env.PATH ?? "", HOLDFAST_URL: people.url, HOLDFAST_TOKEN: token, ...env },
    stderr: "pipe",
  });
  let printed = "";
  transport.stderr?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  const mcp: Mcp = {
    client,
    transport,
    stderr: () => printed,
    async call(name, input) {
      const result = await client.callTool({ name, arguments: input as Record<string, unknown> });
      const [content] = result.content as { type: string; text: string }[];
      const answer = JSON.parse(content?.text ?? "") as Record<string, unknown>;
      expect(result.structuredContent).toEqual(answer.ok ? { ok: true } : { ok: false, code: answer.code });
      expect(Boolean(result.isError)).toBe(!answer.ok);
      return answer;
    },
  };
  open.push(mcp);
  return mcp;
}

let made = 0;
async function slide(): Promise<string> {
  const id = `m${++made}`;
  await people.request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
  return id;
}
const claimsOn = async (id: string) =>
  (await people.request("GET", `/v1/claims?model=slide&id=${id}`)).claims as { actor: string; description: string }[];
const stored = async (id: string) => (await people.request("GET", `/v1/models/slide/${id}`)).data;

/** One host of each kind, because most tests need no separate process. */
const today = await startMcp({}, [], { versionNegotiation: { mode: { pin: "2026-07-28" } } });
const older = await startMcp({}, [], { versionNegotiation: { mode: "legacy" } });

test.each([
  { host: "today's", mcp: today },
  { host: "an older", mcp: older },
])("[AG7] $host host finds the five tools, with descriptions of the server's models", async ({ mcp }) => {
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    ["claim_record", "list_records", "read_record", "release_record", "update_record"].sort(),
  );
  const models = Object.keys(reference.models);
  for (const tool of tools)
    expect(tool).toMatchObject({
      description: expect.stringMatching(/.{40}/),
      inputSchema: { type: "object", properties: { model: { enum: models } } },
      annotations: {
        readOnlyHint: /^(read|list)/.test(tool.name),
        destructiveHint: tool.name === "update_record",
      },
    });
  expect(mcp.client.getInstructions()).toContain("stale_context");
  expect(mcp.stderr()).toContain(`serving ${models.length} models`);
});

test("[AG7] a record is read, claimed, updated and released over the protocol; the agent learns of a person's change in between", async () => {
  const id = await slide();
  const record = { model: "slide", id };
  const { call } = today;
  expect(await call("list_records", { model: "slide", where: { title: "Base" } })).toMatchObject({ ok: true });
  expect(await call("read_record", record)).toMatchObject({ ok: true, record: { title: "Base" } });
  await people.request("PATCH", `/v1/models/slide/${id}`, { data: { title: "Ann's" } });
  const update = () => call("update_record", { ...record, data: { title: "Mine" } });
  expect(await update()).toMatchObject({ ok: false, code: "stale_context", record: { title: "Ann's" } });
  expect(await update()).toMatchObject({ ok: true, status: "confirmed", record: { title: "Mine" } });
  expect(await call("claim_record", { ...record, reason: "Rewriting" })).toMatchObject({ ok: true });
  expect(await claimsOn(id)).toMatchObject([{ actor: "robot", description: "Rewriting" }]);
  expect(await call("release_record", record)).toEqual({ ok: true, released: true });
  expect(await claimsOn(id)).toEqual([]);
  expect(await stored(id)).toMatchObject({ title: "Mine" });
});

test("[AG7] an invalid request gets an error code, and the server continues", async () => {
  const { client, call } = older;
  const id = await slide();
  expect(await call("read_record", { model: "nothing", id })).toMatchObject({ ok: false, code: "invalid_input" });
  expect(await call("read_record", {})).toMatchObject({ ok: false, code: "invalid_input" });
  expect(await call("read_record", { model: "slide", id: "nowhere" })).toMatchObject({ code: "record_not_found" });
  await expect(client.callTool({ name: "drop_everything", arguments: {} })).rejects.toThrow(/drop_everything/);
  await until(async () => expect(await call("read_record", { model: "slide", id })).toMatchObject({ ok: true }));
});

test.each(["SIGTERM", "closed stdin"] as const)("[AG8] %s releases all claims and ends the process", async (how) => {
  const id = await slide();
  const { client, transport, call } = await startMcp();
  await until(async () => expect(await call("claim_record", { model: "slide", id })).toMatchObject({ ok: true }));
  expect(await claimsOn(id)).toHaveLength(1);
  if (how === "SIGTERM") process.kill(transport.pid ?? 0, "SIGTERM");
  else await client.close();
  await until(async () => expect(await claimsOn(id)).toEqual([]));
});

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

test("[AG12] a command supplies the token, and the next one after a revocation; without a token every tool returns needs_auth", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-token-"));
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
