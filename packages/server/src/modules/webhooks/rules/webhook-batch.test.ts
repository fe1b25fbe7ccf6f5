import fc from "fast-check";
import { expect, test } from "vitest";
import { cutBatch, type SizedEvent, webhookIdOf } from "./webhook-batch.ts";

const event = (syncId: number, bytes = 10): SizedEvent => ({ syncId, bytes });
const events = (count: number) => Array.from({ length: count }, (_, i) => event(i + 1));

test("[W5] up to a hundred, and up to 1 MiB with everything around them; a larger one alone", () => {
  expect(cutBatch([], 100)).toBeUndefined();
  expect(cutBatch(events(250), 100)).toMatchObject({ from: 1, to: 100 });
  expect(cutBatch(events(3), 100)).toMatchObject({ from: 1, to: 3 });
  const half = 1_048_576 / 2;
  // {"data":[ ],"logId":"log_…"} and the comma are 51 bytes.
  expect(cutBatch([event(1, half), event(2, half - 51)], 100)).toMatchObject({ from: 1, to: 2 });
  expect(cutBatch([event(1, half), event(2, half - 50)], 100)).toMatchObject({ from: 1, to: 1 });
  expect(cutBatch([event(7, 3 * half), event(8)], 100)).toMatchObject({ from: 7, to: 7 });
});

test("[W5] a body is never larger than it may be, and nothing is left out", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 2, max: 60 }), { minLength: 1, maxLength: 40 }), (sizes) => {
      const given = sizes.map((bytes, i) => event(i + 1, bytes));
      const taken = cutBatch(given, 20, 200)?.events ?? [];
      const body = `{"data":[${taken.map(({ bytes }) => "x".repeat(bytes)).join()}],"logId":"log_${"x".repeat(24)}"}`;
      expect(taken.length === 1 || body.length <= 200).toBe(true);
      expect(taken).toEqual(given.slice(0, taken.length));
      const next = given[taken.length];
      if (next && taken.length < 20) expect(body.length + 1 + next.bytes).toBeGreaterThan(200);
    }),
    { seed: 20_260_131 },
  );
});

test("[W6] the id of a batch contains the positions of its events", () => {
  expect(webhookIdOf("we_1", 3, { from: 5, to: 9 })).toBe("msg_we_1_3_5_9");
});
