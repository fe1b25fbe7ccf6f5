import { expect, test } from "vitest";
import { readTtl } from "./ttl.ts";

test.each([
  [undefined, undefined],
  [1_000, 1_000],
  ["1s", 1_000],
  ["1000ms", 1_000],
  ["90s", 90_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["0060s", 60_000],
])("[A2] %j is %j ms", (ttl, ms) => expect(readTtl(ttl)).toBe(ms));

test.each([
  ...[0, -1, 999, 3_600_001, 1e12, 1_000.5, Number.NaN, "", "30", "s", "1.5s", "1e3ms", "30S", " 30s", "30s ", "2h"],
  ...["9999999999s"],
])("[A2] %j is no ttl", (ttl) => expect(readTtl(ttl)).toMatchObject({ code: "invalid_ttl", param: "ttl" }));
