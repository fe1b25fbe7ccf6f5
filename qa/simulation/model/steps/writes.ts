import type { CommitOperation } from "../../../../packages/sdk/src/api/sync-client.ts";
import { add, increment, remove } from "../../../../packages/sdk/src/api/writes/changes.ts";
import type { UndoableWrite, Write, WriteOptions } from "../../../../packages/sdk/src/api/writes/write-api.ts";
import type { Claim } from "../../../../packages/sdk/src/protocol/claims/claim.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import type { schema } from "../schema.ts";
import type { Simulation } from "../simulation.ts";

type Schema = typeof schema;

const SHARED = 3;

/** The record that a slot of a device counts up. Nothing else writes it, so its value must never decrease. */
export const ownRecord = (device: string, slot: number): string => `own-${device}-${slot}`;

/** The app of a tab writes something. */
export function appWrites(simulation: Simulation, device: Device, tab: Tab): string {
  const { chance } = simulation;
  const what = chance.weighed({
    own: 40,
    create: 6,
    title: 14,
    order: 6,
    "title and notes": 5,
    archive: 4,
    delete: 4,
    refused: 4,
    commit: 6,
    child: 6,
    votes: 8,
    labels: 6,
    undo: 5,
    newest: 5,
    card: simulation.weather.values ? 30 : 0,
    sequence: simulation.weather.sequences ? 40 : 0,
  });
  simulation.count(`write: ${what}`);
  const shared = `shared-${chance.below(SHARED)}`;
  const mark = `${tab.name} ${chance.below(1_000)}`;
  const { slide, note } = tab.client.models;
  const options = (id: string): WriteOptions => ({ ...stale(simulation), ...under(simulation, device, id) });
  const wrote = (write: Write, ...keys: string[]) => {
    device.wrote(tab, write, keys);
    return `${tab.name} writes ${what} ${keys.join(" ")} as ${write.clientTxId}`;
  };
  const onShared = (write: UndoableWrite) => {
    const keys = [`slide/${shared}`];
    tab.undoable.push({ write, keys });
    return wrote(write, ...keys);
  };
  switch (what) {
    case "own":
      return wroteOwn(device, tab);
    case "create":
      return onShared(slide.create({ title: mark }, { id: shared }));
    case "title":
      return onShared(slide.update(shared, { title: mark }, options(shared)));
    case "order":
      return onShared(slide.update(shared, { order: chance.below(100) }, options(shared)));
    case "title and notes":
      return onShared(slide.update(shared, { title: mark, notes: mark }, options(shared)));
    case "archive":
      return onShared(slide[chance.percent(50) ? "archive" : "unarchive"](shared, options(shared)));
    case "delete":
      return onShared(slide.delete(shared, options(shared)));
    case "refused":
      return onShared(slide.update(shared, { title: `refused ${mark}` }, options(shared)));
    case "votes":
      return onShared(slide.update(shared, { votes: increment(chance.below(7) - 3) }, options(shared)));
    case "labels": {
      const label = `l${chance.below(5)}`;
      const labels = chance.percent(60) ? add(label) : remove(label);
      return onShared(slide.update(shared, { labels, votes: increment(1) }, options(shared)));
    }
    case "undo": {
      const before = tab.undoable.pop();
      const undone = before?.write.undo();
      return before && undone ? wrote(undone, ...before.keys) : `${tab.name} has nothing to undo`;
    }
    case "card":
      return wroteCard(simulation, device, tab);
    case "sequence":
      return wroteSequence(simulation, device, tab, shared);
    case "newest":
      if (tab.isOutdated) return onShared(slide.update(shared, { notes: mark }, options(shared)));
      return onShared(slide.update(shared, { tag: mark }, options(shared)));
    case "commit": {
      const id = `both-${device.name}-${simulation.schedule.now}-${chance.below(1_000)}`;
      const operations: CommitOperation<Schema>[] = [
        { action: "create", model: "note", id, data: { slide: shared, text: mark } },
        { action: "update", model: "slide", id: shared, data: { title: mark } },
      ];
      return wrote(tab.client.commit(operations, options(shared)), `note/${id}`, `slide/${shared}`);
    }
    case "child": {
      const id = `new-${device.name}-${simulation.schedule.now}-${chance.below(1_000)}`;
      device.wrote(tab, slide.create({ title: mark }, { id }), [`slide/${id}`]);
      device.wrote(tab, note.create({ slide: id, text: mark }, { id }), [`note/${id}`]);
      return wrote(slide.update(id, { notes: mark }), `slide/${id}`);
    }
  }
}

/** Several writes to one record before any of them is sent, in any order: each a commit of its own, or all together. */
function wroteSequence(simulation: Simulation, device: Device, tab: Tab, id: string): string {
  const { chance } = simulation;
  const keys = [`slide/${id}`];
  let isThere = tab.client.models.slide.get(id) !== undefined;
  const operations = Array.from({ length: 2 + chance.below(4) }, (_, nth): CommitOperation<Schema> => {
    // Mostly what has an effect: the server refuses the rest, which then stops all that is behind it.
    const isSensible = chance.percent(90);
    const [there, absent] = isSensible ? [isThere, !isThere] : [true, true];
    const rest = there
      ? { delete: 5, update: 3, archive: 1, unarchive: 1 }
      : { delete: 0, update: 0, archive: 0, unarchive: 0 };
    const action = chance.weighed({ create: absent ? 5 : 0, ...rest });
    if (action === "create" || action === "delete") isThere = action === "create";
    const title = `${tab.name} ${chance.below(1_000)} ${nth}`;
    const record = { model: "slide", id } as const;
    if (action === "create") return { ...record, action, data: { title, notes: title } };
    if (action === "update") return { ...record, action, data: { [chance.percent(50) ? "title" : "notes"]: title } };
    return { ...record, action };
  });
  const commits = chance.percent(25) ? [operations] : operations.map((operation) => [operation]);
  for (const commit of commits) device.wrote(tab, tab.client.commit(commit, stale(simulation)), keys);
  const actions = operations.map(({ action }) => action).join(commits.length > 1 ? ", " : " and ");
  return `${tab.name} writes in a row to ${id}: ${actions}`;
}

const CARDS = 5;

/** A write of a record with a unique field and references: few of each, so that devices often get in each other's way. */
function wroteCard(simulation: Simulation, device: Device, tab: Tab): string {
  const { chance } = simulation;
  const { card, slide } = tab.client.models;
  const id = `card-${chance.below(CARDS)}`;
  const some = <T extends string>(value: T) => (chance.percent(30) ? null : value);
  const values = {
    code: () => ({ code: some(`code-${chance.below(2)}`) }),
    slide: () => ({ slide: some(`shared-${chance.below(SHARED)}`) }),
    parent: () => ({ parent: some(`card-${chance.below(CARDS)}`) }),
    next: () => ({ next: some(`card-${chance.below(CARDS)}`) }),
  };
  const data = { ...values[chance.weighed({ code: 8, slide: 3, parent: 1, next: 1 })]() };
  const what = chance.weighed({ create: 4, update: 6, delete: 1, "with slide": 4 });
  const wrote = (write: Write, ...keys: string[]) => {
    device.wrote(tab, write, keys);
    return `${tab.name} writes ${what} ${id} ${JSON.stringify(data)} as ${write.clientTxId}`;
  };
  switch (what) {
    case "create":
      return wrote(card.create({ code: some(`code-${chance.below(2)}`), ...data }, { id }), `card/${id}`);
    case "update":
      return wrote(card.update(id, data, stale(simulation)), `card/${id}`);
    case "delete":
      return wrote(card.delete(id, stale(simulation)), `card/${id}`);
    case "with slide": {
      // A queue of creates that reference each other, or the end of an earlier one.
      const there = chance.pick(slide.list().filter(({ id: of }) => of.startsWith("on-")));
      if (there) return wrote(slide.delete(there.id), `slide/${there.id}`);
      const own = `on-${device.name}-${simulation.schedule.now}-${chance.below(1_000)}`;
      device.wrote(tab, slide.create({ title: own }, { id: own }), [`slide/${own}`]);
      device.wrote(tab, card.create({ slide: own }, { id: own }), [`card/${own}`]);
      return wrote(card.create({ parent: own }, { id: `${own}-child` }), `card/${own}-child`);
    }
  }
}

function wroteOwn(device: Device, tab: Tab): string {
  const id = ownRecord(device.name, tab.slot);
  const order = (device.counters.get(tab.slot) ?? 0) + 1;
  const { slide } = tab.client.models;
  device.counters.set(tab.slot, order);
  const write = slide.get(id) ? slide.update(id, { order }) : slide.create({ title: "own", order }, { id });
  device.wrote(tab, write, [`slide/${id}`]);
  return `${tab.name} counts ${id} up to ${order} as ${write.clientTxId}`;
}

function stale({ chance }: Simulation): WriteOptions {
  const roll = chance.below(10);
  return roll === 0 ? { onStale: "overwrite" } : roll === 1 ? { onStale: "reject" } : {};
}

function under({ chance }: Simulation, { claims }: Device, recordId: string): WriteOptions {
  const id = claims.get(recordId);
  return id !== undefined && chance.percent(85) ? { claim: { id, model: "slide", recordId } } : {};
}

/** Takes a record, or loses one that it took; it writes on as if nothing had happened. */
export function appClaims(simulation: Simulation, device: Device): string {
  const { chance, service } = simulation;
  const id = `shared-${chance.below(SHARED)}`;
  const own = device.claims.get(id);
  if (own !== undefined && chance.percent(50)) {
    service.model.claims.end(own, "expired");
    return `the claim of ${device.name} on ${id} ends`;
  }
  const claim = service.model.claims.acquire(device.name, "slide", id).body as Claim;
  if (claim.status !== "active") return `${device.name} does not get ${id}`;
  device.claims.set(id, claim.id);
  return `${device.name} claims ${id}`;
}
