import { compileConditions } from "../../../../packages/sdk/src/api/lists/conditions.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { schema } from "../schema.ts";
import { stemOf } from "../server/service.ts";
import { isSeen } from "../server/tenants.ts";
import type { Simulation } from "../simulation.ts";
import { type Check, first } from "./checks.ts";
import { includesInTheEnd } from "./includes.ts";
import { followedPartsAreThere } from "./parts.ts";
import { replayed, wrongValue } from "./serial.ts";
import { difference, keyOf, shownBy, shownByServer } from "./shown.ts";

/** When everything works again and has come to rest. */
export const soInTheEnd: readonly Check[] = [
  {
    name: "the log is what one commit after the other makes of it",
    check: ({ service }) =>
      difference("the server", shownByServer([...service.model.rows.values()]), replayed(service.accepted)),
  },
  {
    name: "unique values and checked references hold",
    check: ({ service }) => wrongValue(shownByServer([...service.model.rows.values()])),
  },
  {
    name: "every tab shows what the server has in its view",
    check: ({ service }, tabs) =>
      first(tabs, (tab) => {
        const view = service.tenants.viewOf(tab.home.name);
        const rows = [...service.model.rows.values()].filter((row) => isSeen(view, row));
        const isShown = isWantedBy(tab);
        // Released parts may still be there; what is shown of them is as the server has it.
        const shown = shownBy(tab);
        const wanted = tab.home.hasParts ? rows.filter((row) => isShown(row) || keyOf(row) in shown) : rows;
        return difference(tab.name, shown, shownByServer(wanted));
      }),
  },
  followedPartsAreThere,
  includesInTheEnd,
  {
    name: "every guest shows what the own organization has, and each queued write of a guest is there once",
    check: ({ service: { tenants }, guests }) => {
      const { elsewhere, guestWrites } = tenants;
      const rows = shownByServer([...elsewhere.rows.values()]);
      for (const [name, isQueued] of guestWrites) {
        const times = elsewhere.log.filter(({ clientTxId }) => clientTxId === name).length;
        if (times > 1 || (isQueued && times === 0)) return `${name} was committed ${times} times`;
      }
      return first(guests, (tab) => difference(tab.name, shownBy(tab), rows));
    },
  },
  {
    name: "every tab says that its rows are complete",
    check: (_, tabs) =>
      first(tabs, ({ name, client }) => {
        const { rows, name: status, reason } = client.status();
        return rows === "complete" ? undefined : `${name} is ${status}, and its rows are ${rows}: ${reason ?? ""}`;
      }),
  },
  {
    name: "the tabs of a device agree about what waits",
    check: ({ devices }) => first(devices, ({ living }) => first(living, (tab) => waitsFor(tab))),
  },
  {
    name: "what was acknowledged is in the log, once",
    check: (simulation) => first(simulation.observations.writes, (write) => acknowledged(simulation, write)),
  },
  {
    name: "what was on disk has its answer",
    check: (simulation) =>
      first(simulation.devices, (device) => first(device.disk.flushed, (name) => unanswered(simulation, device, name))),
  },
  {
    name: "a device's writes to a record are in the log in their order",
    check: (simulation) =>
      simulation.service.restores > 0
        ? undefined
        : first(simulation.devices, (device) => outOfOrder(simulation, device)),
  },
  {
    name: "one write has one effect",
    check: doneTwice,
  },
  { name: "no promise is left open", check: openPromise },
];

export function openPromise({ observations }: Simulation, tabs: readonly Tab[]): string | undefined {
  return first(observations.writes, ({ name, tab, queued, receipt }) => {
    if (queued !== "open" && receipt !== "open") return undefined;
    if (!tabs.includes(tab as Tab) && (tab as Tab).closing !== "closed") return undefined;
    return `${name} of ${tab.name}: queued is ${queued}, its receipt is ${receipt}`;
  });
}

type Known = Pick<Simulation, "service" | "observations">;

function acknowledged({ service }: Known, write: Simulation["observations"]["writes"][number]): string | undefined {
  if (write.receipt !== "kept") return undefined;
  const is = (name: string) => stemOf(name) === stemOf(write.confirmedAs ?? write.name);
  // Commits that a restore removed are lost if this device no longer had them.
  if ([...service.takenBack].some((key) => is(key.slice(key.indexOf(" ") + 1)))) return undefined;
  const { actor } = write;
  if (service.accepted.some((one) => one.actor === actor && is(one.name))) return undefined;
  return `${write.name} of ${actor} was confirmed and is not in the log`;
}

/** Whether a write that was safely on disk is gone without an answer of the server or of a person. */
function unanswered(
  { service, observations }: Known,
  { name: actor, disk, hadStorageTrouble }: Device,
  name: string,
): string | undefined {
  const key = `${actor} ${name}`;
  if (service.confirmed.has(key) || observations.decided.has(key) || disk.wiped.has(name)) return undefined;
  // Tabs that lost the disk continue without it. The next tab that opens the disk sees its content.
  if (hadStorageTrouble && disk.kept.has(name)) return undefined;
  // On another log, or with another body, it continues under another name.
  if ([...disk.flushed].some((other) => other !== name && stemOf(other) === stemOf(name))) return undefined;
  return `${name} was on the disk of ${actor}; it was neither answered nor given up`;
}

function outOfOrder(
  { service, observations }: Known,
  { name: actor, disk, hadStorageTrouble }: Device,
): string | undefined {
  if (hadStorageTrouble) return undefined;
  const last = new Map<string, { environment: number; name: string }>();
  for (const { actor: by, name, operations, entries } of service.accepted) {
    const environment = disk.places.get(name);
    if (by !== actor || entries === 0 || environment === undefined || observations.retried.has(name)) continue;
    for (const { model, id } of operations) {
      const before = last.get(`${model}/${id}`);
      if (before && before.environment > environment)
        return `${name} (place ${environment}) came after ${before.name} (place ${before.environment}) to ${model}/${id}`;
      last.set(`${model}/${id}`, { environment, name });
    }
  }
  return undefined;
}

function doneTwice({ service }: Simulation): string | undefined {
  const done = new Map<string, string>();
  for (const { actor, name, entries, operations } of service.accepted) {
    if (entries > operations.length)
      return `${name} of ${actor} has ${entries} entries, and ${operations.length} operations`;
    if (entries === 0) continue;
    const before = done.get(`${actor} ${stemOf(name)}`);
    if (before !== undefined && service.restores === 0) return `${name} of ${actor} is in the log, and so is ${before}`;
    done.set(`${actor} ${stemOf(name)}`, name);
  }
  return undefined;
}

function waitsFor({ name, client }: Tab): string | undefined {
  const { pending, conflicts, attention } = client.status();
  if (pending + conflicts + attention === 0) return undefined;
  const first = client.pending()[0] ?? client.conflicts()[0] ?? client.attention()[0];
  return `${name} has ${pending} pending, ${conflicts} conflicts, ${attention} rejected: ${first?.clientTxId}`;
}

/** Whether the app of a tab has loaded a record. */
function isWantedBy({ home, parts }: Tab): (row: ServerRow) => boolean {
  const loaded = parts.map(({ where }) => compileConditions("slide", schema.models.slide, where));
  return ({ model, id, data }) => !home.hasParts || model !== "slide" || loaded.some((meets) => meets({ ...data, id }));
}

type ServerRow = Simulation["service"]["model"]["rows"] extends ReadonlyMap<string, infer R> ? R : never;
