import { closeCodes } from "../../../../packages/sdk/src/protocol/stream/close-codes.ts";
import type { Device } from "../client/device.ts";
import type { Tab } from "../client/tab.ts";
import { MOST_TABS, type Simulation } from "../simulation.ts";
import { killGuest } from "./guests.ts";

/** The relative frequency of each fault. */
const OFTEN = {
  lost: 14,
  repeated: 6,
  spoilt: 8,
  "cut socket": 8,
  offline: 8,
  killed: 9,
  "power cut": 3,
  frozen: 6,
  stolen: 2,
  "storage failed": 6,
  wiped: 1,
  "token expired": 5,
  "old token": 2,
  "signed out": 2,
  restored: 4,
  "new log": 1,
  outdated: 3,
  "clock jumped": 4,
  woke: 4,
  hidden: 2,
} as const;

/** The same where other tenants are about. */
const OFTEN_WITH_TENANTS = { ...OFTEN, "other sign-in": 7, "other view": 7 } as const;

const DOUBTED = { "token doubted": 6 } as const;

const ASLEEP = { asleep: 14, "clock set": 3, offline: 16, killed: 18 } as const;

export type Fault = keyof typeof OFTEN_WITH_TENANTS | keyof typeof DOUBTED | keyof typeof ASLEEP;

const DAY_MS = 86_400_000;

function chooseFault({ chance, weather }: Simulation): Fault {
  const often = weather.tenants ? OFTEN_WITH_TENANTS : OFTEN;
  const all = weather.doubts ? { ...often, ...DOUBTED } : often;
  return weather.sleeps ? chance.weighed({ ...all, ...ASLEEP }) : chance.weighed(all);
}

/** Something goes wrong at a device, or at the server. Undefined: it could not, just now. */
export function injectFault(simulation: Simulation, device: Device, tab: Tab | undefined): string | undefined {
  const { chance, service, weather } = simulation;
  const fault = chooseFault(simulation);
  const happened = tab ? atTab(simulation, device, tab, fault) : undefined;
  const said = happened ?? atDevice();
  if (said !== undefined) simulation.count(`fault: ${fault}`);
  return said;

  function atDevice(): string | undefined {
    switch (fault) {
      case "offline":
        return turnNetwork(simulation, device, !device.isOnline);
      case "power cut":
        return cutPower(simulation, device);
      case "stolen":
        return device.tabs.steal(chance.below(device.tabs.waiting));
      case "wiped":
        if (!weather.storage) return undefined;
        device.disk.wipe();
        device.hadStorageTrouble = true;
        return `all data of ${device.name} is deleted`;
      case "storage failed": {
        if (!weather.storage) return undefined;
        const failed = device.disk.failOne(chance.below(device.disk.openTransactions.length));
        if (failed !== undefined) device.hadStorageTrouble = true;
        return failed && `the disk fails: ${failed}`;
      }
      case "token expired":
        device.expireToken();
        return `the token of ${device.name} is over`;
      case "old token":
        device.tokens = device.tokens === "good" ? "old" : "good";
        return `the app of ${device.name} gives the ${device.tokens} token`;
      case "signed out":
        device.tokens = device.tokens === "good" ? "none" : "good";
        return `the app of ${device.name} has ${device.tokens === "none" ? "no person signed in" : "a token again"}`;
      case "restored":
      case "new log": {
        if (!weather.restores) return undefined;
        const keep = fault === "new log" ? 0 : Math.max(0, service.accepted.length - chance.below(6));
        service.restore(keep);
        // A restored server is another process: most connections break, the others notice by the next frame.
        for (const { stream } of simulation.tabs)
          if (chance.percent(70)) stream.cut(1012, true);
          else stream.news();
        return `the server is restored to its first ${keep} commits, as ${service.model.logId}`;
      }
      case "other sign-in": {
        device.signedIn =
          device.signedIn !== "owner" ? "owner" : chance.percent(50) ? "another user" : "another organization";
        device.expireToken();
        for (const { stream } of device.living) if (chance.percent(70)) stream.cut(closeCodes.token, true);
        return `the app of ${device.name} gives tokens of ${device.signedIn}`;
      }
      case "other view": {
        const view = service.tenants.viewOf(device.name) === "whole" ? "narrow" : "whole";
        service.tenants.show(device.name, view);
        device.expireToken();
        for (const { stream } of device.living) stream.cut(closeCodes.token, true);
        return `the tokens of ${device.name} cover the ${view} view`;
      }
      case "asleep": {
        const days = 29 + chance.below(13);
        // No request takes that long.
        for (const each of simulation.devices) breakConnections(simulation, each);
        simulation.schedule.slept += days * DAY_MS;
        service.forgetReceipts();
        return `all devices sleep for ${days} days`;
      }
      case "clock set": {
        const days = device.clockAhead === 0 ? 40 * chance.roll() : 0;
        device.clockAhead = Math.round(days * DAY_MS);
        return `the clock of ${device.name} is ${days.toFixed(1)} days ahead`;
      }
      case "outdated":
        device.isOutdated = !device.isOutdated;
        return `tabs that ${device.name} opens now are of the ${device.isOutdated ? "old" : "new"} version`;
      case "clock jumped": {
        const ms = Math.round((chance.roll() - 0.5) * 2 * (chance.percent(50) ? 5_000 : 7_200_000));
        device.clockAhead += ms;
        return `the clock of ${device.name} jumps by ${ms} ms`;
      }
      default:
        return undefined;
    }
  }
}

function atTab({ chance, schedule }: Simulation, device: Device, tab: Tab, fault: Fault): string | undefined {
  const flight = chance.below(tab.http.waiting.length);
  switch (fault) {
    case "lost": {
      const lost = tab.http.lose(flight);
      return lost && `lost: ${lost}`;
    }
    case "repeated": {
      const repeated = tab.http.repeat(flight);
      return repeated && `repeated: ${repeated}`;
    }
    case "spoilt": {
      const kind = chance.weighed({ "error page": 2, overloaded: 1, unwell: 1 });
      return tab.http.spoil(flight, kind !== "overloaded" && chance.percent(50), kind);
    }
    case "token doubted":
      return tab.http.spoil(flight, false, fault);
    case "cut socket":
      if (!tab.stream.isOpen) return undefined;
      tab.stream.cut(1006, chance.percent(70));
      return `the socket of ${tab.name} is cut`;
    case "killed":
      return kill(device, tab, chance.below(device.disk.openOf(tab) + 1), () => chance.percent(60));
    case "frozen":
      tab.isFrozen = true;
      if (device.tabs.holder === tab) device.tabs.froze();
      return `${tab.name} is frozen`;
    case "woke":
    case "hidden":
      tab.emit(fault);
      return `${tab.name}: ${fault} at ${schedule.now}`;
    default:
      return undefined;
  }
}

function kill(device: Device, tab: Tab, kept: number, arrives: () => boolean): string {
  device.kill(tab, kept, arrives);
  return `${tab.name} is killed`;
}

function cutPower(simulation: Simulation, device: Device): string {
  const { chance } = simulation;
  for (const tab of device.living)
    kill(device, tab, chance.below(device.disk.openOf(tab) + 1), () => chance.percent(60));
  for (const guest of device.guests) killGuest(simulation, device, guest);
  for (const { disk } of [device, ...device.beside]) disk.powerCut((unflushed) => chance.below(unflushed + 1));
  return `the power of ${device.name} is cut`;
}

export function turnNetwork(simulation: Simulation, device: Device, isOnline: boolean): string {
  const { chance } = simulation;
  device.isOnline = isOnline;
  device.reportsOffline = chance.percent(70);
  if (!isOnline) breakConnections(simulation, device);
  for (const tab of [...device.living, ...device.guests]) {
    if (isOnline || device.reportsOffline) tab.emit(isOnline ? "online" : "offline");
  }
  return `${device.name} is ${isOnline ? "online" : "offline"}${device.reportsOffline || isOnline ? "" : ", and no event says so"}`;
}

function breakConnections({ chance }: Simulation, device: Device): void {
  for (const tab of [...device.living, ...device.guests]) {
    tab.http.breakAll(() => chance.percent(50));
    tab.stream.cut(1006, chance.percent(50));
  }
}

/** Opens a tab, or thaws a frozen one. */
export function recover(simulation: Simulation, device: Device): string | undefined {
  const { chance } = simulation;
  const frozen = chance.pick(device.living.filter((tab) => tab.isFrozen));
  if (frozen && chance.percent(60)) {
    frozen.isFrozen = false;
    // Most platforms fire an event, some do not.
    if (chance.percent(70)) frozen.emit("woke");
    return `${frozen.name} goes on`;
  }
  const free = Array.from({ length: MOST_TABS }, (_, slot) => slot).filter((slot) => !device.open.has(slot));
  const slot = chance.pick(free);
  if (slot === undefined) return undefined;
  simulation.count("tab opened");
  return `${device.openTab(slot).name} is opened`;
}
