import type { ModelName, ModelSchema } from "@holdfast/sdk";
import { type LiveClaimOptions, type LiveClaimState, liveClaim } from "@holdfast/sdk/bindings";
import { useEffect, useMemo, useReducer } from "react";
import { stillClient } from "../hydration/inert-client.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSource } from "./use-source.ts";

export interface UseClaimOptions extends LiveClaimOptions {
  /** Renders once a second while the claim is held, so that `remainingMs` can be shown. */
  readonly tick?: boolean | undefined;
}

export interface ClaimState extends LiveClaimState {
  /** How long the claim is still reliable, as of this render. */
  readonly remainingMs: number;
  readonly claim: () => void;
  /** Claims with `preempt`: takes the claim from an agent at once, if the token allows it. */
  readonly takeOver: () => void;
  /** Releases the claim or leaves the claim queue. Writes under the claim reach the server first. */
  readonly release: () => void;
}

export type UseClaim<S extends ModelSchema> = (
  model: ModelName<S>,
  id: string | "skip",
  options?: UseClaimOptions,
) => ClaimState;

/**
 * The holder of a record or one of its fields, and this client's own claim on it. Components that claim the same record
 * or field share one claim, which is released a moment after the last of them unmounts. `"skip"` requests nothing.
 */
export const useClaim: UseClaim<ModelSchema> = (model, id, { tick = false, ...rest } = {}) => {
  const client = useClient();
  const options = useFirstOfEquals(rest);
  const live = useMemo(() => liveClaim(client, model, id, options), [client, model, id, options]);
  const state = useSource(live.subscribe, live.read, readFirst);
  const { lease } = state;

  const [, again] = useReducer((n: number) => n + 1, 0);
  const ticks = tick && lease !== undefined;
  useEffect(() => {
    if (!ticks) return;
    const timer = setInterval(again, 1_000);
    return () => clearInterval(timer);
  }, [ticks]);

  const { claim, takeOver, release } = live;
  return { ...state, remainingMs: lease?.remainingMs() ?? 0, claim, takeOver, release };
};

const readFirst = liveClaim(stillClient, "", "skip").read;
