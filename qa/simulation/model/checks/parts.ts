import { scopeOf } from "../../../../packages/sdk/src/core/log/scope-key.ts";
import { isInOne, isSamePart, type PartOfSlides } from "../client/budget.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { isSeen } from "../server/tenants.ts";
import type { Simulation } from "../simulation.ts";
import { type Check, first, isWithheld } from "./checks.ts";
import { difference, keyOf, shownBy, shownByServer } from "./shown.ts";

/** After every single thing that happens. */
export const alwaysSoOfParts: readonly Check[] = [
  {
    name: "a load keeps no more released parts than its tab's budget",
    check: (_, tabs) => first(tabs, ({ overBudget }) => overBudget),
  },
  {
    name: "a row with a write on its way stays",
    check: (simulation, tabs) => first(tabs, (tab) => vanished(simulation, tab)),
  },
];

export const followedPartsAreThere: Check = {
  name: "memory and disk have what is followed, and nothing else",
  check: (simulation) => first(simulation.devices, (device) => wrongParts(simulation, device)),
};

function wrongParts({ service, weather }: Simulation, { name, disk, living, hasParts, hadStorageTrouble }: Device) {
  // Tabs that lost their disk go on without it, each with parts of its own.
  if (!hasParts || hadStorageTrouble || living.length === 0) return undefined;
  const { scope, tables } = disk.rows;
  const { where } = scopeOf(scope);
  // Guests follow everything, and so does a device since one of them led it, before it knew its owner.
  if (!where && weather.guests) return undefined;
  const followed = (where?.slide ?? []) as readonly PartOfSlides[];
  const view = service.tenants.viewOf(name);
  const isFollowed = isInOne(followed);
  const isWanted = ({ model, id, data }: ServerRow) => model !== "slide" || isFollowed({ ...data, id });
  const wanted = [...service.model.rows.values()].filter((row) => isSeen(view, row) && isWanted(row));
  const stored = Object.entries(tables).flatMap(([model, table]) =>
    [...table.entries()].map(([id, row]) => [keyOf({ model, id, ...row }), row.data] as const),
  );
  return (
    difference(`the disk of ${name}`, Object.fromEntries(stored), shownByServer(wanted)) ??
    first(living, (tab) => {
      const lacks = [...tab.parts.map(({ where }) => where), ...tab.pinned].find((part) => !isSome(followed, part));
      if (lacks) return `${tab.name} needs ${JSON.stringify(lacks)}, and followed are ${JSON.stringify(followed)}`;
      const open = followed.find((where) => tab.client.models.slide.status(asked(where)) !== "complete");
      if (open) return `${tab.name} does not say that it has all of ${JSON.stringify(open)}`;
      return difference(tab.name, shownBy(tab), shownByServer(wanted));
    })
  );
}

/** A list takes all conditions that `load` takes. */
const asked = (where: PartOfSlides) => ({ where }) as Parameters<Tab["client"]["models"]["slide"]["status"]>[0];

type ServerRow = Simulation["service"]["model"]["rows"] extends ReadonlyMap<string, infer R> ? R : never;

const isSome = (parts: readonly PartOfSlides[], part: PartOfSlides): boolean =>
  parts.some((one) => isSamePart(one, part));

/**
 * A load drops rows without anything happening to their records. What a person has written must not go with them. If the
 * log moves a record out of all parts, or it never was in one, it is shown until the first of its writes is in the log.
 * Then a leader that lacks its part hides it, also in a tab that had the part a moment longer, and has seen that write.
 */
function vanished({ service, weather }: Simulation, tab: Tab): string | undefined {
  // Another log, or another view, may not have the record.
  if (!tab.home.hasParts || weather.tenants || service.restores > 0) return undefined;
  if (!tab.isReady || tab.closing !== "no" || isWithheld(tab)) return undefined;
  const { client } = tab;
  const { conflicts, attention } = client.status();
  const pending = client.pending();
  // What waits for a person is not shown, and neither is what waits behind it.
  const written = idsOf(conflicts + attention > 0 ? [] : pending);
  for (const { clientTxId, phase, operations } of pending) {
    const isOver = phase === "blocked" || service.confirmed.has(`${tab.home.name} ${clientTxId}`);
    for (const { id, action } of operations) if (isOver || action === "delete") written.delete(id);
  }
  const rows = written.size === 0 ? [] : client.models.slide.list({ archived: "with" });
  const shown = new Map(rows.map(({ id, $syncId }) => [id, $syncId]));
  const isAsOthersLeftIt = (id: string, syncId: number | undefined) => {
    const row = service.model.rows.get(`slide/${id}`);
    return row !== undefined && row.syncId === syncId && row.last.actor !== tab.home.name;
  };
  const gone = [...tab.withWrites].find(
    ([id, syncId]) => written.has(id) && !shown.has(id) && isAsOthersLeftIt(id, syncId),
  );
  // What is not loaded any more is shown without its position: it is as it was.
  tab.withWrites = new Map(
    [...shown].filter(([id]) => written.has(id)).map(([id, syncId]) => [id, syncId ?? tab.withWrites.get(id)]),
  );
  return gone && `${tab.name} does not show ${gone[0]} any more, which it writes: ${JSON.stringify(pending)}`;
}

const idsOf = (
  writes: readonly { readonly operations: readonly { readonly model: string; readonly id: string }[] }[],
) =>
  new Set(writes.flatMap(({ operations }) => operations.filter(({ model }) => model === "slide").map(({ id }) => id)));
