import { expect, test } from "vitest";
import { startApp } from "../../../testing/app.ts";

const app = await startApp();

test("[C15] a tenant whose head is held delays the writes of others by no more than one short try for it", async () => {
  const write = (id: string, token?: string) =>
    app.call("POST", "/v1/models/slide", { json: { id, data: {} }, key: id, ...(token !== undefined && { token }) });
  const holder = await app.hold(`select 1 from holdfast.head h join holdfast.tenant w on w.id = h.tenant
    where w.organization = '${app.organization}' and w.livemode for update of h`);
  const begun = performance.now();
  const stuck = write("stuck").then((answer) => ({ ...answer, after: performance.now() - begun }));
  let slowest = 0;
  for (let n = 0; performance.now() - begun < 4_000; n++) {
    const asked = performance.now();
    expect((await write(`free-${n}`, app.keys.test)).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - asked);
  }
  expect(slowest).toBeLessThan(1_500);
  const { status, after } = await stuck;
  expect(status).toBe(503);
  expect(after).toBeGreaterThan(4_000);
  expect(after).toBeLessThan(15_000);
  await holder.release();
});
