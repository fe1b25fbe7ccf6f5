import type { RecordClaims } from "@holdfast/sdk";
import type { AnyClient } from "../model-of.ts";
import { none } from "../none.ts";

const noState = {};
const off = () => {};
const listen = () => off;
const refuse = () => {
  throw new Error("Without a client nothing can be written.");
};

/** What is not answered here writes, or claims. */
const readsOnly = (answers: object) =>
  new Proxy(answers, { get: (own, name) => own[name as keyof typeof own] ?? refuse });
const model = readsOnly({ get: off, list: () => none });

/** What is undefined in it is left out. */
const status = {
  name: "starting",
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
 * A client of which nothing is known yet. The page that a server renders is what it answers, and so is the first one
 * that a browser shows of it: by then the real one may have rows, and React would find another page than was sent.
 */
export const stillClient = readsOnly({
  // Any name of a model: that it is in the schema is known to real clients alone.
  models: new Proxy({}, { get: () => model }),
  claims: { watch: listen, of: () => unknown },
  presence: () => room,
  status: () => status,
  conflicts: () => none,
  pending: () => none,
  attention: () => none,
  subscribe: listen,
}) as AnyClient;
