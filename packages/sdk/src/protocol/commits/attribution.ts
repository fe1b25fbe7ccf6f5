import { Type } from "typebox";
import { attributionLimits } from "./attribution-problem.ts";

/** Why a commit or a claim was made: for people and audits. The server judges only who may name whom. */
export const attributionKeys = {
  /** Why, in a sentence for people. */
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: attributionLimits.reasonLength })),
  /** What the author is doing, by its own name: all that an agent changes for one request has the same one. */
  run: Type.Optional(Type.String({ minLength: 1, maxLength: attributionLimits.runLength })),
  /** For whom, `<kind>:<id>`. The token's `onBehalfOf` has to name them. The author stays the author. */
  onBehalfOf: Type.Optional(Type.String({ pattern: "^(user|agent|system):[^\\s]{1,255}$" })),
  /** The author's own notes, up to 4 KiB of JSON. */
  meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

/** What a change says of why it was made. */
export const changeKeys = {
  ...attributionKeys,
  /** The proposal that was accepted. Its decider is the author of the change. */
  proposal: Type.Optional(Type.String()),
  /** Who proposed it, `<kind>:<id>`. */
  proposedBy: Type.Optional(Type.String()),
};
