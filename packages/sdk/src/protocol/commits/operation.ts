import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";
import { ACTIONS, type Action } from "./action.ts";
import { OnStale } from "./stale.ts";

/** The whole record on create, the changed fields on update; other actions have none. `input` means the same. */
const Data = Type.Record(Type.String(), Type.Unknown());

const strict = { additionalProperties: false };
const Items = Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
  maxItems: limits.itemsPerChange,
});

/** A change of one field, applied to the value that is there when the write happens. */
export const FieldChange = Type.Union([
  Type.Object(
    {
      /** For a number or integer: how much is added. A value that is absent or null counts as 0. */
      increment: Type.Number(),
    },
    strict,
  ),
  Type.Object(
    {
      /** For an array: items that it shall have, each once; those that it lacks go to its end. */
      add: Type.Optional(Items),
      /** For an array: items that it shall not have. */
      remove: Type.Optional(Items),
    },
    strict,
  ),
]);

/** Field name → its change, of an update. Changes never conflict with those of others. */
export const FieldChanges = Type.Record(Type.String(), FieldChange);

/** One item of a commit. `data` is the whole entity on create and the changed fields on update. */
export const Operation = Type.Object(
  {
    /** `type` with the same words in capitals means the same. */
    action: Type.Union(ACTIONS.map((action) => Type.Literal(action))),
    /** A declared model, in any case. */
    model: Type.String(),
    /** Chosen by the client, also on create. The server generates one only for a `favorite` without id. */
    id: Type.Optional(Type.String()),
    data: Type.Optional(Data),
    /** Fields to change by what is there: see FieldChange. A field cannot be in `data` too. */
    changes: Type.Optional(FieldChanges),
    /** The log position that the operation is based on; absent: it is not checked. */
    readAt: Type.Optional(Type.Integer({ minimum: 0 })),
    onStale: Type.Optional(OnStale),
    /** Id of the claim that the operation is bound to. */
    claim: Type.Optional(Type.String()),
    /**
     * The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.
     */
    fenceToken: Type.Optional(Type.Integer({ minimum: 0 })),
    /** The operation's own key, separate from the commit's: a repeated operation is confirmed and changes nothing. */
    idempotencyKey: Type.Optional(Type.String()),
    /** The caller's name for what the operation belongs to; it stands in the log entry. */
    transactionId: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
/** As it is asked for. */
export type OperationBody = Omit<Static<typeof Operation>, "action"> & { action: Action };
/** As it happens: on one record. */
export type Operation = OperationBody & { id: string };

/** A premise: "this row, these fields, or this group has not moved since `readAt`". */
export const Read = Type.Object(
  {
    /** With `id`: the premise is on that record. */
    model: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    /** The premise is on everything in this sync group, `<kind>:<id>`. */
    group: Type.Optional(Type.String()),
    readAt: Type.Integer({ minimum: 0 }),
    /** Only these fields; absent: the record as a whole. */
    fields: Type.Optional(Type.Array(Type.String())),
    onStale: Type.Optional(OnStale),
  },
  { additionalProperties: false },
);
export type Read = Static<typeof Read>;
