import type { LeaseRef, ModelName, ModelSchema, RecordClaims, SeenClaim, SyncError } from "@holdfast/sdk";
import { useCallback, useEffect, useMemo, useReducer } from "react";
import { stillClient } from "../hydration/inert-client.ts";
import { type ClaimView, claimView, type HookClaimOptions, sharedClaim } from "../shared-claim.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSource } from "./use-source.ts";

export interface UseClaimOptions extends HookClaimOptions {
  /** Claims this field only. */
  readonly field?: string;
  /** Claims, or waits, for as long as the component is there. */
  readonly auto?: boolean;
  /** Renders once a second while the claim is held, so that `remainingMs` can be shown. */
  readonly tick?: boolean;
}

export interface ClaimState {
  /**
   * `mine`: nobody else writes here. `waiting`: asked for, or in the line. `theirs`: somebody else holds it. `lost`: it
   * was mine, and `error` says why it is not any more. `unknown`: nothing is heard of others, so it is not called free.
   */
  readonly status: "free" | "mine" | "waiting" | "theirs" | "lost" | "unknown";
  /** Who holds it, also when it is this participant; after a loss who took over, as far as it was told. */
  readonly holder: SeenClaim | undefined;
  /** While waiting: how many are before; 0 is next. */
  readonly position: number | undefined;
  readonly fence: number | undefined;
  /** How long it may be relied on, as of this render. */
  readonly remainingMs: number;
  /** Why the last claim failed or was lost. */
  readonly error: SyncError | undefined;
  /** While it is mine: give it to writes, `update(id, patch, { claim: lease })`, and what the claim did not last for becomes a conflict. */
  readonly lease: LeaseRef | undefined;
  readonly claim: () => void;
  /** Claims with `preempt`, past the line: takes it from an agent at once, where this participant may. */
  readonly takeOver: () => void;
  /** Gives it up, or leaves the line; writes under it reach the server first. */
  readonly release: () => void;
}

export type UseClaim<S extends ModelSchema> = (
  model: ModelName<S>,
  id: string | "skip",
  options?: UseClaimOptions,
) => ClaimState;

/**
 * Who holds a record, or one field of it, and this client's own claim on it. All components that ask for the same share
 * one claim; it is given up a moment after the last of them has gone. `"skip"` asks for nothing.
 */
export const useClaim: UseClaim<ModelSchema> = (model, id, { field, auto = false, tick = false, ...rest } = {}) => {
  const client = useClient();
  const options = useFirstOfEquals(rest);
  const isAsked = id !== "skip";
  // Not kept from render to render: what was given up in between has been forgotten, and is made anew.
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
    // Whoever waits already asks anew: past the line.
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

/** Who took over, as the loss said: nothing else may be heard of the record. */
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
