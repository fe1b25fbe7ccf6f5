import type { ModelName, ModelSchema, RecordClaims } from "@holdfast/sdk";
import { useCallback, useEffect } from "react";
import { type IsEqual, shallowEqual } from "../equal.ts";
import { stillClient } from "../hydration/inert-client.ts";
import type { AnyClient } from "../model-of.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSource } from "./use-source.ts";

/** By record id. */
export type ClaimsById = Readonly<Record<string, RecordClaims>>;

export type UseClaims<S extends ModelSchema> = <T = ClaimsById>(
  model: ModelName<S>,
  ids: readonly string[],
  select?: (claims: ClaimsById) => T,
  isEqual?: IsEqual<T>,
) => T;

/**
 * The claims of these records by id, for badges in a list. The ids may be inline. Updates of many records arrive one by
 * one and are rendered together.
 */
export const useClaims: UseClaims<ModelSchema> = <T = ClaimsById>(
  model: string,
  given: readonly string[],
  select?: (claims: ClaimsById) => T,
  isEqual: IsEqual<T> = select ? shallowEqual : (sameClaims as IsEqual<unknown>),
) => {
  const client = useClient();
  const ids = useFirstOfEquals(given);
  useEffect(() => (ids.length > 0 ? client.claims.watch(model, ids) : undefined), [client, model, ids]);
  const subscribe = useCallback((listener: () => void) => inBatches(client.subscribe, listener), [client]);
  const ask = useCallback(() => claimsOf(client, model, ids), [client, model, ids]);
  const askFirst = useCallback(() => claimsOf(stillClient, model, ids), [model, ids]);
  return useSource(subscribe, ask, askFirst, select, isEqual);
};

const ASKING: RecordClaims = { state: "unknown", why: "asking", holders: [], queue: [] };

/** Treats "not watched yet" like "requested": it lasts only until the effect has run. */
const claimsOf = (client: AnyClient, model: string, ids: readonly string[]): ClaimsById =>
  Object.fromEntries(
    ids.map((id) => {
      const claims = client.claims.of(model, id);
      return [id, claims.state === "unknown" && claims.why === "not-watched" ? ASKING : claims];
    }),
  );

function sameClaims(a: ClaimsById, b: ClaimsById): boolean {
  const ids = Object.keys(a);
  return ids.length === Object.keys(b).length && ids.every((id) => isSame(a[id], b[id]));
}

/** Unknown claims are equal if their reasons are. */
const isSame = (a: RecordClaims | undefined, b: RecordClaims | undefined): boolean =>
  a === b || (a?.state === "unknown" && b?.state === "unknown" && a.why === b.why);

const BATCH_MS = 16;

/** Calls the listener once for all changes within a frame. */
function inBatches(subscribe: AnyClient["subscribe"], listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const off = subscribe(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      listener();
    }, BATCH_MS);
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}
