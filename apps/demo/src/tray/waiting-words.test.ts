import type { PendingMutation } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { waitingWords } from "./waiting-words.ts";

const waiting = (phase: PendingMutation["phase"], ...operations: PendingMutation["operations"]) =>
  waitingWords({ clientTxId: "t1", phase, operations, createdAt: 0, attempts: 0 }, (id) =>
    id === "s1" ? "One" : undefined,
  );
const slide = { model: "slide", id: "s1" };

test.each([
  [{ ...slide, action: "update", data: { title: "New" } }, "Change the title of “New”"],
  [{ ...slide, action: "update", data: { notes: "x" } }, "Change the text of “One”"],
  [{ ...slide, action: "update", data: { order: 2 } }, "Change the place of “One”"],
  [{ ...slide, action: "create", id: "s2", data: { title: "" } }, "Add a slide"],
  [{ ...slide, action: "delete" }, "Delete “One”"],
] as const)("%j", (operation, says) => {
  expect(waiting("queued", operation)).toEqual({ key: "t1", says, state: "saved here" });
});

test("a write of several operations shows its first, and how many more there are", () => {
  const one = { ...slide, action: "delete" } as const;
  expect(waiting("blocked", one, one, one)).toMatchObject({
    says: "Delete “One”, and 2 more",
    state: "waits for a decision",
  });
});
