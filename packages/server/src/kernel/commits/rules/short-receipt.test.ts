import type { CommitReceipt } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { keptReceipt, sentReceipt } from "./short-receipt.ts";

const confirmed: CommitReceipt = {
  object: "commit_receipt",
  clientTxId: "order-17",
  serverTxId: "stx_0123456789abcdefABCDEFGH",
  success: true,
  status: "confirmed",
  lastSyncId: 4_711,
  logId: "log_0123456789abcdefABCDEFGH",
  ops: 1,
};
const SHORT = '["stx_0123456789abcdefABCDEFGH",4711,"log_0123456789abcdefABCDEFGH",1]';

/** What is kept of a receipt, and what is made of it again. */
function kept(receipt: CommitReceipt, name: string) {
  const sent = JSON.stringify(receipt);
  const text = keptReceipt(sent, name, receipt);
  return { text, isWhole: text === sent, isSame: sentReceipt(text, name) === sent };
}

test("[I1] of a confirmed commit, only what differs from other receipts is kept, and the receipt is made of it again", () => {
  expect(keptReceipt(JSON.stringify(confirmed), "order-17", confirmed)).toBe(SHORT);
  expect(sentReceipt(SHORT, "order-17")).toBe(
    '{"object":"commit_receipt","clientTxId":"order-17","serverTxId":"stx_0123456789abcdefABCDEFGH","success":true,"status":"confirmed","lastSyncId":4711,"logId":"log_0123456789abcdefABCDEFGH","ops":1}',
  );
});

test.each<[what: string, receipt: Partial<CommitReceipt>, name: string]>([
  ["a name of all visible characters", { clientTxId: '!"\\[],{}~' }, '!"\\[],{}~'],
  ["a log that has moved far", { lastSyncId: Number.MAX_SAFE_INTEGER, ops: 1_000 }, "order-17"],
  ["a commit that wrote nothing in a log that is empty", { lastSyncId: 0 }, "order-17"],
])("[I1] the receipt of %s is kept short", (_, differing, name) => {
  expect(kept({ ...confirmed, ...differing }, name)).toMatchObject({ isWhole: false, isSame: true });
});

test.each<[what: string, receipt: Partial<CommitReceipt>, name: string]>([
  ["under a key that is not its clientTxId", {}, "another-key"],
  ["with ids that are missing", { missingIds: ["s1"] }, "order-17"],
  ["with an id that the server has made", { id: "fav_1" }, "order-17"],
  ["of a commit that is held", { success: false, status: "rejected", notifications: [] }, "order-17"],
  ["with a field that a later version adds", { later: true } as Partial<CommitReceipt>, "order-17"],
  ["with an id that JSON escapes", { serverTxId: 'stx_"' }, "order-17"],
  ["without a log", { logId: undefined } as unknown as Partial<CommitReceipt>, "order-17"],
  ["without a position", { lastSyncId: undefined } as unknown as Partial<CommitReceipt>, "order-17"],
])("[I1] the receipt %s is kept whole", (_, differing, name) => {
  expect(kept({ ...confirmed, ...differing }, name)).toMatchObject({ isWhole: true, isSame: true });
});

test("[I1] a receipt of an earlier version is given as it was kept", () => {
  const whole = JSON.stringify(confirmed);
  expect(sentReceipt(whole, "order-17")).toBe(whole);
});
