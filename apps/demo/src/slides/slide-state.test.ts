import type { Conflict, PendingMutation, SyncStatus } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { slideStates } from "./slide-state.ts";

const write = (phase: PendingMutation["phase"], ...ids: string[]): PendingMutation => ({
  clientTxId: ids.join(),
  phase,
  operations: ids.map((id) => ({ action: "update", model: "slide", id })),
  createdAt: 0,
  attempts: 0,
});
const said = (pending: PendingMutation[], connection: SyncStatus["name"] = "online", disputed: string[] = []) =>
  Object.fromEntries(
    slideStates(
      pending,
      disputed.map((id) => ({ id }) as Conflict),
      connection,
    ),
  );

test.each([
  ["nothing is said of what is saved", said([]), {}],
  ["on its way", said([write("queued", "a"), write("sending", "b")]), { a: "Saving…", b: "Saving…" }],
  [
    "without a connection",
    said([write("queued", "a"), write("sending", "b")], "paused"),
    { a: "Waiting to be sent", b: "Saving…" },
  ],
  [
    "behind another",
    said([write("queued", "a"), write("blocked", "a", "b")]),
    { a: "Waits for a decision", b: "Waits for a decision" },
  ],
  [
    "a decision comes before all",
    said([write("blocked", "a")], "online", ["a", "c"]),
    { a: "Needs your decision", c: "Needs your decision" },
  ],
])("%s", (_, states, expected) => expect(states).toEqual(expected));
