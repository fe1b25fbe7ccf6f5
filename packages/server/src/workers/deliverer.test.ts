import { expect, test } from "vitest";
import type { DueEndpoint } from "../flows/deliver.ts";
import { startDeliverer } from "./deliverer.ts";

const due = (world: number, n: number): DueEndpoint => ({
  key: `${world}/${n}`,
  world,
  inMs: 0,
  what: { world, n } as unknown as DueEndpoint["what"],
});

test("[W24] endpoints of many tenants that hang delay a healthy one of another tenant by less than a second", async () => {
  const hostile = Array.from({ length: 40 }, (_, world) =>
    Array.from({ length: 20 }, (_, n) => due(world + 1, n)),
  ).flat();
  const healthy = due(1_000, 1);
  let isHealthyDue = false;
  let toldAt = 0;
  const hanging = new Map<number, number>();
  let mostOfWorld = 0;
  const deliverer = startDeliverer({
    told: async () => new Map([...hostile, healthy].map(({ world }) => [world, 20])),
    behind: async (worlds) =>
      [...hostile, ...(isHealthyDue ? [healthy] : [])].filter(({ world }) => worlds.includes(world)),
    deliver: async (what, { over }) => {
      const { world } = what as unknown as { world: number };
      if (world === healthy.world) {
        isHealthyDue = false;
        toldAt = performance.now();
        return undefined;
      }
      hanging.set(world, (hanging.get(world) ?? 0) + 1);
      mostOfWorld = Math.max(mostOfWorld, hanging.get(world) ?? 0);
      await new Promise((resolve) => over.addEventListener("abort", resolve));
      return undefined;
    },
    failed: (error) => {
      throw error;
    },
  });
  await expect.poll(() => hanging.size, { timeout: 5_000 }).toBeGreaterThanOrEqual(10);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (let n = 0; n < 3; n++) {
    isHealthyDue = true;
    const begun = performance.now();
    deliverer.wake(healthy.world);
    await expect.poll(() => isHealthyDue, { timeout: 5_000, interval: 10 }).toBe(false);
    expect(toldAt - begun).toBeLessThan(1_000);
  }
  expect(mostOfWorld).toBeLessThanOrEqual(20);
  await deliverer.stop();
}, 20_000);
