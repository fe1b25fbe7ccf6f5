import { expect, test, vi } from "vitest";
import { startDeliverer } from "./deliverer.ts";
import type { DueEndpoint } from "./flows/deliver.ts";

const due = (tenant: number, n: number): DueEndpoint => ({
  key: `${tenant}/${n}`,
  tenant,
  inMs: 0,
  what: { tenant, n } as unknown as DueEndpoint["what"],
});

test("[W24] endpoints of many tenants that hang delay a healthy one of another tenant by less than a second", async () => {
  vi.useFakeTimers();
  const hostile = Array.from({ length: 40 }, (_, tenant) =>
    Array.from({ length: 20 }, (_, n) => due(tenant + 1, n)),
  ).flat();
  const healthy = due(1_000, 1);
  let isHealthyDue = false;
  let deliveredAt = 0;
  const hanging = new Map<number, number>();
  let mostOfTenant = 0;
  const deliverer = startDeliverer({
    endpointCounts: async () => new Map([...hostile, healthy].map(({ tenant }) => [tenant, 20])),
    behind: async (tenants) =>
      [...hostile, ...(isHealthyDue ? [healthy] : [])].filter(({ tenant }) => tenants.includes(tenant)),
    deliver: async (what, { over }) => {
      const { tenant } = what as unknown as { tenant: number };
      if (tenant === healthy.tenant) {
        isHealthyDue = false;
        deliveredAt = performance.now();
        return undefined;
      }
      hanging.set(tenant, (hanging.get(tenant) ?? 0) + 1);
      mostOfTenant = Math.max(mostOfTenant, hanging.get(tenant) ?? 0);
      await new Promise((resolve) => over.addEventListener("abort", resolve));
      return undefined;
    },
    failed: (error) => {
      throw error;
    },
  });
  await vi.advanceTimersByTimeAsync(1_500);
  expect(hanging.size).toBeGreaterThanOrEqual(10);
  for (let n = 0; n < 3; n++) {
    isHealthyDue = true;
    const begun = performance.now();
    deliverer.wake(healthy.tenant);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isHealthyDue).toBe(false);
    expect(deliveredAt - begun).toBeLessThan(1_000);
  }
  expect(mostOfTenant).toBeLessThanOrEqual(20);
  const stopped = deliverer.stop();
  await vi.advanceTimersByTimeAsync(3_000);
  await stopped;
});
