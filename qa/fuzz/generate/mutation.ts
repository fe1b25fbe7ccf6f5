import fc from "fast-check";
import { nastyText, nastyValue } from "./values.ts";

/** One thing that is done to a request after it was made, at a place that a number picks. */
export type Mutation =
  | BodyMutation
  | TextMutation
  | AddressMutation
  | { readonly kind: "header"; readonly at: number }
  | { readonly kind: "method"; readonly method: string }
  | { readonly kind: "hang up" };

export interface BodyMutation {
  readonly kind: (typeof BODY)[number];
  readonly at: number;
  readonly value: unknown;
}
export interface TextMutation {
  readonly kind: (typeof TEXT)[number];
  readonly at: number;
}
export interface AddressMutation {
  readonly kind: (typeof ADDRESS)[number];
  readonly at: number;
  readonly value: string;
}

/** To a value within the body. */
const BODY = ["set", "remove", "add key", "rename key", "wrap", "repeat"] as const;
/** To the body's bytes. */
const TEXT = ["cut", "garbage", "bad bytes", "huge number", "proto", "double key", "bom", "pad"] as const;
/** To the path and the query. */
const ADDRESS = [
  "segment",
  "more path",
  "raw path",
  "api",
  "case",
  "parameter",
  "more query",
  "raw query",
  "repeat query",
  "less query",
] as const;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];

const environment = fc.nat(1_000);

export const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constantFrom(...BODY), at: environment, value: nastyValue }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...TEXT), at: environment }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom(...ADDRESS), at: environment, value: nastyText }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("header" as const), at: environment }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("method" as const), method: fc.constantFrom(...METHODS) }) },
  { weight: 1, arbitrary: fc.nat(9).map((n): Mutation => (n === 9 ? { kind: "hang up" } : { kind: "header", at: n })) },
);
