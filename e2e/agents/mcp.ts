import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect } from "vitest";
import { root } from "../../scripts/root.mjs";
import { startPeople } from "../clients/people.ts";

export interface Mcp {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  /** The result of a tool, and whether the protocol marks it as an error. */
  call(name: string, input: object): Promise<Record<string, unknown>>;
  stderr(): string;
}

const reference = JSON.parse(
  readFileSync(new URL("../../packages/server/reference-schema.json", import.meta.url), "utf8"),
) as { models: Record<string, unknown> };
/** The models of the server. */
export const models = Object.keys(reference.models);
export const { flags, file } = sourceProgram(join(root, "packages/agent/src/holdfast-mcp.ts"));

/** A server with the reference schema, and hosts that start the MCP program against it. */
export async function startMcpHosts() {
  const people = await startPeople();
  const open: Mcp[] = [];
  await people.request("POST", "/v1/schema", { models: reference.models });
  const body = { participantId: "robot", operations: ["*.*"], wideScope: true };
  const token = String((await people.request("POST", "/v1/capabilities", body)).token);
  afterAll(() => Promise.all(open.map(({ client }) => client.close())));

  /** The program, and the official client on the other end of its stdin and stdout. */
  async function start(
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
  return {
    people,
    token,
    start,
    /** Creates a separate record for a test. */
    async slide(): Promise<string> {
      const id = `m${++made}`;
      await people.request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
      return id;
    },
    claimsOn: async (id: string) =>
      (await people.request("GET", `/v1/claims?model=slide&id=${id}`)).claims as {
        actor: string;
        description: string;
      }[],
    stored: async (id: string) => (await people.request("GET", `/v1/models/slide/${id}`)).data,
  };
}
