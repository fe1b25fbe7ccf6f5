import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";

const { call, url, keys } = await startApp();
const operations = Array.from({ length: 90 }, (_, i) => ({
  action: "create",
  model: "slide",
  id: `s${i}`,
  data: { title: `Slide ${i}`, notes: "words ".repeat(60) },
}));
await call("POST", "/v1/commits", { json: { operations } });

/** The answer as it comes over the wire: `fetch` would take the packing off. */
async function raw(path: string, accepted: string | undefined, method = "GET", json?: unknown) {
  const { request } = await import("node:http");
  return await new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const asked = request(
      `${url}${path}`,
      {
        method,
        headers: {
          authorization: `Bearer ${keys.live}`,
          ...(accepted !== undefined && { "accept-encoding": accepted }),
          ...(json !== undefined && { "content-type": "application/json" }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      },
    );
    asked.on("error", reject);
    asked.end(json === undefined ? undefined : JSON.stringify(json));
  });
}

test.each(["/v1/snapshot", "/v1/log?limit=100", "/v1/models/slide?limit=90", "/v1/models/slide?limit=10"])(
  "[G16] %s is packed for those who take it, and says the same as to the others",
  async (path) => {
    const plain = await raw(path, undefined);
    const packed = await raw(path, "br, gzip");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(packed.headers).toMatchObject({
      "content-encoding": "gzip",
      vary: expect.stringContaining("Accept-Encoding"),
    });
    expect(plain.headers.vary).toContain("Accept-Encoding");
    expect(packed.body.length).toBeLessThan(plain.body.length / 3);
    const said = (body: Buffer) => body.toString().replace(/"serverTime":"[^"]*"/, "");
    expect(said(gunzipSync(packed.body))).toBe(said(plain.body));
    expect((await raw(path, "gzip;q=0")).headers["content-encoding"]).toBeUndefined();
  },
);

test("[G16] small responses, and every response to a commit, are sent uncompressed", async () => {
  expect((await raw("/v1/models/slide?limit=1", "gzip")).headers["content-encoding"]).toBeUndefined();
  const commits = operations
    .slice(0, 20)
    .map((o) => ({ clientTxId: o.id, operations: [{ ...o, id: `${o.id}-again` }] }));
  const receipt = await raw("/v1/commits/bulk", "gzip", "POST", { commits });
  expect(receipt.body.length).toBeGreaterThan(1_024);
  expect(receipt.headers["content-encoding"]).toBeUndefined();
});
