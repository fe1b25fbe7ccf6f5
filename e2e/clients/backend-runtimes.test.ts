import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../scripts/root.mjs";

/** What Node, Bun, Deno and edge runtimes have in common. */
const webGlobals = {
  ...{ fetch, Request, Response, Headers, FormData, Blob, ReadableStream, TransformStream },
  ...{ URL, URLSearchParams, AbortController, AbortSignal, DOMException, TextEncoder, TextDecoder },
  ...{ crypto, performance, setTimeout, clearTimeout, atob, btoa },
};

test("[BE15] a backend needs only Web APIs", async () => {
  const bundle = await build({
    entryPoints: [join(root, "packages/sdk/src/backend/index.ts")],
    // Fails at an import of a module of Node
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["holdfast-source"],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "backendModule",
    footer: { js: "globalThis.createBackend = backendModule.createBackend;" },
  });
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.writeHead(200, { "content-type": "application/json" }).end('{"object":"commit_receipt","ops":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const context = createContext({ ...webGlobals, url });
  runInContext(bundle.outputFiles[0]?.text ?? "", context);
  const operations = `[{ action: "create", model: "slide", id: "s1", data: {} }]`;
  const program = `createBackend({ url, key: "sk_test_x" }).commit(${operations})`;
  expect(await runInContext(program, context)).toMatchObject({ object: "commit_receipt" });
  expect(bodies).toHaveLength(1);
  expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ clientTxId: expect.stringMatching(/^[\w-]{36}$/) });
});
