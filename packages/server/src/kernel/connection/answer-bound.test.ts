import { expect, test } from "vitest";
import { ANSWER_BYTES, AnswerBound } from "./answer-bound.ts";

/** A message of the protocol with so many bytes of content. */
function message(kind: string, bytes: number): Buffer {
  const made = Buffer.alloc(5 + bytes, "x");
  made.write(kind, 0, "latin1");
  made.writeUInt32BE(4 + bytes, 1);
  return made;
}

const MiB = 1024 * 1024;

test("[DS67] what a listening connection is notified of belongs to no answer, however much it is", () => {
  const bound = new AnswerBound();
  const many = Buffer.concat(Array.from({ length: 1_000 }, () => message("A", 500)));
  for (let sent = 0; sent < 2 * ANSWER_BYTES; sent += many.length) expect(bound.take(many)).toBe(undefined);
});

test("[DS67] each answer is bounded by itself, however it is cut into pieces", () => {
  const bound = new AnswerBound();
  const row = message("D", 8 * MiB);
  const ready = message("Z", 1);
  const take = (bytes: Buffer) => bound.take(bytes.subarray(0, 3)) ?? bound.take(bytes.subarray(3));
  for (let answer = 0; answer < 3; answer++) {
    for (let n = 0; n < 31; n++) expect(take(row)).toBe(undefined);
    expect(take(ready)).toBe(undefined);
  }
  const taken = Array.from({ length: 33 }, () => take(row)?.message);
  expect(taken.slice(0, 31).every((problem) => problem === undefined)).toBe(true);
  expect(taken.at(-1)).toMatch(/more than 256 MiB in one answer/);
});
