import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { type BackendOptions, createBackend, SyncError } from "@holdfast/sdk/backend";
import { expect, onTestFinished, test } from "vitest";
import { startOperatedServer } from "./operated-server.ts";
import { schema } from "./people.ts";

const server = await startOperatedServer();
const key = await server.secretKey(await server.organization("ours"));
await createBackend({ url: server.url, key }).pushSchema(schema);

type Handler = (request: IncomingMessage, response: ServerResponse, asked: number) => void;

/** An address that answers as the test wants; `asked` counts the requests. */
async function address(handler: Handler) {
  let asked = 0;
  const strange = createServer((request, response) => handler(request, response, ++asked));
  await new Promise<void>((resolve) => strange.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    strange.closeAllConnections();
    strange.close();
  });
  const url = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`;
  const backend = (options: Partial<BackendOptions> = {}) => createBackend({ url, key, ...options });
  return { url, backend, asked: () => asked };
}

/** Gives each request the next of these statuses; 0: it breaks the connection. */
const answering = (statuses: readonly number[]) =>
  address((request, response, asked) => {
    const status = statuses[asked - 1] ?? 200;
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, { "retry-after": "0", "content-type": "application/json" });
    response.end('{"object":"ephemeral_key","token":"t"}');
  });

/** Between a backend and the real server: loses the first answer of each method and path, and passes on the rest. */
async function losingFirstAnswers() {
  const lost = new Set<string>();
  return address(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "GET", url = "" } = request;
    // The length is known by the body. A fetch whose dispatcher is of another version of undici would refuse it.
    const headers = Object.entries(request.headers).filter(
      ([name]) => !["host", "connection", "content-length"].includes(name),
    );
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const answer = await fetch(server.url + url, { method, headers: headers as [string, string][], body });
    const text = await answer.text();
    const name = `${method} ${url}`;
    if (!lost.has(name)) {
      lost.add(name);
      return void request.socket.destroy();
    }
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  });
}

const endpoint = { url: "https://example.com" };

test("[BE7] what does no harm twice is tried again; an endpoint is not registered twice", async () => {
  const broken = await answering([0, 503]);
  expect(await broken.backend().tokenFor("ann")).toBe("t");
  expect(broken.asked()).toBe(3);
  const hook = await answering([0]);
  await expect(hook.backend().webhooks.create(endpoint)).rejects.toThrow("not known");
  expect(hook.asked()).toBe(1);
  const busy = await answering([429, 503]);
  await expect(busy.backend().webhooks.create(endpoint)).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("answered 503"),
  });
  expect(busy.asked()).toBe(2);
});

test("[BE6] an address that answers, but not as Holdfast does, is said to", async () => {
  const page = await address((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"));
  await expect(page.backend().tokenFor("ann")).rejects.toMatchObject({
    code: "unavailable",
    status: 200,
    message: expect.stringMatching(/answered 200, but not as Holdfast does/),
  });
  const other = await address((_, response) => response.writeHead(200).end("{}"));
  await expect(other.backend().tokenFor("ann")).rejects.toThrow(/not as Holdfast does/);
  await expect(other.backend().webhooks.list()).rejects.toThrow(/not as Holdfast does/);
  const empty = await address((_, response) => response.writeHead(204).end());
  await expect(empty.backend().tokenFor("ann")).rejects.toThrow(/answered 204, but not as Holdfast does/);
});

test("[BE6] no message contains the key", () => {
  const open = (wrong: string) => () => createBackend({ url: server.url, key: wrong });
  for (const wrong of ["sk_live_secret\nX: y", "sk_live_secret\u0100", "sk_live_a secret", "sk_other_secret"]) {
    expect(open(wrong)).toThrow(/secret key/);
    expect(open(wrong)).not.toThrow(/_secret|a secret/);
  }
  // The end of a line in an .env file
  expect(open(`${key}\n`)).not.toThrow();
});

test("[BE6] no error that is logged shows the key, whichever way a call failed", async () => {
  const targets = [
    await answering([503, 503, 503]),
    await address((_, response) => response.writeHead(200).end("<html>")),
    await address(() => {}),
  ];
  const echoing = (request: Parameters<typeof fetch>[0]) =>
    Promise.reject(new TypeError(`fetch failed with ${(request as Request).headers.get("authorization")}`));
  const failing = [
    ...targets.map(({ backend }) => backend({ timeoutMs: 2_000 })),
    createBackend({ url: "http://127.0.0.1:1", key, timeoutMs: 500 }),
    createBackend({ url: server.url, key: `${key}x` }),
    createBackend({ url: server.url, key, timeoutMs: 500, fetch: echoing }),
  ];
  const errors = await Promise.all(failing.map((backend) => backend.identity().catch((error: unknown) => error)));
  for (const error of errors) {
    expect(error).toBeInstanceOf(SyncError);
    expect((error as SyncError).message).not.toContain(key);
  }
  for (const error of errors.slice(0, -1)) expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(key);
});

test("[BE9] a call ends in time if the server is silent or stops halfway", async () => {
  const took = async (handler: Handler) => {
    const { backend } = await address(handler);
    const before = performance.now();
    const error = await backend({ timeoutMs: 400 })
      .identity()
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      name: "SyncError",
      message: expect.stringMatching(/did not answer in time.*not known/),
    });
    return performance.now() - before;
  };
  const half =
    (status: number): Handler =>
    (_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.write('{"object":');
    };
  expect(await took(() => {})).toBeLessThan(2_000);
  expect(await took(half(200))).toBeLessThan(2_000);
  expect(await took(half(500))).toBeLessThan(2_000);
});

test("[BE9] a pause that is longer than the call may take is not waited for", async () => {
  const refusing = (seconds: string) =>
    address((_, response) => response.writeHead(429, { "retry-after": seconds }).end("{}"));
  const soon = await refusing("0");
  await expect(soon.backend().identity()).rejects.toMatchObject({ status: 429 });
  expect(soon.asked()).toBe(3);
  for (const seconds of ["3600", new Date(Date.now() + 3_600_000).toUTCString()]) {
    const later = await refusing(seconds);
    await expect(later.backend().identity()).rejects.toMatchObject({ status: 429 });
    expect(later.asked()).toBe(1);
  }
});

test("[BE10] a redirect is not followed, and the error names where it points", async () => {
  const target = await answering([]);
  const moved = await address((request, response) =>
    response.writeHead(301, { location: `${target.url}${request.url}` }).end(),
  );
  await expect(moved.backend().webhooks.create(endpoint)).rejects.toMatchObject({
    status: 301,
    message: expect.stringContaining(`redirects to ${target.url}/v1/webhook_endpoints`),
  });
  await expect(moved.backend().tokenFor("ann")).rejects.toThrow(/redirects to/);
  expect(target.asked()).toBe(0);
});

test("[BE11] an erasure or a deletion whose answer was lost reports what was done", async () => {
  const proxy = await losingFirstAnswers();
  const backend = proxy.backend();
  const direct = createBackend({ url: server.url, key });
  await direct.commit([{ action: "create", model: "slide", id: "e1", data: { title: "Secret" } }]);
  const receipt = await backend.erase("slide", "e1");
  expect(receipt).toMatchObject({ status: "confirmed" });
  expect(receipt.missingIds ?? []).toEqual([]);
  const { id } = await direct.webhooks.create(endpoint);
  await backend.webhooks.delete(id);
  expect(await direct.webhooks.list()).toEqual([]);
  await expect(direct.webhooks.delete(id)).rejects.toMatchObject({ code: "webhook_endpoint_not_found" });
  const agent = await direct.agentToken({ operations: ["slide.*"], syncGroups: ["deck:d1"] });
  expect(await backend.revoke({ capability: agent.id })).toMatchObject({ deleted: true });
  const operations = [{ action: "create" as const, model: "slide", id: "once", data: { title: "Once" } }];
  const named = { clientTxId: undefined } as unknown as { clientTxId: string };
  expect(await backend.commit(operations, named)).toMatchObject({ status: "confirmed" });
  expect(proxy.asked()).toBe(8);
});

test("[BE12] what cannot be sent is refused before anything is sent", async () => {
  const target = await answering([]);
  const withOptions = (options: Partial<BackendOptions>) => () => target.backend(options);
  for (const timeoutMs of [Number.NaN, -1, 0, 2 ** 31, 1.5])
    expect(withOptions({ timeoutMs })).toThrow(/timeoutMs must be a whole number from 1 to 2147483647/);
  for (const url of ["ftp://a.b", "http://ann:pass@a.b", "https://a.b?x=1", "https://a.b#c"])
    expect(withOptions({ url })).toThrow(/url must be/);
  const backend = target.backend();
  await expect(
    backend.commit([{ action: "create", model: "slide", id: "q", data: { title: 1n as unknown as string } }]),
  ).rejects.toMatchObject({ code: "invalid_options", message: expect.stringMatching(/BigInt/) });
  for (const id of ["", ".", "..", "\ud800"]) {
    await expect(backend.erase("slide", id)).rejects.toMatchObject({ code: "invalid_id", param: "id" });
    await expect(backend.erase(id, "s1")).rejects.toMatchObject({ code: "invalid_id", param: "model" });
    await expect(backend.webhooks.update(id, {})).rejects.toMatchObject({ code: "invalid_id" });
    await expect(backend.revoke({ capability: id })).rejects.toMatchObject({ code: "invalid_id" });
  }
  expect(target.asked()).toBe(0);
});
