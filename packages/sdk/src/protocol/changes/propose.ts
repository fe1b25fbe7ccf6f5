import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";

/** The name of a branch: proposals with the same name belong together. */
export const BranchName = Type.String({ pattern: `^[^\\s\\0]{1,${limits.branchLength}}$` });

/** Makes a write a proposal, which changes nothing until it is accepted. */
export const Propose = Type.Union([
  Type.Literal(true),
  Type.Object(
    {
      /** Default: it belongs to none. */
      branch: Type.Optional(BranchName),
      /** Seconds until the proposal expires. Default 30 days. */
      ttlSeconds: Type.Optional(
        Type.Integer({ minimum: limits.proposalTtlMinSeconds, maximum: limits.proposalTtlMaxSeconds }),
      ),
    },
    { additionalProperties: false },
  ),
]);
export type Propose = Static<typeof Propose>;
