import { type Static, Type } from "typebox";

// What a server sends to an endpoint datasource: a service of the caller's own that has the records of some models. Each
// call is a signed POST of JSON; everything but an answer with status 200 counts as none.

/** Field name → value, without the id. */
const data = Type.Record(Type.String(), Type.Unknown());

/** A record as the service has it. */
export const SourceRecord = Type.Object({ id: Type.String({ minLength: 1, maxLength: 255 }), data });
export type SourceRecord = Static<typeof SourceRecord>;

/** A record of any model; `data` is null if it does not exist. */
const NamedRecord = Type.Object({
  model: Type.String(),
  id: Type.String(),
  data: Type.Union([data, Type.Null()]),
});

export const SourceOperation = Type.Object({
  /** A `create` has all fields in `data`, an `update` those that change, a `delete` none. */
  action: Type.Union([Type.Literal("create"), Type.Literal("update"), Type.Literal("delete")]),
  model: Type.String(),
  id: Type.String(),
  data: Type.Optional(data),
});
export type SourceOperation = Static<typeof SourceOperation>;

/** Changes that happen together or not at all. */
export const SourceCommit = Type.Object({
  /**
   * Unique in the datasource. The same commit may come again, also at the same time and long after: then it must not
   * happen again, and has the same result.
   */
  clientTxId: Type.String(),
  /** Who wrote it: `user:ann`, `agent:writer`. */
  writtenBy: Type.String(),
  operations: Type.Array(SourceOperation),
});
export type SourceCommit = Static<typeof SourceCommit>;

/** What became of a commit. */
export const SourceResult = Type.Union([
  Type.Object({
    clientTxId: Type.String(),
    status: Type.Literal("committed"),
    /** The records of the commit as they are now, if the service made something else of them. */
    records: Type.Optional(Type.Array(NamedRecord, { maxItems: 1_000 })),
  }),
  Type.Object({
    clientTxId: Type.String(),
    status: Type.Literal("refused"),
    /** For people: it comes to the author of the write. */
    message: Type.String(),
    /** For programs. */
    code: Type.Optional(Type.String({ maxLength: 255 })),
    /** Index of the operation that is at fault, and the field. */
    operation: Type.Optional(Type.Integer({ minimum: 0 })),
    field: Type.Optional(Type.String({ maxLength: 255 })),
  }),
]);
export type SourceResult = Static<typeof SourceResult>;

const page = { cursor: Type.Union([Type.String(), Type.Null()]), limit: Type.Integer({ minimum: 1 }) };

export const SourceCall = Type.Union([
  /** They are independent of each other: none waits for another, and each has its own result. */
  Type.Object({ type: Type.Literal("commit"), datasource: Type.String(), commits: Type.Array(SourceCommit) }),
  /** Some records as they are now; those that do not exist are left out. */
  Type.Object({
    type: Type.Literal("load"),
    datasource: Type.String(),
    model: Type.String(),
    ids: Type.Array(Type.String()),
  }),
  /** All records of a model, page by page. */
  Type.Object({ type: Type.Literal("list"), datasource: Type.String(), model: Type.String(), ...page }),
  /** Which records have changed since the cursor, also by other programs. A null cursor stands for the oldest known one. */
  Type.Object({ type: Type.Literal("events"), datasource: Type.String(), ...page }),
]);
export type SourceCall = Static<typeof SourceCall>;

/** The most that a call asks for. */
const MOST_RECORDS = 100;
/** A call asks for up to 100; a store whose transactions name many records may answer with more. */
const MOST_EVENTS = 10_000;
const CURSOR = { maxLength: 2_048 };

/** The answers, by the call's type. */
export const sourceAnswers = {
  commit: Type.Object({ results: Type.Array(SourceResult) }),
  load: Type.Object({ records: Type.Array(SourceRecord, { maxItems: MOST_RECORDS }) }),
  list: Type.Object({
    records: Type.Array(SourceRecord, { maxItems: MOST_RECORDS }),
    /** Null: there are no more. */
    cursor: Type.Union([Type.String(CURSOR), Type.Null()]),
  }),
  events: Type.Object({
    /** In any order, and a record may come twice: only that it changed counts. */
    events: Type.Array(Type.Object({ model: Type.String(), id: Type.String() }), { maxItems: MOST_EVENTS }),
    /** Where the next call goes on. */
    cursor: Type.Union([Type.String(CURSOR), Type.Null()]),
    /** There are more already. */
    more: Type.Optional(Type.Boolean()),
  }),
} as const;
export type SourceAnswers = { [K in keyof typeof sourceAnswers]: Static<(typeof sourceAnswers)[K]> };

/** What both sides keep to. Sizes in bytes, times in milliseconds. */
export const sourceLimits = {
  /** Endpoint datasources of one tenant. */
  endpoints: 5,
  commitsPerCall: 100,
  /** JSON of the commits of one call, unless a single one has more: a request's body bounds that. */
  commitBytes: 2 ** 23,
  idsPerLoad: MOST_RECORDS,
  pageSize: MOST_RECORDS,
  callBytes: 2 ** 24,
  answerBytes: 2 ** 24,
  connectMs: 5_000,
  requestMs: 10_000,
} as const;
