import { expect, test } from "vitest";
import { currentStage } from "./current-stage.ts";
import { localFailure } from "./failure.ts";

test("[D9] a conflict that an earlier version stored is a conflict", () => {
  expect(currentStage({ phase: "held", notifications: [], heldAfter: 7 })).toEqual({
    phase: "conflicted",
    notifications: [],
    conflictedAfter: 7,
  });
});

test("[D9] a rejected write that an earlier version stored is a rejected write", () => {
  const failure = localFailure("schema_changed", "The field is gone.");
  expect(currentStage({ phase: "parked", failure })).toEqual({ phase: "rejected", failure });
});

test("[D9] the other stages are as they were", () => {
  const rejected = { phase: "rejected", failure: localFailure("schema_changed", "The field is gone.") } as const;
  for (const stage of [{ phase: "saving" }, { phase: "queued" }, rejected] as const)
    expect(currentStage(stage)).toBe(stage);
});
