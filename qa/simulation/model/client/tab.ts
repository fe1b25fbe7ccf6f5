import type { LoadedPart } from "../../../../packages/sdk/src/api/loading/loaded-part.ts";
import type { SyncClient } from "../../../../packages/sdk/src/api/sync-client.ts";
import type { UndoableWrite } from "../../../../packages/sdk/src/api/writes/write-api.ts";
import type { Clock, Signals, Tabs } from "../../../../packages/sdk/src/engine/ports.ts";
import { createClientOn, type Platform } from "../../../../packages/sdk/src/platform.ts";
import type { SeededRandom } from "../../../support/seeded-random.ts";
import type { Owner } from "../schedule.ts";
import { schema, schemaBefore } from "../schema.ts";
import { type Link, SimulatedHttp } from "../server/http.ts";
import { SimulatedStream } from "../server/stream.ts";
import { type Budget, isSamePart, overBudget, type PartOfSlides } from "./budget.ts";
import type { SimulatedDisk } from "./disk.ts";
import type { SimulatedTabs } from "./tabs.ts";

type Listener = Parameters<Signals["start"]>[0];

/** The device of a tab. */
export interface Home {
  readonly name: string;
  readonly link: Link;
  /** What the tabs with a store of this name share. */
  storeNamed(name: string): { readonly disk: SimulatedDisk; readonly tabs: SimulatedTabs };
  readonly isOnline: boolean;
  /** Whether the platform reports that the network is down. */
  readonly reportsOffline: boolean;
  /** How far the wall's clock is off. */
  readonly clockAhead: number;
  /** Tabs that are opened now are of the version before. */
  readonly isOutdated: boolean;
  /** Its clients follow only the parts of the slides that their apps load. */
  readonly hasParts: boolean;
  tokenForTabs(): string | undefined;
}

/** One tab of a device: the real client, on ports of the simulation. */
export class Tab implements Owner {
  readonly name: string;
  readonly home: Home;
  /** Which of its device's tabs it is; one that is opened later takes the place of one that is gone. */
  readonly slot: number;
  readonly client: SyncClient<typeof schema>;
  readonly http: SimulatedHttp;
  readonly stream: SimulatedStream;
  isFrozen = false;
  /** It has a store beside the one of its device's owner. */
  isBeside = false;
  /** Its rows can be read. */
  isReady = false;
  /** The app is closing it, or has. */
  closing: "no" | "closing" | "closed" = "no";
  isPaused = false;
  /** The platform has reported that there is no network. */
  sawOffline = false;
  /** It runs the version before. */
  readonly isOutdated: boolean;
  /** The highest value that it has shown of each record that counts up. */
  readonly shown = new Map<string, number>();
  /** Its writes that may be undone, with the keys of their records. */
  readonly undoable: { readonly write: UndoableWrite; readonly keys: readonly string[] }[] = [];
  /** Parts that its app has loaded and not released. */
  readonly parts: { readonly where: PartOfSlides; readonly loaded: LoadedPart }[] = [];
  /** Parts that stay while it is open. */
  readonly pinned: PartOfSlides[] = [];
  readonly budget: Budget;
  /** The part that its app has just loaded; what it does for that is done before the next task. */
  loading: PartOfSlides | undefined;
  /** What a load kept beyond its budget. */
  overBudget: string | undefined;
  /** Slides that it showed with a write on its way, and how far the log had changed them. */
  withWrites: ReadonlyMap<string, number | undefined> = new Map();
  #signals: Listener | undefined;

  constructor(
    home: Home,
    slot: number,
    name: string,
    chance: { own: SeededRandom; now(): SeededRandom },
    budget: Budget = {},
  ) {
    this.budget = budget;
    this.home = home;
    this.slot = slot;
    this.isOutdated = home.isOutdated;
    this.name = name;
    this.http = new SimulatedHttp(home.link, this);
    this.stream = new SimulatedStream(home.link, this, chance.now);
    this.client = createClientOn(this.#platform(chance.own), {
      schema: home.isOutdated ? (schemaBefore as unknown as typeof schema) : schema,
      url: "http://simulated.test",
      store: home.name,
      getToken: () => this.#getToken(),
      ...(home.hasParts && { follow: { where: { slide: [] } } }),
      ...budget,
    });
    this.client.ready().then(
      () => {
        this.isReady = true;
      },
      () => {},
    );
  }

  /** Delivers a platform event. Events of a tab arrive in order. */
  emit(signal: "online" | "offline" | "woke" | "hidden"): void {
    const deliver = () => {
      if (signal === "woke") this.#signals?.woke();
      else if (signal === "hidden") this.#signals?.hidden();
      else this.#network(signal === "online");
    };
    this.home.link.schedule.add(`${this.name} hears ${signal}`, this, deliver, `signals to ${this.name}`);
  }

  #network(isUp: boolean): void {
    this.sawOffline = !isUp;
    this.#signals?.network(isUp);
  }

  #platform(chance: SeededRandom): Platform {
    let names = 0;
    return {
      clock: this.#clock(),
      random: { roll: () => chance.roll(), id: () => `${this.name}-${++names}` },
      storage: async (name) => this.home.storeNamed(name).disk.portOf(this),
      tabs: (name) => this.#watched(this.home.storeNamed(name).tabs.portOf(this)),
      signals: () => ({
        start: (listener) => {
          this.#signals = listener;
          if (!this.home.isOnline && this.home.reportsOffline) this.#network(false);
        },
        close: () => {
          this.#signals = undefined;
        },
      }),
      server: (token) => this.http.port(token),
      stream: () => this.stream.port(),
    };
  }

  /** What a tab follows, it tells the others at once. */
  #watched(tabs: Tabs): Tabs {
    return {
      ...tabs,
      post: (message) => {
        if (message.type === "scope") this.#followed(message.scope.where?.slide as PartOfSlides[] | undefined);
        tabs.post(message);
      },
    };
  }

  #followed(parts: readonly PartOfSlides[] = []): void {
    const { loading } = this;
    if (!loading || !parts.some((part) => isSamePart(part, loading))) return;
    this.loading = undefined;
    const kept = parts.filter((part) => !isSamePart(part, loading) && !this.needs(part));
    this.overBudget ??= overBudget(this, kept);
  }

  /** Whether its app uses a part, or has pinned it. */
  needs(part: PartOfSlides): boolean {
    return [...this.parts.map(({ where }) => where), ...this.pinned].some((one) => isSamePart(one, part));
  }

  #clock(): Clock {
    const { schedule } = this.home.link;
    return {
      now: () => schedule.calendar + this.home.clockAhead,
      monotonic: () => schedule.now,
      wait: (ms, then) => schedule.after(ms, `a timer of ${this.name} rings`, this, then),
    };
  }

  #getToken(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.home.link.schedule.add(`the app gives ${this.name} a token`, this, () => {
        const token = this.home.tokenForTabs();
        if (token === undefined) reject(new Error("No person is signed in."));
        else resolve(token);
      });
    });
  }
}
