import type { LogEntry } from "@holdfast/sdk/protocol";
import type { WebhookOptions } from "@holdfast/server";
import type { Endpoint, Evidence, Received } from "../judge/evidence.ts";
import type { Receiver } from "../receiver/receiver.ts";
import { monotonic } from "../receiver/recording.ts";
import { type Records, receivedOf } from "../receiver/records.ts";
import type { Senders } from "../servers/senders.ts";
import type { Owned, Owner, View } from "./owner.ts";

interface Seen {
  readonly owner: Owner;
  readonly receiver: Receiver;
  readonly senders: Senders;
  readonly records: Records;
  readonly times: Omit<WebhookOptions, "allowPrivate">;
  /** The server's view of each endpoint at the end. */
  readonly views: readonly View[];
  readonly log: readonly LogEntry[];
}

/** How late an attempt may be on this machine. */
const LATE_MS = 2_000;

/** Collects the evidence for the judge. */
export function evidenceOf(seen: Seen): Evidence {
  const { owner, receiver, senders, records, times, views, log } = seen;
  const byId = new Map(views.map((view) => [view.id, view]));
  return {
    log,
    endpoints: owner.owned.map((owned) => endpointOf(owned, byId.get(owned.id))),
    requests: requestsOf(seen),
    strays: records.strays,
    troubles: [...senders.troubles, ...receiver.absences],
    times: {
      schedule: times.schedule,
      requestMs: times.requestMs,
      rotationMs: times.rotationMs,
      lateMs: LATE_MS,
      epochMs: Date.now() - monotonic(),
    },
  };
}

const endpointOf = ({ id, cursor, models, made, actions, removed }: Owned, view: View | undefined): Endpoint => ({
  ...{ id, cursor, models, made, actions },
  ...(view && !removed && { last: { status: view.status, cursor: view.cursor } }),
});

function requestsOf({ owner, receiver, records, times }: Seen): Received[] {
  const byHook = new Map(owner.owned.map(({ hook, id }) => [hook, id]));
  const isOrphans = (webhookId: string) => [...owner.orphans].some((id) => webhookId.startsWith(`msg_${id}_`));
  // A fault in progress has no end yet.
  const endOf = (generation: number) => receiver.ends[generation] ?? Number.POSITIVE_INFINITY;
  return [...records.notes.values()]
    .filter(({ begun }) => !isOrphans(begun.headers["webhook-id"]))
    .map((note) => {
      const { hook } = note.begun;
      return receivedOf(note, byHook.get(hook) ?? `unknown ${hook}`, times.requestMs, endOf);
    });
}
