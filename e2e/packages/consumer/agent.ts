// A Node program that uses the packages, type-checked against the packed files.
import { createTools, type ToolKit } from "@holdfast/agent";
import { createMcpServer } from "@holdfast/agent/mcp";
import { dehydrate, type Snapshot } from "@holdfast/react/server";
import type { Lease } from "@holdfast/sdk";
import { createClient, defineSchema, fileStorage } from "@holdfast/sdk/node";
import { limits } from "@holdfast/sdk/protocol";
import { createTestServer } from "@holdfast/sdk/testing";
import { createWebhookHandler } from "@holdfast/sdk/webhooks";
import { type RunningServer, startServer } from "@holdfast/server";
import reference from "@holdfast/server/reference-schema.json" with { type: "json" };

const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
const client = createClient({
  schema,
  url: "http://127.0.0.1:8787",
  getToken: () => "token",
  storage: fileStorage("./agent.db"),
});

// @ts-expect-error: there is no such field.
client.models.slide.create({ titel: "Hello" });

export async function rename(id: string, title: string): Promise<number | undefined> {
  await using lease: Lease<typeof schema, "slide"> = await client.models.slide.claim(id, { queue: true });
  return (await lease.update({ title }).receipt).lastSyncId;
}

export const handler = createWebhookHandler({
  secret: "whsec_",
  schema,
  onEvent: (event) => {
    const title: string | undefined = event.model === "slide" ? event.data?.title : undefined;
    console.log(title);
  },
});

export const start = (databaseUrl: string): Promise<RunningServer> =>
  startServer({ databaseUrl, adminToken: "admin", masterKeys: [] });

export const kit: ToolKit = createTools({ client, schema });
export const answer = kit.tools.read_record.execute({ model: "slide", id: "s1" });
export const mcp = createMcpServer(kit, "1.0.0");

export const page: Promise<Snapshot> = dehydrate(client, [["slide", { orderBy: "title" }]]);
// @ts-expect-error: there is no such field to order by.
export const noPage = dehydrate(client, [["slide", { orderBy: "titel" }]]);

export const { client: open } = createTestServer(schema);
export const pages: number = limits.bodyBytes;
export const models: string[] = Object.keys(reference.models);
