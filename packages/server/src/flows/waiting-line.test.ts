import { expect, test } from "vitest";
import { enoughToGoBehind } from "./waiting-line.ts";

test.each([
  { what: "one that is alone waits for company", present: 1, enough: 2 },
  { what: "before anybody was answered, two are company", present: 0, enough: 2 },
  { what: "half of those who are here", present: 64, enough: 32 },
  { what: "rather one too many than a third round", present: 63, enough: 32 },
  { what: "never more than a round takes", present: 1_000, enough: 128 },
])("a round goes out behind another: $what", ({ present, enough }) => {
  expect(enoughToGoBehind(present, 128)).toBe(enough);
});
