import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";
import { FollowedRecords } from "../log/followed-records.ts";
import { Call } from "./call-frames.ts";
import { Parts, Subscribe, Unsubscribe } from "./part-frames.ts";

const strict = { additionalProperties: false };
const Names = Type.Array(Type.String(), { maxItems: 200 });

/** The first frame on a stream. `since` absent: from now on. */
export const Hello = Type.Object(
  {
    frame: Type.Literal("hello"),
    token: Type.String(),
    clientId: Type.Optional(Type.String({ maxLength: limits.clientIdLength })),
    /** The log that `since` counts in. */
    log: Type.Optional(Type.String()),
    since: Type.Optional(Type.Integer({ minimum: 0 })),
    models: Type.Optional(Names),
    groups: Type.Optional(Names),
    /** Only these records of the models that it names. */
    where: Type.Optional(FollowedRecords),
    /** What is followed, in place of `models` and `where`. */
    parts: Type.Optional(Parts),
    /** After `welcome`, `subscribe` frames name the rest of the parts. The stream begins after the last of them. */
    more: Type.Optional(Type.Boolean()),
    /** The `viewHash` under which the rows up to `since` were read. If it differs, the response is `resync`. */
    view: Type.Optional(Type.String({ maxLength: 64 })),
    /** The schema that the client was built with, as in the header `Holdfast-Schema`. */
    schema: Type.Optional(Type.String({ maxLength: limits.schemaSaidLength })),
  },
  strict,
);
/** A new token, before the old one expires. */
export const Auth = Type.Object({ frame: Type.Literal("auth"), token: Type.String() }, strict);
/** Replaces the selection of models, groups and records. */
export const Follow = Type.Object(
  {
    frame: Type.Literal("follow"),
    groups: Type.Optional(Names),
    models: Type.Optional(Names),
    where: Type.Optional(FollowedRecords),
  },
  strict,
);
/** Watches the claims of these records of a model, instead of those watched before. */
export const Watch = Type.Object(
  {
    frame: Type.Literal("watch"),
    model: Type.String({ maxLength: 63 }),
    ids: Type.Array(Type.String(), { maxItems: limits.watchedPerModel }),
  },
  strict,
);
/** From now on, `proposals` frames say when proposals change that the reader may see. */
export const WatchProposals = Type.Object({ frame: Type.Literal("proposals") }, strict);
/** Enters a room (a sync group) or replaces the own state there; `state` null leaves it. */
export const Presence = Type.Object(
  {
    frame: Type.Literal("presence"),
    room: Type.String(),
    /** Up to 4 KiB of JSON. */
    state: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  },
  strict,
);
export const Ping = Type.Object({ frame: Type.Literal("ping"), n: Type.Integer() }, strict);

export const FrameUp = Type.Union([
  Hello,
  Auth,
  Follow,
  Subscribe,
  Unsubscribe,
  Watch,
  WatchProposals,
  Presence,
  Ping,
  Call,
]);
export type FrameUp = Static<typeof FrameUp>;
