import { test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { sending, textOf } from "../../testing/raw-socket.ts";

const app = await startApp();
const SLIDES = "/v1/models/slide";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.concurrent("[B5] headers and bodies that arrive with pauses, but in time, are taken; slow ones end in time", async ({
  expect,
}) => {
  const { call, server } = await app.another({ limits: { headersMs: 10_000, requestMs: 12_000 } });
  const begun = performance.now();
  const slow = await sending(server.url, "GET /livez HTTP/1.1\r\nhost: x\r\n");
  const drip = setInterval(() => slow.write("x"), 100);
  const ended = textOf(slow).then((text) => ({ text, ms: performance.now() - begun }));
  const intime = await sending(server.url, "GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
  const head = `POST ${SLIDES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.keys.live}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  const body = '{"id":"b5","data":{}}';
  const slowBody = await sending(server.url, `${head}content-length: 100\r\n\r\n{`);
  const bodyEnded = textOf(slowBody).then((text) => ({ text, ms: performance.now() - begun }));
  const bodyInTime = await sending(server.url, `${head}content-length: ${body.length}\r\n\r\n{`);
  await pause(4_000);
  intime.write("\r\n");
  bodyInTime.write(body.slice(1));
  expect(await textOf(intime)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await textOf(bodyInTime)).toMatch(/^HTTP\/1\.1 200 /);
  expect((await call("GET", SLIDES)).status).toBe(200);
  const { text, ms } = await ended;
  clearInterval(drip);
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*took too long to arrive/);
  expect(ms).toBeGreaterThan(8_500);
  expect(ms).toBeLessThan(20_000);
  const late = await bodyEnded;
  expect(late.text).toMatch(/^HTTP\/1\.1 400 [\s\S]*took too long to arrive/);
  expect(late.ms).toBeGreaterThan(10_000);
  expect(late.ms).toBeLessThan(25_000);
});
