import { connect } from "node:net";
import { expect, test } from "vitest";
import { rawRequest, startApp } from "../../testing/app.ts";

const app = await startApp({ origins: ["https://app.example", "capacitor://localhost", "https://*.tenants.example"] });
const { call, keys } = app;
const POST = "/v1/models/slide";

const MiB = 1024 * 1024;

test("[H13] a 413 reaches who sends on without listening: the rest is read and forgotten", async () => {
  const headers = { authorization: `Bearer ${keys.live}`, "content-type": "application/json" };
  for (let i = 0; i < 5; i += 1) {
    const answer = await fetch(app.url + POST, { method: "POST", headers, body: "x".repeat(20 * MiB) });
    expect(answer.status).toBe(413);
    expect(((await answer.json()) as { code: string }).code).toBe("request_too_large");
    const parts = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 20; n += 1) controller.enqueue(Buffer.alloc(MiB, "x"));
        controller.close();
      },
    });
    const streamed = await fetch(app.url + POST, {
      method: "POST",
      headers,
      body: parts,
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
  }
  // One that first sends all of it, slowly, and then listens.
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  const failed = new Promise<Error | undefined>((resolve) => {
    socket.on("error", resolve);
    socket.on("end", () => resolve(undefined));
  });
  socket.pause();
  socket.write(
    `POST ${POST} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\ncontent-type: application/json\r\ncontent-length: ${8 * MiB}\r\n\r\n`,
  );
  for (let n = 0; n < 32; n += 1) {
    await new Promise((sent) => socket.write(Buffer.alloc(MiB / 4, "x"), sent));
  }
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes("request_too_large")) socket.end();
  });
  socket.resume();
  expect(await failed).toBeUndefined();
  expect(heard).toMatch(/^HTTP\/1.1 413/);
  // What never ends is not read for ever.
  const endless = `POST ${POST} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n`;
  const text = await rawRequest(app.url, endless, 15_000);
  expect(text).toMatch(/^HTTP\/1.1 413[\s\S]*connection: close/i);
});

test("[H10] pages of allowed origins may call, others get no permission", async () => {
  const preflight = (origin: string | undefined, path = POST) =>
    call("OPTIONS", path, {
      token: null,
      headers: {
        ...(origin !== undefined && { origin }),
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
      },
    });
  const allowed = await preflight("https://app.example");
  expect(allowed.status).toBe(204);
  expect(allowed.headers["access-control-allow-origin"]).toBe("https://app.example");
  expect(allowed.headers["access-control-allow-methods"]).toContain("PATCH");
  expect(allowed.headers["access-control-allow-headers"]).toContain("idempotency-key");
  expect(allowed.headers["access-control-allow-credentials"]).toBeUndefined();
  for (const origin of ["capacitor://localhost", "https://a.tenants.example"])
    expect((await preflight(origin)).headers["access-control-allow-origin"]).toBe(origin);
  for (const origin of [
    "https://evil.example",
    "https://a.b.tenants.example",
    "http://localhost:3000",
    "null",
    undefined,
  ]) {
    const answer = await preflight(origin);
    expect(answer.status, String(origin)).toBe(204);
    expect(answer.headers["access-control-allow-origin"], String(origin)).toBe(undefined);
  }
  const got = await call("GET", "/v1/log", { headers: { origin: "https://app.example" } });
  expect(got.headers["access-control-expose-headers"]?.split(", ")).toEqual(
    expect.arrayContaining(["x-request-id", "idempotent-replayed", "holdfast-held", "retry-after", "ratelimit-limit"]),
  );
  const error = await call("GET", "/v1/log", { token: null, headers: { origin: "https://app.example" } });
  expect(error.headers["access-control-allow-origin"]).toBe("https://app.example");
  expect(error.headers.vary).toMatch(/origin/i);
});
