import { type Static, Type } from "typebox";
import { OnStale } from "./stale.ts";

export const ACTIONS = ["create", "update", "delete", "archive", "unarchive"] as const;
export type Action = (typeof ACTIONS)[number];

const Data = Type.Record(Type.String(), Type.Unknown());

/** One item of a commit. `data` is the whole entity on create and the changed fields on update. */
export const Operation = Type.Object(
  {
    action: Type.Union(ACTIONS.map((action) => Type.Literal(action))),
    model: Type.String(),
    id: Type.String(),
    data: Type.Optional(Data),
    readAt: Type.Optional(Type.Integer({ minimum: 0 })),
    onStale: Type.Optional(OnStale),
    claim: Type.Optional(Type.String()),
    idempotencyKey: Type.Optional(Type.String()),
    transactionId: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Operation = Omit<Static<typeof Operation>, "action"> & { action: Action };

/** A premise: "this row, these fields, or this group has not moved since `readAt`". */
export const Read = Type.Object(
  {
    model: Type.Optional(Type.String()),
    id: Type.Optional(Type.String()),
    group: Type.Optional(Type.String()),
    readAt: Type.Integer({ minimum: 0 }),
    fields: Type.Optional(Type.Array(Type.String())),
    onStale: Type.Optional(OnStale),
  },
  { additionalProperties: false },
);
export type Read = Static<typeof Read>;
