import type { Conflict } from "../../../../packages/sdk/src/api/sync-client.ts";
import type { Write } from "../../../../packages/sdk/src/api/writes/write-api.ts";
import type { Json, JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import { jsonEqual } from "../../../../packages/sdk/src/protocol/json-equal.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import type { Simulation } from "../simulation.ts";

/** A person decides the first conflict or rejection in a tab. Undefined: there is none. */
export function personDecides(simulation: Simulation, device: Device, tab: Tab): string | undefined {
  const { chance, service } = simulation;
  const { client } = tab;
  const conflict = chance.pick(client.conflicts());
  if (conflict) {
    const { clientTxId, model, id, fields } = conflict;
    const answer = chance.weighed({
      "keeps mine": 3,
      "takes theirs": 4,
      merges: fields.some((field) => field !== "id") ? 2 : 0,
    });
    simulation.count(`decision: ${answer}${conflict.reason === "stale" ? "" : ` (${conflict.reason})`}`);
    const before = namesIn(tab);
    blockedMayChange(simulation, device, tab);
    const keys = [`${model}/${id}`];
    const instead = (write: Write) => device.wrote(tab, write, keys);
    const patch = answer === "merges" ? merged(fields, chance.below(1_000)) : {};
    const isSeen = isSeenFully(tab, simulation, conflict) && hasRead(tab, simulation, conflict);
    if (answer === "keeps mine") instead(conflict.keepMine());
    else if (answer === "merges") instead(conflict.merge(patch));
    else conflict.takeTheirs();
    const wanted = { "keeps mine": conflict.mine, "takes theirs": conflict.theirs, merges: patch }[answer];
    const wrong = isSeen ? wronglyShown(tab, conflict, wanted) : undefined;
    if (wrong !== undefined) simulation.observations.broken.push(`${tab.name}: a person ${answer}, and ${wrong}`);
    // The replacement of a late write is late too.
    if (simulation.observations.retried.has(clientTxId))
      for (const name of namesIn(tab)) if (!before.has(name)) simulation.observations.retried.add(name);
    return decided(simulation, device, tab, before, `${answer} of ${clientTxId}`);
  }
  const item = chance.pick(client.attention());
  if (!item) return undefined;
  // As the error says, a person looks first whether it is there already.
  const isThere = item.code === "too_old" && service.wasConfirmed(device.name, item.clientTxId);
  const answer = isThere ? "discards" : chance.weighed({ retries: 1, discards: 3 });
  simulation.count(`decision: ${answer}`);
  const before = namesIn(tab);
  blockedMayChange(simulation, device, tab);
  if (answer === "retries") {
    const again = item.retry();
    simulation.observations.retried.add(again.clientTxId);
    const keys = item.operations.map(({ model, id }) => `${model}/${id}`);
    device.wrote(tab, again, keys);
  } else item.discard();
  return decided(simulation, device, tab, before, `${answer} ${item.clientTxId}`);
}

const SINGLE_VALUES = ["title", "notes"] as const;

/** Whether nothing else than the decision says what becomes of the record. */
function isSeenFully(
  { client, home }: Tab,
  { service }: Simulation,
  { model, id, clientTxId, reason }: Conflict,
): boolean {
  const isMeant = (operation: { readonly model: string; readonly id: string }) =>
    operation.model === model && operation.id === id;
  const others = [...client.pending(), ...client.attention()].filter(
    (write) => write.clientTxId !== clientTxId && write.operations.some(isMeant),
  );
  // With a second conflict, a blocked write may be an earlier one that waits for that.
  const isOnly = client.conflicts().every((other) => other.clientTxId === clientTxId || !isMeant(other));
  // Tabs that have lost their disk each decide for themselves, and what is blocked here another one may have sent.
  const areBlocked = others.every(
    (write) =>
      "phase" in write && write.phase === "blocked" && !service.confirmed.has(`${home.name} ${write.clientTxId}`),
  );
  return model === "slide" && reason === "stale" && isOnly && areBlocked;
}

/** The answer of the server that made the conflict may be there before the log is, and that log may be gone again. */
const hasRead = ({ client }: Tab, { service }: Simulation, { model, id, observedSyncId }: Conflict): boolean =>
  observedSyncId <= client.status().syncId &&
  service.model.log.every(
    (entry) => entry.model !== model || entry.id !== id || entry.syncId <= client.status().syncId,
  );

/** What the tab shows of a record against the decision; undefined: it is as the person wants it. */
function wronglyShown(
  { client }: Tab,
  { id, fields, theirs }: Conflict,
  wanted: JsonObject | null,
): string | undefined {
  const shown = client.models.slide.get(id);
  if (wanted === null) return shown && `${id} is there`;
  if (!shown) return undefined;
  const field = SINGLE_VALUES.find(
    (name) =>
      name in wanted &&
      (fields.includes(name) || wanted !== theirs) &&
      !jsonEqual(shown[name] ?? null, wanted[name] ?? null),
  );
  return field && `${field} of ${id} is ${JSON.stringify(shown[field])}, and not ${JSON.stringify(wanted[field])}`;
}

/** Writes behind the decided one continue as decided, under their names. */
function blockedMayChange({ service }: Simulation, device: Device, { client }: Tab): void {
  for (const { phase, clientTxId } of client.pending())
    if (phase === "blocked") service.mayChange(`${device.name} ${clientTxId}`);
}

/** Writes that disappeared were removed by the decision: the write itself, and those that depended on it. */
function decided(simulation: Simulation, device: Device, tab: Tab, before: ReadonlySet<string>, what: string): string {
  const now = namesIn(tab);
  const gone = [...before].filter((name) => !now.has(name));
  for (const name of gone) simulation.observations.decided.add(`${device.name} ${name}`);
  return `${tab.name}: a person ${what}, which ends ${gone.join(", ") || "nothing"}`;
}

function namesIn({ client }: Tab): ReadonlySet<string> {
  const waiting = [...client.conflicts(), ...client.attention(), ...client.pending()];
  return new Set(waiting.map(({ clientTxId }) => clientTxId));
}

const merged = (fields: readonly string[], random: number): JsonObject =>
  Object.fromEntries(fields.filter((field) => field !== "id").map((field) => [field, mergedValue(field, random)]));

function mergedValue(field: string, random: number): Json {
  if (field === "labels") return [`l${random}`];
  return field === "order" || field === "votes" ? random : `merged ${random}`;
}
