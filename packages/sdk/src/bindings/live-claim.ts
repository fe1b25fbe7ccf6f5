import type { RecordClaims } from "../api/claims/claims-api.ts";
import type { SyncClient } from "../api/sync-client.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { ModelName } from "../protocol/schema/row-types.ts";
import { type LiveClaimState, liveClaimState } from "./live-claim-state.ts";
import type { AnyClient, LiveValue } from "./live-value.ts";
import { type ClaimView, claimView, type SharedClaimOptions, sharedClaim } from "./shared-claim.ts";

export interface LiveClaimOptions extends SharedClaimOptions {
  /** Claims only this field. */
  readonly field?: string | undefined;
  /** Claims the record, or waits for it, as long as a component shows it. */
  readonly auto?: boolean | undefined;
}

export interface LiveClaim extends LiveValue<LiveClaimState> {
  claim(): void;
  /** Claims with `preempt`: takes the claim from an agent at once, if the token allows it. */
  takeOver(): void;
  /** Releases the claim or leaves the claim queue. Writes under the claim reach the server first. */
  release(): void;
}

/**
 * The holder of a record or one of its fields, and this client's own claim on it. All components that show the same
 * record or field share one claim, which is released a moment after the last of them has gone. `"skip"` requests nothing.
 */
export function liveClaim<S extends ModelSchema>(
  client: SyncClient<S>,
  model: ModelName<S>,
  id: string | "skip",
  options: LiveClaimOptions = {},
): LiveClaim {
  return id === "skip" ? skipped : claimOn(client as unknown as AnyClient, model, id, options);
}

function claimOn(
  client: AnyClient,
  model: string,
  id: string,
  { field, auto = false, ...options }: LiveClaimOptions,
): LiveClaim {
  // Looked up for each call: a claim that was released is dropped and created anew.
  const find = () => sharedClaim(client, model, id, field);
  let last: { view: ClaimView; claims: RecordClaims; state: LiveClaimState } | undefined;
  return {
    read() {
      const view = claimView(client, model, id, field);
      const claims = client.claims.of(model, id);
      if (last?.view !== view || last.claims !== claims)
        last = { view, claims, state: liveClaimState(view, claims, field) };
      return last.state;
    },
    subscribe(listener) {
      const shared = find();
      const unsubscribes = [
        client.subscribe(listener),
        shared.subscribe(listener),
        client.claims.watch(model, [id]),
        shared.stay(auto ? options : undefined),
      ];
      return () => {
        for (const unsubscribe of unsubscribes) unsubscribe();
      };
    },
    claim: () => find().claim(options),
    takeOver() {
      // If this client already waits, request the claim again with `preempt`.
      if (claimView(client, model, id, field).phase === "waiting") find().release();
      find().claim({ ...options, preempt: true });
    },
    release: () => find().release(),
  };
}

const nothing = liveClaimState({ phase: "idle" }, { state: "unknown", holders: [], queue: [] }, undefined);
const skipped: LiveClaim = {
  read: () => nothing,
  subscribe: () => () => {},
  claim() {},
  takeOver() {},
  release() {},
};
