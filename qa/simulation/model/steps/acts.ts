import { isWithheld } from "../checks/checks.ts";
import type { PartOfSlides } from "../client/budget.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { drained } from "../drain.ts";
import type { Simulation } from "../simulation.ts";
import { injectFault, recover } from "./faults.ts";
import { guestActs } from "./guests.ts";
import { personDecides } from "./person.ts";
import { appClaims, appWrites } from "./writes.ts";

/** A step: a number of tasks, an act of the app or a person, a fault, or the passing of time. */
export function act(simulation: Simulation): string {
  const { chance } = simulation;
  const device = chance.pick(simulation.devices) as Device;
  if (simulation.weather.guests && chance.percent(25)) return guestActs(simulation, device);
  const tab = chance.pick(device.living.filter((one) => one.closing === "no"));
  const kind = chance.weighed({
    write: 40,
    decide: 9,
    fault: 24,
    "come back": 9,
    wait: 12,
    app: simulation.weather.budgets ? 24 : 6,
  });
  const said = kind === "wait" ? wait(simulation) : kind === "fault" ? injectFault(simulation, device, tab) : inTab();
  return said ?? "nothing happens";

  function inTab(): string | undefined {
    if (kind === "come back") return recover(simulation, device);
    if (!tab || tab.isFrozen) return device.living.length === 0 ? recover(simulation, device) : undefined;
    // The app signs in another person, or the owner again.
    if (isWithheld(tab)) return undefined;
    if (kind === "decide") return personDecides(simulation, device, tab);
    if (kind === "app") return appActs(simulation, device, tab);
    // An app that writes before it has read anything loses to existing values, which is not of interest here.
    return tab.isReady ? appWrites(simulation, device, tab) : undefined;
  }
}

function appActs(simulation: Simulation, device: Device, tab: Tab): string | undefined {
  const { chance, weather } = simulation;
  const what = chance.weighed({
    pause: 3,
    resume: 3,
    close: 2,
    claim: weather.claims ? 6 : 0,
    part: weather.parts ? (weather.budgets ? 50 : 12) : 0,
  });
  switch (what) {
    case "claim":
      return appClaims(simulation, device);
    case "part":
      return appLoads(simulation, tab);
    case "pause":
      tab.client.pause();
      tab.isPaused = true;
      return `${tab.name} pauses`;
    case "resume":
      tab.client.resume();
      tab.isPaused = false;
      return `${tab.name} resumes`;
    case "close":
      simulation.count("tab closed");
      close(device, tab);
      return `${tab.name} is being closed`;
  }
}

/** Conditions that records begin and cease to meet as they are written. */
const PARTS: readonly PartOfSlides[] = [
  { id: { in: ["shared-0", "shared-1"] } },
  { votes: { gt: 0 } },
  { order: { gte: 2 } },
  { order: { lt: 2 } },
  { labels: { contains: "l1" } },
  { title: null },
  {},
];

/** Loads a part, or releases one. */
function appLoads(simulation: Simulation, tab: Tab): string {
  const { chance, weather } = simulation;
  if (tab.parts.length > 0 && chance.percent(weather.budgets ? 50 : 40)) {
    const [part] = tab.parts.splice(chance.below(tab.parts.length), 1);
    simulation.count("part: released");
    part?.loaded.release();
    return `${tab.name} releases ${JSON.stringify(part?.where)}`;
  }
  const where = chance.pick(PARTS) as PartOfSlides;
  const keep = weather.budgets && chance.percent(10);
  const { releasedParts, releasedRows } = tab.budget;
  simulation.count(`part: ${keep ? "pinned" : "loaded"}`);
  if (releasedParts !== undefined || releasedRows !== undefined)
    simulation.count(`part: loaded within ${releasedParts ?? "all"} parts and ${releasedRows ?? "all"} rows`);
  if (keep) tab.pinned.push(where);
  if (tab.isReady) tab.loading = where;
  tab.parts.push({ where, loaded: tab.client.load("slide", where, keep ? { keep } : {}) });
  void drained().then(() => {
    tab.loading = undefined;
  });
  return `${tab.name} ${keep ? "pins" : "loads"} ${JSON.stringify(where)}`;
}

/** The app closes its client; the tab goes when that is done. */
export function close(device: Device, tab: Tab): void {
  tab.closing = "closing";
  void tab.client.close().then(() => {
    tab.closing = "closed";
    if (device.open.get(tab.slot) === tab) device.open.delete(tab.slot);
  });
}

/** Time passes: a moment, until the next timer rings, or as long as a machine sleeps. */
function wait({ chance, schedule }: Simulation): string {
  const next = schedule.untilNextTimer() ?? 1_000;
  const how = chance.weighed({ moment: 4, timer: 5, minute: 2, hour: 0.3 });
  const ms = { moment: 1 + chance.below(50), timer: next, minute: chance.below(60_000), hour: 3_600_000 }[how];
  schedule.moveOn(ms);
  return `${ms} ms pass`;
}
