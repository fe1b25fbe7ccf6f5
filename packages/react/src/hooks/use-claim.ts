import type { LeaseRef, ModelName, ModelSchema, RecordClaims, SeenClaim, SyncError } from "@holdfast/sdk";
import { useCallback, useEffect, useMemo, useReducer } from "react";
import { stillClient } from "../hydration/inert-client.ts";
import { type ClaimView, claimView, type HookClaimOptions, sharedClaim } from "../shared-claim.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSource } from "./use-source.ts";

export interface UseClaimOptions extends HookClaimOptions {
  /** Claims only this field. */
  readonly field?: string | undefined;
  /** Claims the record, or waits for it, as long as the component is mounted. */
  readonly auto?: boolean | undefined;
  /** Renders once a second while the claim is held, so that `remainingMs` can be shown. */
  readonly tick?: boolean | undefined;
}

export interface ClaimState {
  /**
   * - `mine`: no other participant can write here.
   * - `waiting`: requested, or in the claim queue.
   * - `theirs`: another participant holds it.
   * - `lost`: it was mine; `error` says why it ended.
   * - `unknown`: the claims of others are not known, so it may not be free.
   */
  readonly status: "free" | "mine" | "waiting" | "theirs" | "lost" | "unknown";
  /** The holder, which may be this participant; after a loss, the new holder if it is known. */
  readonly holder: SeenClaim | undefined;
  /** While waiting: the number of participants ahead; 0 means next. */
  readonly position: number | undefined;
  readonly fence: number | undefined;
  /** How long the claim is still reliable, as of this render. */
  readonly remainingMs: number;
  /** Why the last claim failed or was lost. */
  readonly error: SyncError | undefined;
  /**
   * While the status is `mine`: pass it to writes, `update(id, patch, { claim: lease })`. A write after the claim has
   * ended becomes a conflict.
   */
  readonly lease: LeaseRef | undefined;
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
export const useClaim: UseClaim<ModelSchema> = (model, id, { field, auto = false, tick = false, ...rest } = {}) => {
  const client = useClient();
  const options = useFirstOfEquals(rest);
  const isAsked = id !== "skip";
  // Looked up for each call, not kept between renders: a claim that was released is dropped and created anew.
  const find = useCallback(() => sharedClaim(client, model, id, field), [client, model, id, field]);

  useEffect(() => (isAsked ? client.claims.watch(model, [id]) : undefined), [client, model, id, isAsked]);
  useEffect(() => (isAsked ? find().stay(auto ? options : undefined) : undefined), [find, isAsked, auto, options]);

  const subscribe = useCallback(
    (listener: () => void) => {
      const offs = isAsked ? [client.subscribe(listener), find().subscribe(listener)] : [];
      return () => {
        for (const off of offs) off();
      };
    },
    [client, find, isAsked],
  );
  const read = useMemo(() => {
    let last: { view: ClaimView; claims: RecordClaims; answer: ReturnType<typeof stateOf> } | undefined;
    return () => {
      const view = claimView(client, model, id, field);
      const claims = client.claims.of(model, id);
      if (last?.view !== view || last.claims !== claims) last = { view, claims, answer: stateOf(view, claims, field) };
      return last.answer;
    };
  }, [client, model, id, field]);
  const state = useSource(subscribe, read, readFirst);
  const { lease } = state;

  const [, again] = useReducer((n: number) => n + 1, 0);
  const ticks = tick && lease !== undefined;
  useEffect(() => {
    if (!ticks) return;
    const timer = setInterval(again, 1_000);
    return () => clearInterval(timer);
  }, [ticks]);

  const claim = useCallback(() => {
    if (isAsked) find().claim(options);
  }, [find, isAsked, options]);
  const takeOver = useCallback(() => {
    if (!isAsked) return;
    // If this client already waits, request the claim again with `preempt`.
    if (claimView(client, model, id, field).phase === "waiting") find().release();
    find().claim({ ...options, preempt: true });
  }, [client, model, id, field, find, isAsked, options]);
  const release = useCallback(() => {
    if (isAsked) find().release();
  }, [find, isAsked]);
  return { ...state, remainingMs: lease?.remainingMs() ?? 0, claim, takeOver, release };
};

const first = stateOf({ phase: "idle" }, stillClient.claims.of("", ""), undefined);
const readFirst = () => first;

/** The new holder as named by the loss. The record's claims may be unknown otherwise. */
function takerOf(view: ClaimView): SeenClaim | undefined {
  const [taker] = (view.phase === "lost" && view.error.claims) || [];
  return taker && { ...taker, isMine: false };
}

function stateOf(view: ClaimView, { state, holders }: RecordClaims, field: string | undefined) {
  const here = holders.filter((claim) => field === undefined || claim.field === undefined || claim.field === field);
  const other = here.find((claim) => !claim.isMine);
  const around = state === "unknown" ? "unknown" : other ? "theirs" : "free";
  const lease = view.phase === "held" ? view.lease : undefined;
  return {
    status: lease ? "mine" : view.phase === "waiting" || view.phase === "lost" ? view.phase : around,
    holder: lease ? (here.find((claim) => claim.id === lease.id) ?? other) : (other ?? here[0] ?? takerOf(view)),
    position: view.phase === "waiting" ? view.position : undefined,
    fence: lease?.fence,
    error: view.phase === "lost" || view.phase === "failed" ? view.error : undefined,
    lease,
  } as const;
}
