import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";

/** Decides a proposal. */
export const Decide = Type.Object(
  {
    /** Its id. */
    proposal: Type.String({ maxLength: limits.keyLength }),
    /**
     * `accept`: the commit writes what it takes of the proposal: operations on the same records with some or all of their
     * fields, in any order; their values may be corrected. `reject`: the commit writes nothing.
     */
    how: Type.Union([Type.Literal("accept"), Type.Literal("reject")]),
    /** A word to the author. */
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: limits.reasonLength })),
  },
  { additionalProperties: false },
);
export type Decide = Static<typeof Decide>;
