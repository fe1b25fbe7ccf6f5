import { expect, test } from "vitest";
import { storedEntryOf } from "../../../testing/stored-entry.ts";
import { commitOf, create, emptyTenant, NOW, write } from "../../../testing/tenant.ts";
import { leftText, storedEntry, storedEntryText } from "./stored-entry.ts";

test("[L3] a log entry is the same from the round and from the table", () => {
  const commit = commitOf([], { clientId: "tab_1", clientTxId: "tx 1" });
  const { decision } = write(emptyTenant(), [create("slide", "s1", { title: 'a "quoted" \u2028 title' })]);
  if (decision.kind !== "confirmed") throw new Error(decision.kind);
  const entry = decision.entries[0]!;
  const fresh = JSON.parse(storedEntryText(storedEntry(commit, entry, NOW), "Slide")) as object;
  const stored = storedEntryText(
    storedEntryOf({
      ...{ syncId: 1, model: "slide", id: "s1", verb: "created", data: JSON.stringify(entry.after?.data) },
      ...{ clientTxId: "tx 1", clientId: "tab_1", createdAt: NOW },
    }),
    "Slide",
  );
  expect(JSON.parse(stored)).toEqual(fresh);
  expect(fresh).toEqual({
    object: "log_entry",
    syncId: 1,
    model: "Slide",
    id: "s1",
    verb: "created",
    data: { id: "s1", title: 'a "quoted" \u2028 title', order: 0 },
    changedFields: null,
    clientTxId: "tx 1",
    clientId: "tab_1",
    transactionId: null,
    actor: "ann",
    participantKind: "user",
    claim: null,
    createdAt: NOW,
  });
  expect(JSON.parse(leftText(stored))).toEqual({ ...fresh, left: true });
});
