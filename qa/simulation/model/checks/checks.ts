import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { ELSEWHERE } from "../server/tenants.ts";
import type { Simulation } from "../simulation.ts";
import { ownRecord } from "../steps/writes.ts";

/** An invariant. Returns its violation, or undefined. */
export interface Check {
  readonly name: string;
  /** `tabs`: those in which something happened. */
  readonly check: (simulation: Simulation, tabs: readonly Tab[]) => string | undefined;
}

/** After every single thing that happens. */
export const alwaysSo: readonly Check[] = [
  {
    name: "what is promised is so",
    check: ({ observations }) => observations.broken[0],
  },
  {
    name: "the queue never lies still",
    check: (simulation, tabs) => first(tabs, (tab) => liesStill(simulation, tab)),
  },
  {
    name: "no tab has two bulks under way",
    check: (_, tabs) =>
      first(tabs, ({ name, http }) =>
        http.waiting.filter(({ what }) => what === "a bulk").length > 1 ? `${name} has two` : undefined,
      ),
  },
  {
    name: "no write reaches another owner",
    check: ({ service }) => service.tenants.strayed[0],
  },
  {
    name: "nothing of a store is shown to another owner",
    check: (_, tabs) => first(tabs, showsAnothers),
  },
  {
    name: "a guest sees nothing but the own organization",
    check: ({ guests }) => first(guests, guestSeesAnothers),
  },
  {
    name: "a value that was shown never goes back",
    check: ({ service, devices }, tabs) =>
      service.restores > 0 ? undefined : first(tabs, (tab) => wentBack(devices, tab)),
  },
];

function liesStill({ schedule, devices }: Simulation, tab: Tab): string | undefined {
  if (tab.isFrozen || tab.closing !== "no" || schedule.hasTask(tab) || schedule.timerOf(tab) !== undefined)
    return undefined;
  const { name: status, pending } = tab.client.status();
  if (pending === 0 || tab.http.inFlight > 0 || tab.stream.isWaited) return undefined;
  const device = devices.find(({ open }) => open.get(tab.slot) === tab);
  const phases = new Set(tab.client.pending().map(({ phase }) => phase));
  if (phases.has("saving") && device?.disk.openOf(tab) === 0)
    return `${tab.name} saves, and nothing is on its way to the disk`;
  if (tab.isPaused || status === "starting" || tab.sawOffline) return undefined;
  // A tab without a disk sends for itself.
  if (!device || (device.tabs.holder !== tab && status !== "storage-failed")) return undefined;
  if (device.disk.openOf(tab) > 0 || !(phases.has("queued") || phases.has("sending"))) return undefined;
  const said = tab.client.pending().map(({ clientTxId, phase }) => `${clientTxId} ${phase}`);
  return `${tab.name} is ${status}, has neither a timer nor a request, and pending are ${said.join(", ")}`;
}

/** Whose write it was is not known, or how old it is: it waits for a person and is not shown. */
const NOT_SHOWN: ReadonlySet<string> = new Set(["unowned", "too_old"]);

/** The last write to each such record has the highest value, so every tab sees it grow. */
function wentBack(devices: readonly Device[], tab: Tab): string | undefined {
  // A write may move its record out of every part that is loaded.
  if (!tab.isReady || tab.closing !== "no" || tab.home.hasParts) return undefined;
  for (const device of devices) {
    const { name, counters, hadStorageTrouble } = device;
    if (tab.home === device && tab.client.attention().some(({ code }) => NOT_SHOWN.has(code)))
      device.hadNotShown = true;
    if (hadStorageTrouble || device.hadNotShown || isWithheld(tab)) continue;
    for (const slot of counters.keys()) {
      const id = ownRecord(name, slot);
      const now = Number(tab.client.models.slide.get(id)?.order ?? 0);
      const before = tab.shown.get(id) ?? 0;
      if (now < before) return `${tab.name} showed ${before} in ${id}, then ${now}`;
      tab.shown.set(id, now);
    }
  }
  return undefined;
}

/** The server has named another owner of the token than the store's, or none yet beside a leader that is online. */
export function isWithheld({ client }: Tab): boolean {
  const { reason = "" } = client.status();
  return reason.startsWith("The token belongs to") || reason.startsWith("The server has not named the owner");
}

function showsAnothers(tab: Tab): string | undefined {
  const { slide, note } = tab.client.models;
  const shown = [...slide.list({ archived: "with" }), ...note.list({ archived: "with" })];
  const strange = shown.find(({ id }) => id.startsWith(ELSEWHERE));
  if (strange) return `${tab.name} shows ${strange.id} of another organization`;
  if (!isWithheld(tab)) return undefined;
  const waiting = [...tab.client.pending(), ...tab.client.conflicts(), ...tab.client.attention()];
  return shown.length + waiting.length > 0 ? `${tab.name} shows ${shown.length} rows of another owner` : undefined;
}

function guestSeesAnothers({ name, client, isBeside }: Tab): string | undefined {
  // Where the server cannot be asked, a guest takes the store of the only owner for its own.
  if (!isBeside) return undefined;
  const { slide, note, card } = client.models;
  const shown = [...slide.list({ archived: "with" }), ...note.list(), ...card.list()];
  const strange = shown.find(({ id }) => !id.startsWith(ELSEWHERE));
  if (strange) return `${name} shows ${strange.id} of the device's owner`;
  const waiting = [...client.attention(), ...client.conflicts()][0];
  return waiting && `${name} shows that ${waiting.clientTxId} waits for a person`;
}

export function first<T>(items: Iterable<T>, complaint: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const said = complaint(item);
    if (said !== undefined) return said;
  }
  return undefined;
}
