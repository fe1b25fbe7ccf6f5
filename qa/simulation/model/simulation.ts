import { SeededRandom } from "../../support/seeded-random.ts";
import { Device } from "./client/device.ts";
import { Observations } from "./client/observations.ts";
import type { Tab } from "./client/tab.ts";
import { EventSchedule } from "./schedule.ts";
import { schema } from "./schema.ts";
import { Service } from "./server/service.ts";

export const MOST_TABS = 3;

/** The first seed of schedules in which something may be part of the weather. */
export const FIRST_WITH = {
  tenants: 2 ** 25,
  doubts: 2 ** 26,
  parts: 2 ** 27,
  values: 2 ** 28,
  guests: 2 ** 29,
  sequences: 2 ** 30,
  budgets: 2 ** 31,
  sleeps: 2 ** 31 + 2 ** 30,
} as const satisfies Partial<Record<keyof Weather, number>>;

/** The faults of a run. Some rules hold only without certain faults, so no run has all of them. */
export interface Weather {
  /** Storage fails, or is wiped. */
  readonly storage: boolean;
  /** The server is restored from a backup, or begins a new log. */
  readonly restores: boolean;
  /** Claims are taken and lost. */
  readonly claims: boolean;
  /** Another user signs in, the same one in another organization, and memberships change. */
  readonly tenants: boolean;
  /** A good token is refused once. */
  readonly doubts: boolean;
  /** Clients follow only parts of the slides, which their apps load and release. */
  readonly parts: boolean;
  /** People of another organization open tabs on the devices, at the same time. */
  readonly guests: boolean;
  /** There are records with unique fields and checked references. */
  readonly values: boolean;
  /** Apps delete, create, change and archive one record in a row, in any order. */
  readonly sequences: boolean;
  /** Tabs have small budgets for what their apps released, each its own, and apps pin parts. */
  readonly budgets: boolean;
  /** All devices sleep for weeks, in which the server forgets receipts, and their clocks are set by weeks. */
  readonly sleeps: boolean;
}

/** One run: a server, some devices, the time, and the observations. */
export class Simulation {
  readonly seed: number;
  readonly schedule = new EventSchedule();
  readonly observations = new Observations();
  readonly service: Service;
  readonly devices: readonly Device[];
  readonly weather: Weather;
  /** No more faults, and all messages arrive before the next decision. */
  isCalm = false;
  /** Decides what checks ask, so that questions change nothing of what happens. */
  readonly queries: SeededRandom;
  /** How often each thing happened. */
  readonly counts = new Map<string, number>();
  #chance: SeededRandom;
  #hash = 0x811c9dc5;
  readonly #trace: string[] | undefined;

  constructor(seed: number, isTraced: boolean) {
    this.seed = seed;
    this.#chance = SeededRandom.of(seed, -1);
    this.#trace = isTraced ? [] : undefined;
    this.service = new Service(schema, () => this.schedule.calendar);
    // Uses its own random numbers, and only for high seeds, so that runs of earlier seeds do not change.
    const tenants = seed >= FIRST_WITH.tenants && SeededRandom.of(seed, -2).percent(50);
    // The store with the plain name stays the owner's.
    const guests = seed >= FIRST_WITH.guests && SeededRandom.of(seed, -6).percent(60) && !tenants;
    const hasParts = seed >= FIRST_WITH.parts && SeededRandom.of(seed, -4).percent(50);
    this.weather = {
      // A lost store belongs to the owner of the next token that the server sees.
      storage: this.#chance.percent(25) && !tenants && !guests,
      restores: this.#chance.percent(25),
      claims: this.#chance.percent(30),
      tenants,
      guests,
      doubts: seed >= FIRST_WITH.doubts && SeededRandom.of(seed, -3).percent(50),
      parts: hasParts,
      values: seed >= FIRST_WITH.values && SeededRandom.of(seed, -5).percent(50),
      sequences: seed >= FIRST_WITH.sequences && SeededRandom.of(seed, -7).percent(75),
      sleeps: seed >= FIRST_WITH.sleeps && SeededRandom.of(seed, -10).percent(75) && !guests,
      budgets: seed >= FIRST_WITH.budgets && hasParts && SeededRandom.of(seed, -8).percent(75),
    };
    this.queries = SeededRandom.of(seed, -9);
    const { schedule, service, observations } = this;
    const { tenants: hasTenants, guests: hasGuests, budgets: hasBudgets } = this.weather;
    const around = {
      seed,
      schedule,
      service,
      observations,
      hasTenants,
      hasGuests,
      hasParts,
      hasBudgets,
      chance: () => this.#chance,
    };
    this.devices = Array.from({ length: 1 + this.#chance.below(3) }, (_, i) => new Device(around, i));
    for (const device of this.devices) {
      const tabs = 1 + this.#chance.below(MOST_TABS);
      for (let slot = 0; slot < tabs; slot++) device.openTab(slot);
    }
  }

  get chance(): SeededRandom {
    return this.#chance;
  }

  /** From here on chance is that of one step. */
  begin(step: number): void {
    this.#chance = SeededRandom.of(this.seed, step);
  }

  get tabs(): readonly Tab[] {
    return this.devices.flatMap((device) => device.living);
  }

  /** Tabs of people of another organization. */
  get guests(): readonly Tab[] {
    return this.devices.flatMap((device) => [...device.guests]);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Records each event once: in the trace of the run, and in the hash that distinguishes two runs. */
  print(what: string): void {
    let hash = this.#hash;
    for (let i = 0; i < what.length; i++) hash = Math.imul(hash ^ what.charCodeAt(i), 0x01000193);
    this.#hash = hash;
    this.#trace?.push(`${String(this.schedule.now).padStart(8)} ms  ${what}`);
  }

  get trace(): readonly string[] {
    return this.#trace ?? [];
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }
}
