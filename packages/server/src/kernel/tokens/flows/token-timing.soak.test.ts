import { expect, test } from "vitest";
import { base62 } from "../../../ids.ts";
import { ADMIN, startApp } from "../../../testing/app.ts";
import { isRefusal } from "../../refusal.ts";
import { tokenOf } from "../rules/token.ts";
import { createAuthenticator } from "./authenticate.ts";

const TRIES = 3_000;
const RANDOM = 30;
/** The last characters are left to chance, or chance would find the whole token. */
const MOST_SHARED = RANDOM - 8;

test("[K8] the time to refuse a wrong token does not depend on how much of it is right", async () => {
  const app = await startApp();
  const pool = app.pool(2);
  const authenticator = createAuthenticator(pool, ADMIN);
  const right = app.keys.live.slice("sk_live_".length, "sk_live_".length + RANDOM);
  const tried: { shared: number; ms: number }[] = [];
  for (let n = 0; n < TRIES; n++) {
    // In no order, so that a machine that slows down slows all alike. The checksum is right: the database is asked.
    const shared = Math.floor(Math.random() * (MOST_SHARED + 1));
    const token = tokenOf("sk_live_", right.slice(0, shared) + base62(RANDOM - shared));
    const begun = performance.now();
    const found = await authenticator.principalOf(token);
    tried.push({ shared, ms: performance.now() - begun });
    if (!isRefusal(found)) throw new Error("A made-up token was let in.");
  }
  // By rank: a pause of the machine is one late answer, not a slope.
  const sorted = tried.map(({ ms }) => ms).sort((a, b) => a - b);
  const ranked = tried.map(({ shared, ms }) => [shared, sorted.indexOf(ms)] as const);
  expect(Math.abs(correlation(ranked))).toBeLessThan(0.12);
});

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (of: (pair: readonly [number, number]) => number) =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const [x, y] = [mean(([a]) => a), mean(([, b]) => b)];
  const together = mean(([a, b]) => (a - x) * (b - y));
  return together / Math.sqrt(mean(([a]) => (a - x) ** 2) * mean(([, b]) => (b - y) ** 2));
}
