import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { deliver } from "./deliver.ts";
import { keyOf, newSecret } from "./sign.ts";

const key = keyOf(newSecret());
const batch = { from: 3, to: 4, body: '{"data":[]}' };
const never = new AbortController().signal;

async function handler(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?a=b`;
}
const send = (address: string, requestMs = 5_000) => deliver(batch, { address, key, signal: never, requestMs });

test.each([200, 202, 204, 299])("[W61] %d is taken", async (status) => {
  const address = await handler((_, response) => void response.writeHead(status).end());
  expect(await send(address)).toMatchObject({ taken: true, status, webhookId: "msg_local_1_3_4" });
});

test.each([400, 404, 410, 429, 500, 503])("[W61] %d is not, and what came with it is kept", async (status) => {
  const address = await handler((_, response) => void response.writeHead(status).end("boom"));
  expect(await send(address)).toMatchObject({
    taken: false,
    status,
    fault: { code: "unexpected_status", message: "boom" },
  });
});

test("[W61] a redirect is not followed", async () => {
  const asked: (string | undefined)[] = [];
  const address = await handler((request, response) => {
    asked.push(request.url);
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  expect(await send(address)).toMatchObject({ taken: false, status: 307, fault: { code: "redirected" } });
  expect(asked).toEqual(["/hooks?a=b"]);
});

test("[W61] why there was no answer is said in the words of the server's attempts", async () => {
  const silent = await handler(() => {});
  expect((await send(silent, 200)).fault).toEqual({ code: "timeout", message: "no answer in time" });
  const resetting = await handler((request) => void request.socket.resetAndDestroy());
  expect((await send(resetting)).fault?.code).toBe("connection_lost");
  const odd = createSocketServer((socket) => void socket.resume().end("HELLO\r\n\r\n")).listen(0, "127.0.0.1");
  await new Promise((resolve) => odd.once("listening", resolve));
  const { port } = odd.address() as AddressInfo;
  expect((await send(`http://127.0.0.1:${port}/`)).fault?.code).toBe("invalid_response");
  expect((await send(`https://127.0.0.1:${port}/`)).fault).toEqual({
    code: "tls_failed",
    message: "no secure connection: wrong version number",
  });
  await new Promise((resolve) => odd.close(resolve));
  expect((await send(`http://127.0.0.1:${port}/`)).fault?.code).toBe("connection_refused");
});

test("[W61] a 2xx counts, however slow or long what follows it is", async () => {
  const slow = await handler((_, response) => void response.writeHead(200).write("x"));
  const begun = performance.now();
  expect(await send(slow, 300)).toMatchObject({ taken: true, status: 200 });
  expect(performance.now() - begun).toBeLessThan(3_000);
  let ended = false;
  const endless = await handler((_, response) => {
    response.writeHead(200);
    const more = () => void response.write("x".repeat(4_096));
    const timer = setInterval(more, 1);
    response.on("close", () => {
      ended = true;
      clearInterval(timer);
    });
  });
  expect(await send(endless)).toMatchObject({ taken: true });
  await expect.poll(() => ended).toBe(true);
});

test("[W62] interrupted, it rejects at once", async () => {
  const address = await handler(() => {});
  const controller = new AbortController();
  const sending = deliver(batch, { address, key, signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await expect(sending).rejects.toThrow();
});

test("[W64] a port that fetch keeps away from is refused for good", async () => {
  await expect(send("http://127.0.0.1:6000/")).rejects.toThrow("is on a port that cannot be asked");
});
