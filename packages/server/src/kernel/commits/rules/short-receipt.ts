import type { CommitReceipt } from "@holdfast/sdk/protocol";

/**
 * What is kept of a receipt under a name. Every commit writes one, and most differ from each other in four things, so only
 * these are kept. All others are kept as they were sent.
 */
export function keptReceipt(text: string, name: string, receipt: Varying): string {
  const { serverTxId, lastSyncId = 0, logId = "", ops = 0 } = receipt;
  const short: ShortReceipt = [serverTxId, lastSyncId, logId, ops];
  return fullText(name, short) === text ? JSON.stringify(short) : text;
}

/** The receipt as it was sent, byte for byte. */
export const sentReceipt = (kept: string, name: string): string =>
  kept.startsWith("[") ? fullText(name, JSON.parse(kept) as ShortReceipt) : kept;

type Varying = Pick<CommitReceipt, "serverTxId" | "lastSyncId" | "logId" | "ops">;
type ShortReceipt = readonly [serverTxId: string, lastSyncId: number, logId: string, ops: number];

/**
 * Never changes: what it makes of a short receipt has been sent once. The other texts need no escapes; if one did, the
 * receipt would be kept whole.
 */
const fullText = (name: string, [serverTxId, lastSyncId, logId, ops]: ShortReceipt): string =>
  `{"object":"commit_receipt","clientTxId":${JSON.stringify(name)},"serverTxId":"${serverTxId}","success":true,"status":"confirmed","lastSyncId":${lastSyncId},"logId":"${logId}","ops":${ops}}`;
