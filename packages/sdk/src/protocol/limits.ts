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
  /** How long the SDK sends a write by itself: a day less than receipts are kept. */
  resendMs: 2_505_600_000,
  /** What the SDK puts into one bulk request at most. */
  bulkBodyBytes: 256 * KiB,
  capabilityTtlSeconds: 600,
  ephemeralTtlSeconds: 900,
  tokenTtlMaxSeconds: 86_400,
  userMetaLength: 4 * KiB,
  claimTtlMs: 60_000,
  claimTtlMinMs: 1_000,
  claimTtlMaxMs: 3_600_000,
  /** However often it is renewed. */
  claimLongestMs: 86_400_000,
  claimActionLength: 255,
  claimDescriptionLength: 1_000,
  claimMetaBytes: 4 * KiB,
  claimWaitMs: 25_000,
  /** Waiting for one record. */
  claimsWaiting: 100,
  /** A waiter that showed no life for so long is passed over. */
  waiterSilentMs: 30_000,
  /** And after so long it loses its place. */
  waiterGoneMs: 300_000,
  watchedPerModel: 500,
  /** Records of all models together whose claims one socket hears. */
  watchedPerSession: 10_000,
  presenceStateBytes: 4 * KiB,
  /** Presence is told that often at most; the last state wins. */
  presencePerSecond: 20,
  roomsPerSession: 20,
  /** Of a participant with more sessions in a room, those that spoke last are told. */
  presenceSessionsTold: 50,
  /** How long somebody whose connection broke is still shown: a reload does not flicker. */
  presenceGraceMs: 5_000,
  frameBytes: 64 * KiB,
  helloMs: 5_000,
  pingMs: 25_000,
  pongMs: 5_000,
  framesPerSecond: 50,
  framesBurst: 200,
  slowReaderBytes: MiB,
  slowReaderMs: 10_000,
} as const;

/**
 * The limits that a server keeps for itself; its environment may set them. Times in milliseconds, rates per second,
 * 0 for no rate. `Sk`, `Rk`, `Ek`: for each secret key, capability, ephemeral key.
 */
export const serverLimits = {
  // 16 KiB, spelled out: a product would keep the whole table in a browser's bundle.
  headerBytes: 16_384,
  headerCount: 100,
  /** Until a request's headers are there. */
  headersMs: 20_000,
  /** Until the whole request is there. */
  requestMs: 120_000,
  /** A token may use up what it has not used for two seconds at once. */
  rateSk: 0,
  rateRk: 100,
  rateEk: 100,
  /** For each address: requests without a valid token. */
  rateStrangers: 50,
  inFlightSk: 1_024,
  inFlightRk: 32,
  inFlightEk: 32,
  /** Those beyond wait in order: so many of a token, and so long. */
  waitingPerToken: 1_024,
  waitingMs: 5_000,
  /** Requests that wait for news are counted apart. */
  longPollsSk: 2_000,
  longPollsRk: 100,
  longPollsEk: 100,
  socketsPerToken: 1_000,
  /** Open at once in one process, streams among them: those beyond are closed before they ask anything. */
  connections: 20_000,
} as const;

export type ServerLimits = { readonly [name in keyof typeof serverLimits]: number };
