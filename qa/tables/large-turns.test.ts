import { expect, test } from "vitest";
import { createTurns } from "./large-turns.ts";

test("[DS19] each kind is due for one writer in each period, and again at once if it could not be done", () => {
  const turns = createTurns({ row: 30, transaction: 300 }, 1_000);
  expect(turns.take(1_009)).toBeUndefined();
  expect(turns.take(1_010)).toBe("row");
  expect(turns.take(1_010)).toBeUndefined();
  turns.missed("row");
  expect(turns.take(1_011)).toBe("row");
  expect(turns.take(1_100)).toBe("row");
  expect(turns.take(1_100)).toBe("transaction");
  expect(turns.take(1_129)).toBeUndefined();
});
