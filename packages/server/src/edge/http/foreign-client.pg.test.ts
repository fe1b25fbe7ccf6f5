import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const folder = temporaryFolder("foreign-client");

/** A foreign client, with types that a public generator made from our OpenAPI document. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./interface.ts";

const [baseUrl, token] = process.argv.slice(2);
const { GET, POST, PATCH, DELETE } = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const said: unknown[] = [];

const created = await POST("/v1/models/slide", { body: { id: "f1", data: { title: "One", order: 1 } } });
const receipt: components["schemas"]["CommitReceipt"] | undefined = created.data;
said.push(receipt?.status);

const updated = await PATCH("/v1/models/slide/{id}", {
  params: { path: { id: "f1" }, header: { "Idempotency-Key": "k1" } },
  body: { data: { title: "Two" }, readAt: receipt?.lastSyncId ?? 0, onStale: "reject" },
});
said.push(updated.data?.status, updated.response.headers.get("x-request-id")?.slice(0, 4));

const listed = await GET("/v1/models/slide", { params: { query: { limit: 10, order_by: "title", order: "desc" } } });
for (const slide of listed.data?.data ?? []) {
  const title: string | undefined = slide.title;
  const order: number | undefined = slide.order;
  said.push([slide.id, title, order]);
}

const read = await GET("/v1/models/slide/{id}", { params: { path: { id: "f1" } } });
said.push(read.data?.data.title, read.data?.model, read.data?.syncId);

const log = await GET("/v1/log", { params: { query: { after: 0 } } });
said.push(log.data?.data.map(({ verb, syncId }) => [verb, syncId]));

const refused = await PATCH("/v1/models/slide/{id}", {
  params: { path: { id: "f1" } },
  body: { data: { title: "Three" }, readAt: 1 },
});
const envelope: components["schemas"]["ErrorEnvelope"] | undefined = refused.error;
said.push([refused.response.status, envelope?.code, envelope?.doc_url, envelope?.receipt?.status]);

const missing = await GET("/v1/models/slide/{id}", { params: { path: { id: "gone" } } });
said.push(missing.error?.code);

const removed = await DELETE("/v1/models/slide/{id}", { params: { path: { id: "f1" } } });
said.push(removed.data?.ops);

// Each of these has to be a fault to the compiler, or the types would promise nothing.
export const faults = () => [
  // @ts-expect-error no such field
  POST("/v1/models/slide", { body: { id: "f2", data: { colour: "red" } } }),
  // @ts-expect-error a number, not a text
  POST("/v1/models/slide", { body: { id: "f2", data: { order: "1" } } }),
  // @ts-expect-error the id is required
  POST("/v1/models/slide", { body: { data: {} } }),
  // @ts-expect-error required fields are missing
  POST("/v1/models/documentchunk", { body: { id: "c1", data: { content: "x" } } }),
  // @ts-expect-error no such column
  GET("/v1/models/slide", { params: { query: { order_by: "colour" } } }),
  // @ts-expect-error no such policy
  PATCH("/v1/models/slide/{id}", { params: { path: { id: "a" } }, body: { data: {}, onStale: "maybe" } }),
  // @ts-expect-error no such route
  GET("/v1/nothing"),
];

console.log(JSON.stringify(said));
`;

test("[E8] a client generated from the description creates, updates, lists, reads and is refused, all of it typed", async () => {
  const description = (await app.call("GET", "/openapi.json")).text;
  await writeFile(join(folder, "interface.ts"), astToString(await openapiTS(description)));
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await writeFile(join(folder, "package.json"), `{"type":"module"}`);
  await symlink(pathOf("../../../node_modules"), join(folder, "node_modules"), "dir");
  const options = {
    target: "es2023",
    module: "nodenext",
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
    types: ["node"],
    typeRoots: [pathOf("../../../../../node_modules/@types")],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));

  expect(await outputOf(pathOf("../../../../../node_modules/typescript/bin/tsc"), "-p", folder)).toBe("");
  const said = await outputOf(
    "--import",
    pathOf("../../../../../node_modules/tsx/dist/loader.mjs"),
    join(folder, "program.ts"),
    app.url,
    app.keys.live,
  );
  expect(JSON.parse(said)).toEqual([
    "confirmed",
    "confirmed",
    "req_",
    ["f1", "Two", 1],
    "Two",
    "slide",
    2,
    [
      ["created", 1],
      ["updated", 2],
    ],
    [409, "stale_context", `${app.url}/docs/errors#stale_context`, "rejected"],
    "record_not_found",
    1,
  ]);
});

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** What a Node program prints; its complaints are the failure. */
async function outputOf(...words: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, words, { cwd: folder })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${words[0]} failed:\n${stdout}${stderr}`);
  }
}
