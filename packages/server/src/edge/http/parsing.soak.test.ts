import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { costlyBodies } from "../../testing/costly-bodies.ts";

const { call } = await startApp();

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

test.each(costlyBodies)(
  "[H12] a batch of 4 MiB blocks the event loop for less than 100 ms: %s",
  async (_, text, status) => {
    const bytes = Buffer.from(text);
    const ask = async () => expect((await call("POST", "/v1/commits", { bytes })).status).toBe(status);
    // The collector of garbage, which works beside the server, counts too: only the shortest is the server's own.
    let shortest = await longestPause(ask);
    for (let i = 0; i < 10 && shortest >= 100; i += 1) shortest = Math.min(shortest, await longestPause(ask));
    expect(shortest).toBeLessThan(100);
  },
);
