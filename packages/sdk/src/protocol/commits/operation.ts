import { type Static, Type } from "typebox";
import { OnStale } from "./stale.ts";

export const ACTIONS = ["create", "update", "delete", "archive", "unarchive"] as const;
export type Action = (typeof ACTIONS)[number];

/** The whole record on create, the changed fields on update; other actions have none. `input` means the same. */
const Data = Type.Record(Type.String(), Type.Unknown());

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
