const KiB = 1024;
const MiB = 1024 * KiB;

/** The limits that both sides know. Sizes in bytes, times in milliseconds. */
export const limits = {
  bodyBytes: MiB,
  batchBodyBytes: 4 * MiB,
  operationsPerCommit: 100,
  readsPerCommit: 100,
  commitsPerBulk: 100,
  operationsPerBulk: 1_000,
  jsonDepth: 64,
  keysPerObject: 1_000,
  idLength: 255,
  keyLength: 255,
  clientIdLength: 64,
  listDefault: 20,
  listMax: 100,
  listFilters: 100,
  snapshotPage: 10_000,
  logPage: 100,
  logPageMax: 1_000,
  /** Positions that one request for the change feed looks at, shown or not. */
  logExamined: 10_000,
  logWaitMs: 25_000,
  schemaModels: 200,
  schemaFields: 200,
  /** What the SDK puts into one bulk request at most. */
  bulkBodyBytes: 256 * KiB,
  capabilityTtlSeconds: 600,
  ephemeralTtlSeconds: 900,
  tokenTtlMaxSeconds: 86_400,
  userMetaLength: 4 * KiB,
  frameBytes: 64 * KiB,
  helloMs: 5_000,
  pingMs: 25_000,
  pongMs: 5_000,
  framesPerSecond: 50,
  framesBurst: 200,
  slowReaderBytes: MiB,
  slowReaderMs: 10_000,
} as const;
