import fc from "fast-check";
import { expect, test } from "vitest";
import { chunksOf, createJoiner, cutIntoChunks, NOTIFICATION_BYTES } from "./chunks.ts";

const text = fc.string({ unit: "binary", maxLength: 200 });

test("[P7] pieces keep the bytes of a notification, cut no character, and add up to the text", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 20 }), (whole, most) => {
      const chunks = cutIntoChunks(whole, most);
      expect(chunks.join("")).toBe(whole);
      for (const chunk of chunks) expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(most);
      for (const chunk of chunks) expect(Buffer.from(chunk).toString()).toBe(chunk);
    }),
    { seed: 20_260_131 },
  );
  for (const character of ["a", "é", "한", "🦊"])
    for (const chunk of chunksOf(1, character.repeat(9_000), NOTIFICATION_BYTES))
      expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(NOTIFICATION_BYTES);
});

test("[P7] a lost chunk loses only its own text, and senders do not affect each other", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("x", "y"), fc.string({ minLength: 1, maxLength: 300 })), { maxLength: 20 }),
      fc.infiniteStream(fc.nat(9)),
      (texts, random) => {
        const join = createJoiner();
        const expected: string[] = [];
        const received: string[] = [];
        texts.forEach(([sender, one], i) => {
          const chunks = chunksOf(i, one, 80);
          const survived = chunks.filter(() => random.next().value !== 0);
          if (survived.length === chunks.length) expected.push(`${sender} ${one}`);
          for (const chunk of survived) {
            const whole = join(sender, chunk);
            if (whole !== undefined) received.push(`${sender} ${whole}`);
          }
        });
        expect(received).toEqual(expected);
      },
    ),
    { seed: 20_260_131 },
  );
});

test("[P7] an invalid chunk is ignored", () => {
  const join = createJoiner();
  expect(join("x", "hello")).toBe(undefined);
  expect(join("x", "")).toBe(undefined);
  expect(join("x", "1 1 2 b")).toBe(undefined);
  expect(join("x", "2 0 1 whole\ntext")).toBe("whole\ntext");
});
