import fc from "fast-check";
import { expect, test } from "vitest";
import { bodyOf, cutBatch, webhookIdOf } from "./webhook-batch.ts";
import type { EventText } from "./webhook-event.ts";

const event = (syncId: number, bytes = 10): EventText => ({
  syncId,
  model: "slide",
  text: JSON.stringify("x".repeat(bytes - 2)),
  bytes,
});
const events = (count: number) => Array.from({ length: count }, (_, i) => event(i + 1));

test("[W5] up to a hundred, and up to 1 MiB with everything around them; a larger one alone", () => {
  expect(cutBatch([], 100)).toBeUndefined();
  expect(cutBatch(events(250), 100)).toMatchObject({ from: 1, to: 100 });
  expect(cutBatch(events(3), 100)).toMatchObject({ from: 1, to: 3 });
  const half = 1_048_576 / 2;
  // {"data":[ ]} and the comma are 12 bytes.
  expect(cutBatch([event(1, half), event(2, half - 12)], 100)).toMatchObject({ from: 1, to: 2 });
  expect(cutBatch([event(1, half), event(2, half - 11)], 100)).toMatchObject({ from: 1, to: 1 });
  expect(cutBatch([event(7, 3 * half), event(8)], 100)).toMatchObject({ from: 7, to: 7 });
});

test("[W5] the body is never larger than was counted, and reads as it was given", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 2, max: 60 }), { minLength: 1, maxLength: 40 }), (sizes) => {
      const given = sizes.map((bytes, i) => event(i + 1, bytes));
      const batch = cutBatch(given, 20, 200);
      const body = bodyOf(batch?.events ?? []);
      expect(batch?.events.length === 1 || body.length <= 200).toBe(true);
      expect(batch?.events).toEqual(given.slice(0, batch?.events.length));
      expect((JSON.parse(body) as { data: unknown[] }).data).toHaveLength(batch?.events.length as number);
    }),
  );
});

test("[W6] the name of a batch says what is in it", () => {
  expect(webhookIdOf("we_1", 3, { from: 5, to: 9 })).toBe("msg_we_1_3_5_9");
});
