import type { Write } from "../../../../packages/sdk/src/api/writes/write-api.ts";
import type { CommitReceipt } from "../../../../packages/sdk/src/protocol/commits/commit.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";
import type { EventSchedule, Owner } from "../schedule.ts";
import type { Link } from "../server/http.ts";
import type { Service } from "../server/service.ts";
import { ownerOf, type SignedIn } from "../server/tenants.ts";
import type { Budget } from "./budget.ts";
import { SimulatedDisk } from "./disk.ts";
import type { NotedWrite, Observations } from "./observations.ts";
import { type Home, Tab } from "./tab.ts";
import { SimulatedTabs } from "./tabs.ts";

/** The parts that all devices of a run share. */
export interface Surroundings {
  readonly seed: number;
  readonly schedule: EventSchedule;
  readonly service: Service;
  readonly observations: Observations;
  /** The choices of the present step. */
  chance(): SeededRandom;
  /** Others sign in on these devices, too. */
  readonly hasTenants: boolean;
  /** People of another organization open tabs on these devices, at the same time. */
  readonly hasGuests: boolean;
  /** Clients follow only the parts of the slides that their apps load. */
  readonly hasParts: boolean;
  /** Tabs have small budgets for released parts. */
  readonly hasBudgets: boolean;
}

/** One browser profile: its tabs, disk, lock, network connection and signed-in person. */
export class Device implements Home {
  readonly name: string;
  readonly link: Link;
  readonly disk: SimulatedDisk;
  readonly tabs: SimulatedTabs;
  /** Open tabs by their slots. */
  readonly open = new Map<number, Tab>();
  isOnline = true;
  reportsOffline = true;
  clockAhead = 0;
  isOutdated = false;
  /** Its disk failed: a tab keeps its writes in memory only, and reports that. */
  hadStorageTrouble = false;
  /** A write was not sent, and not shown any more, because its owner or its age was not known. */
  hadNotShown = false;
  /** The last value that each of its slots wrote to its own record. */
  readonly counters = new Map<number, number>();
  /** Claims that it was given, by record; they may have ended without its knowledge. */
  readonly claims = new Map<string, string>();
  /** The result of the app's `getToken`: a valid token, the previous one, or no signed-in person. */
  tokens: "good" | "old" | "none" = "good";
  /** Whose tokens the app gives. */
  signedIn: SignedIn = "owner";
  /** Tabs of a person of another organization, and the stores that they have beside the device's own. */
  readonly guests = new Set<Tab>();
  readonly #beside = new Map<string, { readonly disk: SimulatedDisk; readonly tabs: SimulatedTabs }>();
  readonly #around: Surroundings;
  readonly #number: number;
  #token: string;
  #tokensMade = 1;
  #tabsMade = 0;

  constructor(around: Surroundings, number: number) {
    const { schedule, service } = around;
    this.#around = around;
    this.#number = number;
    this.name = `d${number}`;
    this.#token = `${this.name} token 1`;
    service.tokens.set(this.name, this.#token);
    this.disk = new SimulatedDisk(
      schedule,
      this.name,
      around.hasTenants || around.hasGuests ? ownerOf(this.name) : undefined,
    );
    this.tabs = new SimulatedTabs(schedule, this.name);
    this.link = {
      schedule,
      service,
      actor: this.name,
      isUp: () => this.isOnline,
      sending: (body, tab) => this.#sending(body, tab),
    };
  }

  storeNamed(name: string): { readonly disk: SimulatedDisk; readonly tabs: SimulatedTabs } {
    // Without guests, this is a platform with only one store for all who sign in.
    if (name === this.name || !this.#around.hasGuests) return this;
    const { schedule } = this.#around;
    const found = this.#beside.get(name) ?? {
      disk: new SimulatedDisk(schedule, name, undefined),
      tabs: new SimulatedTabs(schedule, name),
    };
    this.#beside.set(name, found);
    return found;
  }

  /** The store of the guests, once one of them has opened it. */
  get beside(): readonly { readonly disk: SimulatedDisk; readonly tabs: SimulatedTabs }[] {
    return [...this.#beside.values()];
  }

  openGuest(): Tab {
    this.#tabsMade += 1;
    const name = `${this.name}.g${this.#tabsMade}`;
    const own = SeededRandom.of(this.#around.seed, 1_000_000 + 1_000 * this.#number + this.#tabsMade);
    const device = this;
    const home: Home = {
      name: this.name,
      link: { ...this.link, sending: () => {} },
      storeNamed: (store) => {
        if (store !== this.name) tab.isBeside = true;
        return this.storeNamed(store);
      },
      get isOnline() {
        return device.isOnline;
      },
      get reportsOffline() {
        return device.reportsOffline;
      },
      get clockAhead() {
        return device.clockAhead;
      },
      isOutdated: false,
      hasParts: false,
      tokenForTabs: () => this.#around.service.tenants.foreignToken(this.name, "another organization"),
    };
    const tab = new Tab(home, -1, name, { own, now: () => this.#around.chance() });
    this.guests.add(tab);
    return tab;
  }

  killGuest(tab: Tab, kept: () => number, arrives: () => boolean): void {
    this.guests.delete(tab);
    this.#around.schedule.dropAllOf(tab);
    for (const { disk, tabs } of [this, ...this.#beside.values()]) {
      disk.leave(tab, kept());
      tabs.leave(tab);
    }
    tab.http.leave(arrives);
    tab.stream.leave();
  }

  get hasParts(): boolean {
    return this.#around.hasParts;
  }

  get living(): readonly Tab[] {
    return [...this.open.values()];
  }

  openTab(slot: number): Tab {
    this.#tabsMade += 1;
    const name = `${this.name}.${slot}${this.open.size < this.#tabsMade - 1 ? `~${this.#tabsMade}` : ""}`;
    const own = SeededRandom.of(this.#around.seed, 1_000_000 + 1_000 * this.#number + this.#tabsMade);
    const tab = new Tab(this, slot, name, { own, now: () => this.#around.chance() }, this.#budget());
    this.open.set(slot, tab);
    return tab;
  }

  /** Of two tabs one may keep nothing that was released, and the other one all. */
  #budget(): Budget {
    const { seed, hasParts, hasBudgets } = this.#around;
    if (!hasParts || !hasBudgets) return {};
    const own = SeededRandom.of(seed, 2_000_000 + 1_000 * this.#number + this.#tabsMade);
    const [parts, rows] = [own.pick([0, 0, 1, 2, undefined]), own.pick([0, 1, 3, undefined, undefined])];
    return {
      ...(parts !== undefined && { releasedParts: parts }),
      ...(rows !== undefined && { releasedRows: rows }),
    };
  }

  /** The tab is gone: nothing of it runs any more. */
  kill(tab: Tab, kept: number, arrives: () => boolean): void {
    this.open.delete(tab.slot);
    this.#around.schedule.dropAllOf(tab);
    this.disk.leave(tab, kept);
    tab.http.leave(arrives);
    tab.stream.leave();
    this.tabs.leave(tab);
  }

  tokenForTabs(): string | undefined {
    if (this.signedIn !== "owner") return this.#around.service.tenants.foreignToken(this.name, this.signedIn);
    if (this.tokens === "good") this.#token = this.#around.service.tokens.get(this.name) ?? this.#token;
    return this.tokens === "none" ? undefined : this.#token;
  }

  /** The token has expired. The app may return another one. */
  expireToken(): void {
    this.#tokensMade += 1;
    this.#around.service.tokens.set(this.name, `${this.name} token ${this.#tokensMade}`);
  }

  /** Records the results of a write for the app. */
  wrote(tab: Tab, write: Write, keys: readonly string[]): void {
    this.#around.observations.note(
      write,
      { actor: this.name, tab, keys },
      { queued: (noted) => this.#queuedOnDisk(noted), confirmed: (noted, receipt) => this.#inTheLog(noted, receipt) },
    );
  }

  #queuedOnDisk({ name, receipt }: NotedWrite): string | undefined {
    if (this.disk.flushed.has(name) || receipt !== "open") return undefined;
    return `${name} was said to be queued, and is on no disk`;
  }

  #inTheLog({ name }: NotedWrite, receipt: CommitReceipt): string | undefined {
    // Tabs of before and after a wipe give the same places to different writes, until those of before notice.
    if (this.disk.wipes > 0) return undefined;
    if (this.#around.service.wasConfirmed(this.name, receipt.clientTxId)) return undefined;
    return `${name} was said to be confirmed, and the server knows nothing of ${receipt.clientTxId}`;
  }

  #sending(body: string, tab: Owner): void {
    const { broken } = this.#around.observations;
    // A frozen tab that does not know yet that it was replaced may resend a write that has been decided meanwhile.
    const leads = this.tabs.holder === tab;
    const { commits } = JSON.parse(body) as { commits: { clientTxId: string }[] };
    for (const commit of commits) {
      const { clientTxId: name } = commit;
      if (this.hadStorageTrouble) continue;
      if (leads && !this.#around.service.hasOneText(`${this.name} ${name}`, JSON.stringify(commit)))
        broken.push(`${name} was sent with another text than before`);
      if (!this.disk.flushed.has(name)) broken.push(`${name} was sent and is on no disk`);
    }
  }
}
