/**
 * The limits that the SDK keeps itself; the others stand in `limits.ts`, which a browser does not load. Sizes in
 * bytes, spelled out: a product would keep this table in bundles that do not use it. Times in milliseconds.
 */
export const clientLimits = {
  operationsPerCommit: 100,
  readsPerCommit: 100,
  commitsPerBulk: 100,
  operationsPerBulk: 1_000,
  /** Added to an array by one change, and as many removed. */
  itemsPerChange: 1_000,
  jsonDepth: 64,
  keysPerObject: 1_000,
  idLength: 255,
  clientIdLength: 64,
  snapshotPage: 10_000,
  logPageMax: 1_000,
  /** How long the SDK sends a write by itself: a day less than receipts are kept. */
  resendMs: 2_505_600_000,
  /** What the SDK puts into one bulk request at most. */
  bulkBodyBytes: 262_144,
  claimTtlMaxMs: 3_600_000,
  claimWaitMs: 25_000,
  watchedPerModel: 500,
  presenceStateBytes: 4_096,
  /** Presence is told that often at most; the last state wins. */
  presencePerSecond: 20,
  /** How long a participant whose connection broke is still shown: a reload does not flicker. */
  presenceGraceMs: 5_000,
  pingMs: 25_000,
  pongMs: 5_000,
} as const;
