import { proposalLimits } from "./changes/proposal-limits.ts";
import { clientLimits } from "./client-limits.ts";
import { attributionLimits } from "./commits/attribution-problem.ts";
import { commitLimits } from "./commits/commit-limits.ts";
import { followedLimits } from "./log/followed-limits.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** The limits that both sides know. Sizes in bytes, times in milliseconds. */
export const limits = {
  ...clientLimits,
  ...commitLimits,
  ...attributionLimits,
  ...proposalLimits,
  bodyBytes: MiB,
  /** Of a page of records or entries, or of a frame of them, unless one alone has more. */
  pageBytes: 4 * MiB,
  /** Of the current values in one receipt. Those that do not fit are left out. */
  currentValuesBytes: MiB,
  /** Of the answer to a bulk, unless its first commit alone has more. Commits that do not fit are not tried. */
  bulkAnswerBytes: 4 * MiB,
  keyLength: 255,
  listDefault: 20,
  listMax: 100,
  listFilters: 100,
  sortKeys: 8,
  /** Of a query in JSON: conditions, their values together, and how deep `and` and `or` are nested. */
  queryConditions: 100,
  queryValues: 1_000,
  queryDepth: 10,
  /** Values in an answer that counts by a field. */
  countedValues: 1_000,
  logPage: 100,
  /** Positions that one request for the change feed looks at, shown or not. */
  logExamined: 10_000,
  logWaitMs: 25_000,
  ...followedLimits,
  schemaModels: 200,
  schemaFields: 200,
  schemaIndexes: 20,
  /** What a client says of its schema: 200 fingerprints with commas. */
  schemaSaidLength: 1_600,
  /** How long clients with an older schema get the names that they know, from the push of the next one. */
  olderSchemaMs: 2_592_000_000,
  /** Versions of a schema that are looked for: so many before the current one. */
  olderSchemas: 200,
  capabilityTtlSeconds: 600,
  ephemeralTtlSeconds: 900,
  tokenTtlMaxSeconds: 86_400,
  userMetaLength: 4 * KiB,
  claimTtlMinMs: 1_000,
  claimTtlMs: 60_000,
  /** However often it is renewed. */
  claimLongestMs: 86_400_000,
  claimActionLength: 255,
  claimDescriptionLength: 1_000,
  claimMetaBytes: 4 * KiB,
  /** Of one participant in one environment of its organization, held and waiting together. */
  claimsPerParticipant: 1_000,
  /** Waiting for one record. */
  claimsWaiting: 100,
  /** A waiter that showed no life for so long is passed over. */
  waiterSilentMs: 30_000,
  /** And after so long it loses its place. */
  waiterGoneMs: 300_000,
  /** Records whose claims the sockets of one token hear, in sum. */
  watchedPerToken: 10_000,
  /** Of those that its reader was told nothing of, on one socket. */
  watchedUnseen: 100,
  roomsPerSession: 20,
  /** Of a participant with more sessions in a room, those that spoke last are told. */
  presenceSessionsTold: 50,
  frameBytes: 64 * KiB,
  /** JSON values in a frame from a client. */
  frameValues: 5_000,
  /** Of all frames of a socket until its token is accepted. */
  helloBytes: 8 * KiB,
  helloMs: 5_000,
  /** Parts that one stream follows, and their conditions together, as JSON in characters. */
  parts: 500,
  partsLength: 65_536,
  partIdLength: 64,
  /** Parts that one frame names: those beyond 500 are refused, each by its id. */
  partsNamed: 1_000,
  /** Positions that a part may be behind to be told what it has missed. One further behind is read again. */
  partBehind: 10_000,
  /** Calls on one stream that are not answered yet. */
  callsInFlight: 8,
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
  /** Of a record as JSON, after every write. */
  recordBytes: 1_048_576,
  /** Of the records that one commit names, as JSON and together. */
  commitBytes: 33_554_432,
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
  rateFailedAuth: 50,
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
  /** Bytes of answers that are being written, or read slowly: of one token (64 MiB), and in all; 0: a quarter of the heap. */
  answerBytesPerToken: 67_108_864,
  answerBytes: 0,
  /** Open at once in one process, streams among them. */
  connections: 20_000,
  /**
   * Of these: so many that have shown no valid token yet, in all and from one address. Beyond it the oldest are closed.
   */
  connectionsAnonymous: 2_000,
  connectionsPerAddress: 200,
} as const;

export type ServerLimits = { readonly [name in keyof typeof serverLimits]: number };
