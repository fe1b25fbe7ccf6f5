import { type Static, Type } from "typebox";

/**
 * The endpoints that can be called on an open stream as well, by the same rules. Not those that answer with many
 * records or with secrets.
 */
export const STREAM_CALLS = [
  ...(["commit", "commitBulk", "readCommit", "queryRecords"] as const),
  ...(["acquireClaim", "acquireClaimOn", "renewClaim", "releaseClaim", "releaseRecord"] as const),
  ...(["readClaim", "listOwnClaims", "listClaims"] as const),
  ...(["readProposal", "acceptProposal", "rejectProposal", "withdrawProposal"] as const),
] as const;
export type StreamCall = (typeof STREAM_CALLS)[number];

/** A request on the stream. Its answer has the same `n`; until then no other call has it. */
export const Call = Type.Object(
  {
    frame: Type.Literal("call"),
    n: Type.Integer({ minimum: 0 }),
    /** The endpoint's name in the OpenAPI document, `operationId`. */
    name: Type.String({ maxLength: 64 }),
    /** The parts of the path, as `{ "model": "slide", "id": "a" }`. */
    params: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 512 }))),
    /** The query, as in a URL, without the question mark. */
    query: Type.Optional(Type.String()),
    body: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);
export type Call = Static<typeof Call>;

/** The answer to the call with this `n`: the status, headers and body of the same request over HTTP. */
export const AnswerFrame = Type.Object({
  frame: Type.Literal("answer"),
  n: Type.Integer(),
  status: Type.Integer(),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  body: Type.Unknown(),
});
export type AnswerFrame = Static<typeof AnswerFrame>;
