import { expect, test, vi } from "vitest";
import { freshDatabase } from "../../testing/database.ts";
import { freezingProxy } from "../../testing/freezing-proxy.ts";
import { connectTo } from "./connection.ts";

test("[O15] a connection whose database does not respond for 7 s is closed, an idle one is not", async () => {
  const { url } = await freshDatabase();
  const proxy = await freezingProxy(url);
  const connection = await connectTo(proxy.url, {});
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await connection.query("select 1");
  await vi.advanceTimersByTimeAsync(60_000);
  await connection.query("select 1");
  proxy.freeze();
  let failure: unknown;
  const asked = connection.query("select 1").catch((error: unknown) => {
    failure = error;
  });
  await vi.advanceTimersByTimeAsync(6_999);
  expect(failure).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await asked;
  expect(String(failure)).toContain("The database connection stopped responding.");
  vi.useRealTimers();
  proxy.close();
});
