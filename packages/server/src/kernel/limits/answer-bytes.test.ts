import { expect, test } from "vitest";
import { createAnswerBytes } from "./answer-bytes.ts";

const KiB = 1_024;

test("[B11] the answers of a token have so many bytes together, until they have left", () => {
  const answers = createAnswerBytes({ perToken: 100 * KiB, total: 1_000 * KiB });
  const [one, two, three] = [answers.open("a"), answers.open("a"), answers.open("a")];
  expect(one.trySend(60 * KiB)).toBe(true);
  expect(two.trySend(60 * KiB)).toBe(false);
  expect(three.trySend(40 * KiB)).toBe(true);
  expect(two.hasRoom()).toBe(false);
  expect(answers.open("b").hasRoom()).toBe(true);
  one.close();
  one.close();
  expect(two.hasRoom()).toBe(true);
  expect(two.trySend(60 * KiB)).toBe(true);
  two.close();
  three.close();
  expect(answers.bytes).toBe(0);
});

test("[B11] one token gets at most half of what the process has, and small answers to others are always sent", () => {
  const answers = createAnswerBytes({ perToken: 1_000 * KiB, total: 200 * KiB });
  expect(answers.open("a").trySend(90 * KiB)).toBe(true);
  expect(answers.open("a").trySend(20 * KiB)).toBe(false);
  expect(answers.open("b").trySend(90 * KiB)).toBe(true);
  expect(answers.open("c").trySend(30 * KiB)).toBe(false);
  for (let i = 0; i < 6; i++) expect(answers.open("c").trySend(16 * KiB)).toBe(true);
});

test("[B11] an answer that is alone may have any size", () => {
  const answers = createAnswerBytes({ perToken: 10 * KiB, total: 20 * KiB });
  const large = answers.open("a");
  expect(large.trySend(50_000 * KiB)).toBe(true);
  expect(answers.open("a").trySend(1)).toBe(false);
  large.close();
  expect(answers.open("a").trySend(50_000 * KiB)).toBe(true);
});

test("[B11] what is made counts as much as what is sent, and counts once", () => {
  const answers = createAnswerBytes({ perToken: 100 * KiB, total: 1_000 * KiB });
  const answer = answers.open("a");
  const [first, second] = [answer.share(), answer.share()];
  first.take(30 * KiB);
  first.take(40 * KiB);
  second.take(10 * KiB);
  expect(answers.bytes).toBe(50 * KiB);
  expect(first.room()).toEqual({ inFlight: 90 * KiB, others: 10 * KiB });
  expect(answers.open("a").trySend(60 * KiB)).toBe(false);
  answer.send(55 * KiB);
  expect(answers.bytes).toBe(55 * KiB);
  answer.close();
  // A commit that is judged after its client has gone.
  second.take(10 * KiB);
  answer.send(10 * KiB);
  expect(answers.bytes).toBe(0);
});
