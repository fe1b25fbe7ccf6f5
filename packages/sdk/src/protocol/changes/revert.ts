import { type Static, Type } from "typebox";
import { attributionKeys } from "../commits/attribution.ts";
import { limits } from "../limits.ts";

const Values = Type.Record(Type.String(), Type.Unknown());

/** Body of a revert: which changes to take back. Exactly one of `run`, `clientTxId` and `entries`. */
export const RevertBody = Type.Object(
  {
    /** All changes of this run. */
    run: attributionKeys.run,
    /** All changes of this commit, by the name that its author gave it. */
    clientTxId: Type.Optional(Type.String({ minLength: 1, maxLength: limits.keyLength })),
    /** All changes at these positions of the log, the first and the last. */
    entries: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { minItems: 2, maxItems: 2 })),
    /** Only those of this participant, `<kind>:<id>`. With `clientTxId`: whose commit it is; default: the caller. */
    actor: Type.Optional(Type.String({ pattern: "^(user|agent|system):[^\\s]{1,255}$" })),
    /** Says what it would do, and changes nothing. */
    dry: Type.Optional(Type.Boolean()),
    /** What becomes of records that the changes created. Default `delete`. */
    created: Type.Optional(Type.Union([Type.Literal("delete"), Type.Literal("archive")])),
    /** Takes back too what others have changed since. Default: those fields stay, and are listed. */
    overwrite: Type.Optional(Type.Boolean()),
    /** Why, for the entries that it writes. */
    reason: attributionKeys.reason,
  },
  { additionalProperties: false },
);
export type RevertBody = Static<typeof RevertBody>;

/** A record that was not taken back, or not as a whole. */
export const KeptRecord = Type.Object({
  /** As declared. */
  model: Type.String(),
  id: Type.String(),
  /**
   * `changed`: others have changed it since. `unknown`: the log does not reach back to what it was, or has too much since. `erased`: its values
   * were erased. `refused`: the write was refused.
   */
  why: Type.Union([Type.Literal("changed"), Type.Literal("unknown"), Type.Literal("erased"), Type.Literal("refused")]),
  /** Of `changed`: by field, the value before, the one that was set, and the one at present. */
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Object({ before: Type.Unknown(), set: Type.Unknown(), now: Type.Unknown() })),
  ),
  /** Of `refused`: one of the codes of errors, and its sentence. */
  code: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});
export type KeptRecord = Static<typeof KeptRecord>;

/** What a revert has done, or would do. */
export const Reverted = Type.Object({
  object: Type.Literal("revert"),
  dry: Type.Boolean(),
  /** The run of its own changes: it can be reverted too. */
  run: Type.String(),
  /** Changes that it was asked to take back, as far as the caller may read them. */
  entries: Type.Integer(),
  /** Records that they are on. */
  records: Type.Integer(),
  /** Records that it has changed; of a dry run, would change. */
  reverted: Type.Integer(),
  /** Records whose changes are proposals now, because the token may only propose. */
  proposed: Type.Optional(Type.Integer()),
  /** Of a dry run: by record, up to 1 000, what it would write. */
  would: Type.Optional(
    Type.Array(
      Type.Object({ action: Type.String(), model: Type.String(), id: Type.String(), data: Type.Optional(Values) }),
    ),
  ),
  /** Records that others have changed since, or that cannot be taken back; up to 1 000. */
  kept: Type.Array(KeptRecord),
  /** The position of its last change. */
  lastSyncId: Type.Integer(),
  /** Its time was over: the same request goes on. */
  has_more: Type.Boolean(),
});
export type Reverted = Static<typeof Reverted>;
