import { expect, test } from "vitest";
import { mayGoBehind } from "./waiting-line.ts";

test.each([
  { what: "one alone waits for company", waiting: 1, present: 1, may: false },
  { what: "before anybody was answered, two are company", waiting: 2, present: 0, may: true },
  { what: "half of those who are here may go", waiting: 32, present: 64, may: true },
  { what: "fewer would make a third round", waiting: 31, present: 64, may: false },
  { what: "of very many, as many as a round takes", waiting: 128, present: 1_000, may: true },
  { what: "of very many, no fewer than a round takes", waiting: 127, present: 1_000, may: false },
])("a round goes out behind another: $what", ({ waiting, present, may }) => {
  expect(mayGoBehind(waiting, present, 128)).toBe(may);
});

test("a lane of one commit a round sends none behind another", () => {
  expect(mayGoBehind(64, 64, 1)).toBe(false);
});
