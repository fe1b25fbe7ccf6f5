import { expect, test } from "vitest";
import { createLimiter } from "./limiter.ts";

test("[L15] of one tenant only so much is done at a time, and the tenants that wait take turns", async () => {
  const turns = createLimiter({ most: 3, mostOfTenant: 2 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string, tenant: number) =>
    void turns.take(tenant, "token", () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  for (let n = 1; n <= 5; n++) work(`a${n}`, 1);
  work("b1", 2);
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  work("c1", 3);
  ends[0]?.();
  await expect.poll(() => begun.length).toBe(4);
  ends[2]?.();
  await expect.poll(() => begun.length).toBe(5);
  expect(begun.slice(3).sort()).toEqual(["a3", "c1"]);
  expect(turns.waiting).toBe(2);
});
