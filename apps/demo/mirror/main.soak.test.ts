import { expect, onTestFinished, test } from "vitest";
import { SeededRandom } from "../../../qa/support/seeded-random.ts";
import { deliverDuringKills, mirrorProcesses } from "./testing/mirror-process.ts";

const SEED = Number(process.env.MIRROR_SEED ?? Math.floor(Math.random() * 2 ** 31));

test("[W50] killed at any moment, the mirror's records are those of its position", async () => {
  console.info(`MIRROR_SEED=${SEED}`);
  const chance = new SeededRandom(SEED);
  const mirror = await mirrorProcesses();
  onTestFinished(() => mirror.close());
  const kills = Array.from({ length: 15 }, () => ({ answered: chance.below(3), afterMs: chance.below(40) }));
  for await (const { answer, position, records, expected, cursor } of deliverDuringKills(mirror, 6_000, kills)) {
    expect(answer ?? 200).toBe(200);
    expect(position).toBeGreaterThanOrEqual(cursor);
    expect(records).toEqual(expected);
  }
  expect(mirror.service.asked.filter((one) => one.startsWith("POST"))).toHaveLength(1);
});
