import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { ModelSchema } from "../protocol/model-schema.ts";
import { ModelServer } from "../testing/model-server.ts";
import { Device } from "../testing/simulated-device.ts";

// Devices and a server in one thread, driven by random choices: which effect happens next, what is lost, cut,
// repeated or late, when a device dies. Afterwards everything is let through, and all must agree.

const schema: ModelSchema = {
  models: {
    slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 }, notes: { type: "string" } } },
  },
};

const DEVICES = 3;
// Without bias: a run whose choices are mostly zeros writes a lot and loses nothing.
const choice = fc.noBias(fc.tuple(fc.nat(DEVICES - 1), fc.nat(99), fc.nat(999)));
const choices = fc.noBias(fc.array(choice, { minLength: 60, maxLength: 400 }));

function run(made: readonly (readonly [number, number, number])[], restores: boolean) {
  const server = new ModelServer(schema);
  let judged = 0;
  server.onCommit(() => {
    for (const { model, id, actor } of server.log.slice(judged))
      if (server.claims.of(model, id).claims.some((claim) => claim.actor !== actor))
        throw new Error(`${actor} wrote ${id} past somebody's claim.`);
    judged = server.head;
  });
  const devices = Array.from({ length: DEVICES }, (_, i) => new Device(`d${i}`, server, schema));
  for (const [who, kind, dice] of made) {
    const device = devices[who];
    if (restores && kind === 99 && dice < 300) server.restoreTo(dice % (server.head + 1), `log_${server.head}_${dice}`);
    else device?.act(kind, dice);
  }
  for (const device of devices) device.heal();
  // Everybody's last words have to reach everybody: three rounds are more than enough, a fourth that moves anything is a bug.
  for (let round = 0; round < 12; round++) for (const device of devices) device.letThrough();
  return { server, devices };
}

vi.setConfig({ testTimeout: 600_000 });
const RUNS = Number(process.env.HOLDFAST_SEEDS ?? 300);

test("[R8] [U10] devices that lose requests, receipts, frames, claims and their memory converge with the server", () => {
  let written = 0;
  let claimConflicts = 0;
  fc.assert(
    fc.property(choices, (made) => {
      const { server, devices } = run(made, false);
      for (const device of devices) {
        expect(device.rows()).toEqual(Object.fromEntries([...server.rows].map(([key, row]) => [key, row.data])));
        expect(device.shown()).toEqual(device.rows());
        expect(device.unsettled()).toEqual([]);
        expect(device.leftOnDisk()).toEqual([]);
        device.checkNothingLost();
      }
      // No name is in the log for the same record twice: one effect however often it was sent.
      const names = server.log.map((e) => `${e.actor} ${e.clientTxId} ${e.model}/${e.id} ${e.verb}`);
      expect(new Set(names).size).toBe(names.length);
      written += server.head;
      for (const device of devices) claimConflicts += device.claimConflicts;
    }),
    { numRuns: RUNS },
  );
  expect(written).toBeGreaterThan(RUNS * 3);
  // A world in which claims are never in the way would show nothing about them.
  expect(claimConflicts).toBeGreaterThan(RUNS / 6);
});

test("[R9] after a backup was restored under them, devices converge and lose no write silently", () => {
  fc.assert(
    fc.property(choices, (made) => {
      const { server, devices } = run(made, true);
      for (const device of devices) {
        expect(device.rows()).toEqual(Object.fromEntries([...server.rows].map(([key, row]) => [key, row.data])));
        expect(device.unsettled()).toEqual([]);
        expect(device.leftOnDisk()).toEqual([]);
      }
    }),
    { numRuns: RUNS },
  );
});
