import { alwaysSo, type Check, isWithheld } from "./checks/checks.ts";
import { openPromise, soInTheEnd } from "./checks/end-checks.ts";
import { includesNowAndThen } from "./checks/includes.ts";
import { alwaysSoOfParts } from "./checks/parts.ts";
import type { Tab } from "./client/tab.ts";
import { drained } from "./drain.ts";
import { Simulation } from "./simulation.ts";
import { act, close } from "./steps/acts.ts";
import { turnNetwork } from "./steps/faults.ts";
import { closeGuest, killGuest } from "./steps/guests.ts";
import { personDecides } from "./steps/person.ts";

export interface Violation {
  /** The check that says so. */
  readonly check: string;
  readonly says: string;
  /** Number of the step in which it was seen; undefined: after all of them. */
  readonly step: number | undefined;
}

export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Two runs with the same one had the same things happen in the same order. */
  readonly hash: string;
  /** The trace, one line per event; empty unless requested. */
  readonly trace: readonly string[];
  /** How many single things happened. */
  readonly picks: number;
  readonly counts: ReadonlyMap<string, number>;
}

export interface Schedule {
  readonly seed: number;
  /** The steps that are made, by their numbers; default: all of them, in order. */
  readonly steps?: readonly number[];
  readonly isTraced?: boolean;
}

export const STEPS = 70;
/** The most tasks per step. */
const BURST = 14;
/** Longer than the last reload for an announced write, which follows 2, 10 and 50 s after the message. */
const RELOAD_AGAIN_MS = 65_000;
const MOST_PICKS = 60_000;
/** After that much time, with everything in order, a client that has not come to rest never will. */
const REST_MS = 3_600_000;

export const allSteps: readonly number[] = Array.from({ length: STEPS }, (_, i) => i);

/** Makes one run: its steps, then peace, then a reload of everything. It stops at the first thing that is not so. */
export async function runSchedule({ seed, steps = allSteps, isTraced = false }: Schedule): Promise<Outcome> {
  const simulation = new Simulation(seed, isTraced);
  const run = new Run(simulation);
  await run.wholly(steps);
  const { violation, picks } = run;
  return { seed, violation, hash: simulation.hash, trace: simulation.trace, picks, counts: simulation.counts };
}

class Run {
  violation: Violation | undefined;
  picks = 0;
  readonly #simulation: Simulation;
  #step: number | undefined;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  async wholly(steps: readonly number[]): Promise<void> {
    await drained();
    for (const step of steps) {
      await this.#one(step);
      if (this.violation) return;
    }
    this.#step = undefined;
    this.#simulation.begin(1_000_000);
    this.#simulation.print("from here on everything works");
    this.#simulation.isCalm = true;
    this.#heal();
    await this.#rest();
    if (!this.violation) await this.#reload();
  }

  async #one(step: number): Promise<void> {
    const simulation = this.#simulation;
    this.#step = step;
    simulation.begin(step);
    simulation.print(`step ${step}: ${act(simulation)}`);
    await this.#afterwards();
    const burst = simulation.chance.below(BURST);
    for (let i = 0; i < burst && !this.violation; i++) if (!(await this.#pick())) return;
  }

  /** One thing that can happen does. False: nothing can. */
  async #pick(): Promise<boolean> {
    const { schedule, chance } = this.#simulation;
    const happened = schedule.runOne(chance);
    if (!happened) return false;
    this.picks += 1;
    this.#simulation.print(happened.what);
    // A tab changes only by its own tasks.
    await this.#afterwards(this.#simulation.tabs.filter((tab) => tab === happened.owner));
    return true;
  }

  async #afterwards(moved: readonly Tab[] = this.#simulation.tabs): Promise<void> {
    await drained();
    this.#check([...alwaysSo, ...alwaysSoOfParts, includesNowAndThen], moved);
  }

  #check(checks: readonly Check[], tabs: readonly Tab[]): void {
    for (const { name, check } of checks) {
      const says = this.violation ? undefined : check(this.#simulation, tabs);
      if (says !== undefined) this.#complain(name, says);
    }
  }

  #heal(): void {
    const simulation = this.#simulation;
    for (const device of simulation.devices) {
      for (const id of device.claims.values()) simulation.service.model.claims.end(id, "expired");
      device.claims.clear();
      // A guest that took the owner's store for its own needs a new client.
      for (const guest of device.guests) if (!guest.isBeside) killGuest(simulation, device, guest);
      device.tokens = "good";
      device.signedIn = "owner";
      device.isOutdated = false;
      for (const tab of device.living) {
        tab.isFrozen = false;
        if (tab.isPaused && tab.closing === "no") tab.client.resume();
        tab.isPaused = false;
      }
      turnNetwork(simulation, device, true);
    }
  }

  /** Runs all tasks, and makes a person decide what waits for a decision, until nothing is left to do. */
  async #rest(): Promise<void> {
    const simulation = this.#simulation;
    const until = simulation.schedule.now + REST_MS;
    let isRechecked = false;
    await drained();
    while (!this.violation) {
      if (await this.#pick()) {
        if (this.picks > MOST_PICKS) return this.#complain("everything comes to rest", "It goes on and on.");
        continue;
      }
      if (await this.#decide()) continue;
      if (this.#openMissing()) {
        await drained();
        continue;
      }
      if (this.#isAtRest() && !isRechecked) {
        // A tab that waits for a message reloads the queue after a while.
        isRechecked = true;
        simulation.schedule.moveOn(RELOAD_AGAIN_MS);
        continue;
      }
      const next = simulation.schedule.untilNextTimer();
      const isLate = next === undefined || simulation.schedule.now + next > until;
      // A tab may still look up the outcome of a write, and wait for a token before that.
      if (this.#isAtRest() && (isLate || openPromise(simulation, simulation.tabs) === undefined)) break;
      if (isLate) return this.#complain("everything comes to rest", this.#unrest());
      simulation.schedule.moveOn(next);
    }
    this.#check(soInTheEnd, simulation.tabs);
  }

  async #decide(): Promise<boolean> {
    const simulation = this.#simulation;
    for (const device of simulation.devices)
      for (const tab of device.living) {
        const said = personDecides(simulation, device, tab);
        if (said === undefined) continue;
        simulation.print(said);
        await this.#afterwards();
        return true;
      }
    return false;
  }

  /** Writes on a device's disk are sent when the app is opened there again. */
  #openMissing(): boolean {
    const without = this.#simulation.devices.filter(({ living }) => living.length === 0);
    for (const device of without) device.openTab(0);
    const hosts = this.#simulation.devices.filter(({ beside, guests }) => beside.length > 0 && guests.size === 0);
    for (const device of hosts) device.openGuest();
    return without.length + hosts.length > 0;
  }

  #isAtRest(): boolean {
    const { tabs, devices, service } = this.#simulation;
    const leaders = new Set<unknown>(devices.map((device) => device.tabs.holder));
    return (
      this.#guestsAreAtRest() &&
      tabs.every((tab) => {
        const { pending, syncId } = tab.client.status();
        // A line that is dead and not noticed yet, or none, may hide that the log is another one.
        const isNotified = leaders.has(tab) ? tab.stream.isOpen : !tab.stream.isDead;
        return (
          tab.closing === "no" &&
          tab.isReady &&
          !isWithheld(tab) &&
          pending === 0 &&
          syncId === service.model.head &&
          isNotified
        );
      })
    );
  }

  #guestsAreAtRest(): boolean {
    const { guests, service } = this.#simulation;
    const { head } = service.tenants.elsewhere;
    return guests.every(({ closing, isReady, client }) => {
      const { name, pending, syncId } = client.status();
      return closing === "no" && isReady && name === "online" && pending === 0 && syncId === head;
    });
  }

  #unrest(): string {
    const { tabs, service } = this.#simulation;
    const said = [...tabs, ...this.#simulation.guests].map(({ name, client }) => {
      const { name: status, pending, syncId, reason } = client.status();
      return `${name} is ${status} at ${syncId} with ${pending} pending${reason ? ` (${reason})` : ""}`;
    });
    return `The server is at ${service.model.head}; ${said.join("; ")}.`;
  }

  /** Closes every tab and opens one per device, which shows what was stored. */
  async #reload(): Promise<void> {
    const simulation = this.#simulation;
    simulation.print("every tab is closed, and one opened");
    const closing = [...simulation.tabs, ...simulation.guests];
    const hosts = simulation.devices.filter(({ beside }) => beside.length > 0);
    for (const device of simulation.devices) {
      for (const tab of device.living) close(device, tab);
      for (const tab of device.guests) closeGuest(device, tab);
    }
    await drained();
    while (simulation.tabs.length + simulation.guests.length > 0 && !this.violation)
      if (!(await this.#pick())) {
        const next = simulation.schedule.untilNextTimer();
        if (next === undefined) return this.#complain("a client closes", closing.map(({ name }) => name).join(", "));
        simulation.schedule.moveOn(next);
      }
    for (const tab of closing) {
      const timer = simulation.schedule.timerOf(tab);
      if (timer !== undefined) return this.#complain("nothing stays open", `${tab.name} was closed, and ${timer}`);
    }
    for (const device of simulation.devices) device.openTab(0);
    for (const device of hosts) device.openGuest();
    await this.#rest();
    for (const { name, disk } of simulation.devices.flatMap((device) => [
      device,
      ...device.beside.map((beside) => ({ ...beside, name: `${device.name}, beside` })),
    ])) {
      const kept = await disk.queue();
      if (kept.length > 0) this.#complain("nothing is left on disk", `${name} keeps ${kept.map((m) => m.clientTxId)}`);
    }
  }

  #complain(check: string, says: string): void {
    this.violation ??= { check, says, step: this.#step };
  }
}
