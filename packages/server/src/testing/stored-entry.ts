import type { StoredEntry } from "../kernel/commits/rules/stored-entry.ts";

/** An entry of the log as the table has it, of a person without a device, a claim and groups, but for what is given. */
export const storedEntryOf = (
  given: Pick<StoredEntry, "syncId" | "model" | "id" | "verb" | "data"> & Partial<StoredEntry>,
): StoredEntry => ({
  changedFields: null,
  groups: [],
  groupsBefore: null,
  clientTxId: "t",
  clientId: null,
  transactionId: null,
  actor: "ann",
  participantKind: "user",
  claim: null,
  archivedAt: null,
  recordCreatedAt: null,
  recordCreatedBy: null,
  attribution: null,
  createdAt: "2026-01-02T03:04:05.678Z",
  ...given,
});
