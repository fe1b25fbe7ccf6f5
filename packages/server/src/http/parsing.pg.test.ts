import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";

const app = await startApp();
const { call } = app;
const MOST = 4 * 1024 * 1024;
const many = (count: number, item: (i: number) => string) => Array.from({ length: count }, (_, i) => item(i)).join(",");
const inConfig = (id: string, config: string) =>
  `{"operations":[{"action":"create","model":"ingestionjob","id":"${id}","data":{"config":${config}}}]}`;

/** Milliseconds for which this process, with its server, had a processor: a busy machine makes them no more. */
const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** For how long the server worked without doing anything else in between, at most, while this was asked. */
async function longestPause(ask: () => Promise<unknown>): Promise<number> {
  let [longest, before] = [0, processorMs()];
  const noted = () => {
    const now = processorMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(noted, 1);
  await ask();
  noted();
  clearInterval(timer);
  return longest;
}

test.each<[string, string, number, string | undefined]>([
  ["a million empty arrays", `[${"[],".repeat(MOST / 3 - 1)}1]`, 400, "too_many_values"],
  ["as many as pass, where none belong", `[${many(99_999, () => "[]")}]`, 400, "invalid_body"],
  ["as many operations", `{"operations":[${many(99_990, () => "[]")}]}`, 400, "too_many_operations"],
  ["as many in a record", inConfig("arrays", `[${many(99_990, () => "[]")}]`), 200, undefined],
  ["as many numbers", inConfig("numbers", `[${many(99_990, (i) => String((i % 100) / 8))}]`), 200, undefined],
  ["as many keys", inConfig("keys", `{${many(99_990, (i) => `"key${i}":${i}`)}}`), 400, "invalid_value"],
  ["as many keys in small objects", inConfig("small", `[${many(33_000, (i) => `{"a":${i},"b":[]}`)}]`), 200, undefined],
  ["levels", `${"[".repeat(MOST / 2)}${"]".repeat(MOST / 2)}`, 400, "invalid_value"],
  ["digits", `[${"1".repeat(MOST - 2)}]`, 400, "invalid_value"],
  ["an open text", `["${"\\\\".repeat(MOST / 2 - 2)}`, 400, "invalid_json"],
])("[H12] a batch of 4 MiB blocks the event loop for less than 100 ms: %s", async (_, text, status, code) => {
  const bytes = Buffer.from(text);
  expect(bytes.length).toBeLessThanOrEqual(MOST);
  const ask = async () => {
    const answer = await call("POST", "/v1/commits", { bytes });
    expect(answer.status).toEqual(status);
    expect(answer.body.code).toEqual(code);
  };
  // The collector of garbage, which works beside the server, counts too: only the shortest is the server's own.
  let shortest = await longestPause(ask);
  for (let i = 0; i < 10 && shortest >= 100; i += 1) shortest = Math.min(shortest, await longestPause(ask));
  expect(shortest).toBeLessThan(100);
});
