import type { RecordClaims } from "@holdfast/sdk";
import type { AnyClient } from "../model-of.ts";
import { noCounts, none } from "../none.ts";

const noState = {};
const off = () => {};
const listen = () => off;
const refuse = () => {
  throw new Error(
    "There is no client yet, for example because React renders on a server. Write and claim in an effect or an event handler.",
  );
};

/** Every other method throws, because an inert client neither writes nor claims. */
const readsOnly = (answers: object) =>
  new Proxy(answers, { get: (own, name) => own[name as keyof typeof own] ?? refuse });
const model = readsOnly({
  get: off,
  list: () => none,
  count: () => 0,
  subscribe: listen,
  exists: () => false,
  countBy: () => noCounts,
  status: () => "loading",
});

/** Undefined fields are left out. */
const status = {
  name: "starting",
  rows: "loading",
  leads: false,
  pending: 0,
  conflicts: 0,
  attention: 0,
  syncId: 0,
  storage: "opening",
} as const;
const unknown: RecordClaims = { state: "unknown", holders: none, queue: none };

const room = readsOnly({
  state: () => noState,
  others: () => none,
  self: off,
  status: () => "connecting",
  subscribe: listen,
  leave: off,
});

/**
 * A client without data, for rendering on a server and for the first render in a browser. The real client may have rows
 * by then, which would cause a hydration mismatch.
 */
export const stillClient = readsOnly({
  schema: { models: {} },
  // Accepts any model name, because only a real client knows the schema.
  models: new Proxy({}, { get: () => model }),
  claims: { watch: listen, of: () => unknown },
  presence: () => room,
  proposals: readsOnly({ subscribe: listen, accept: refuse, reject: refuse, withdraw: refuse }),
  status: () => status,
  conflicts: () => none,
  pending: () => none,
  attention: () => none,
  subscribe: listen,
  onErased: listen,
}) as AnyClient;
