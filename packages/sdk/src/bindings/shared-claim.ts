import type { ClaimOptions, Lease } from "../api/claims/claims-api.ts";
import type { SyncError } from "../errors.ts";
import type { AnyClient } from "./live-value.ts";

/** This client's claim on one record or field. */
export type ClaimView =
  | { readonly phase: "idle" }
  | { readonly phase: "waiting"; readonly position: number | undefined }
  | { readonly phase: "held"; readonly lease: Lease }
  | { readonly phase: "lost"; readonly error: SyncError }
  | { readonly phase: "failed"; readonly error: SyncError };

export type SharedClaimOptions = Omit<ClaimOptions, "field" | "signal" | "onPosition">;

/** One claim for all components that show the same record or field. */
export interface SharedClaim {
  view(): ClaimView;
  subscribe(listener: () => void): () => void;
  /** Registers a component. A moment after the last one has unmounted, the claim is released. */
  stay(auto: SharedClaimOptions | undefined): () => void;
  claim(options: SharedClaimOptions): void;
  release(): void;
}

/** StrictMode, a changed key and a double click unmount and mount again within this time. */
const LINGER_MS = 100;

const IDLE: ClaimView = { phase: "idle" };

const shared = new WeakMap<AnyClient, Map<string, SharedClaim>>();

/** Reads the view without creating a claim, because rendering must have no side effects. */
export const claimView = (client: AnyClient, model: string, id: string, field: string | undefined): ClaimView =>
  shared
    .get(client)
    ?.get(keyOf(model, id, field))
    ?.view() ?? IDLE;

const keyOf = (model: string, id: string, field: string | undefined) => `${model}/${id}#${field ?? ""}`;

export function sharedClaim(client: AnyClient, model: string, id: string, field: string | undefined): SharedClaim {
  const known = shared.get(client) ?? new Map<string, SharedClaim>();
  shared.set(client, known);
  const key = keyOf(model, id, field);
  const found = known.get(key) ?? makeShared(client, model, id, field, () => known.delete(key));
  known.set(key, found);
  return found;
}

function makeShared(
  client: AnyClient,
  model: string,
  id: string,
  field: string | undefined,
  forget: () => void,
): SharedClaim {
  const listeners = new Set<() => void>();
  const autos: SharedClaimOptions[] = [];
  let view = IDLE;
  /** Whether it was claimed because of `auto`, and not by an explicit call. */
  let isAutomatic = false;
  let leaving = new AbortController();
  let staying = 0;
  let lingering: ReturnType<typeof setTimeout> | undefined;

  function show(next: ClaimView): void {
    view = next;
    for (const listener of [...listeners]) listener();
  }

  async function claim(options: SharedClaimOptions): Promise<void> {
    if (view.phase === "waiting" || view.phase === "held") return;
    const own = new AbortController();
    leaving = own;
    show({ phase: "waiting", position: undefined });
    const onPosition = (position: number) => {
      if (leaving === own && view.phase === "waiting") show({ phase: "waiting", position });
    };
    try {
      const asked = { queue: true, ...options, ...(field !== undefined && { field }), signal: own.signal, onPosition };
      const lease: Lease | undefined = await client.models[model]?.claim(id, asked);
      if (!lease) throw new Error(`The client's schema has no model "${model}".`);
      if (own.signal.aborted) return void lease.release();
      show({ phase: "held", lease });
      const error = await lease.lost;
      if (leaving !== own) return;
      show({ phase: "lost", error });
      // The claim was released elsewhere by the same participant, or because the page was hidden. A component with
      // `auto` still wants it.
      const [auto] = autos;
      if (auto && (error.reason === "released" || error.reason === "hidden")) void claim(auto);
    } catch (error) {
      if (!own.signal.aborted) show({ phase: "failed", error: error as SyncError });
    }
  }

  function release(): void {
    const before = view;
    leaving.abort();
    leaving = new AbortController();
    if (before.phase === "held") void before.lease.release();
    if (before.phase !== "idle") show(IDLE);
  }

  /** Releases the claim in a moment, unless a component uses it by then. */
  function linger(): void {
    clearTimeout(lingering);
    lingering = setTimeout(() => {
      if (staying === 0) forget();
      if (staying === 0 || (isAutomatic && autos.length === 0)) release();
    }, LINGER_MS);
  }

  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stay(auto) {
      staying += 1;
      if (auto) {
        autos.push(auto);
        if (view.phase === "idle") isAutomatic = true;
        void claim(auto);
      }
      return () => {
        staying -= 1;
        if (auto) autos.splice(autos.indexOf(auto), 1);
        linger();
      };
    },
    claim(options) {
      isAutomatic = false;
      void claim(options);
      linger();
    },
    release,
  };
}
