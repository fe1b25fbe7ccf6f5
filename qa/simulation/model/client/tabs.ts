import type { PostedMessage } from "../../../../packages/sdk/src/core/tabs/tab-message.ts";
import type { Tabs } from "../../../../packages/sdk/src/engine/ports.ts";
import type { EventSchedule, Owner } from "../schedule.ts";

/** How long a tab waits for the one that leads to answer before it takes the lock from it. */
const PATIENCE_MS = 6_000;

type Listener = Parameters<Tabs["start"]>[0];

interface Member {
  readonly tab: Owner;
  readonly listener: Listener;
}

/** One stay in the line, from `stand` to the end of the lead or of the wish for it. */
interface Stay {
  readonly member: Member;
  /** Cancels the timeout of the call. */
  cancelTimeout: () => void;
}

/** The tabs of one device: their lock and their messages. A message is one task per receiver. */
export class SimulatedTabs {
  readonly #schedule: EventSchedule;
  readonly #name: string;
  readonly #members = new Map<Owner, Member>();
  /** In the order in which they requested the lock; the first one holds it. */
  #queue: Stay[] = [];

  constructor(schedule: EventSchedule, name: string) {
    this.#schedule = schedule;
    this.#name = name;
  }

  get holder(): Owner | undefined {
    return this.#queue[0]?.member.tab;
  }

  portOf(tab: Owner): Tabs {
    return {
      start: (listener) => void this.#members.set(tab, { tab, listener }),
      campaign: (wanted) => {
        this.#out(tab);
        if (wanted) this.#stand(tab);
      },
      post: (message) => this.#post(tab, message),
      close: () => this.leave(tab),
    };
  }

  /** The tab is gone; the browser gives the lock to the next. */
  leave(tab: Owner): void {
    this.#members.delete(tab);
    this.#out(tab);
  }

  /** The leader is frozen, and the candidates notice. */
  froze(): void {
    for (const stay of this.#queue.slice(1)) this.#watch(stay);
  }

  /** A candidate steals the lock, whether or not its holder is alive. */
  steal(at: number): string | undefined {
    const stay = this.#queue[1 + at];
    if (!stay) return undefined;
    const [robbed] = this.#queue;
    this.#queue = [stay, ...this.#queue.slice(1).filter((one) => one !== stay)];
    const { tab, listener } = robbed?.member ?? stay.member;
    this.#schedule.add(
      `${tab.name} loses the lock of ${this.#name}`,
      tab,
      () => listener.fenced(),
      `lock of ${tab.name}`,
    );
    this.#grant(stay);
    return `${stay.member.tab.name} takes the lock from ${tab.name}`;
  }

  get waiting(): number {
    return Math.max(0, this.#queue.length - 1);
  }

  #stand(tab: Owner): void {
    const member = this.#members.get(tab);
    if (!member) return;
    const stay: Stay = { member, cancelTimeout: () => {} };
    this.#queue.push(stay);
    if (this.#queue[0] === stay) this.#grant(stay);
    else if (this.holder?.isFrozen) this.#watch(stay);
  }

  #out(tab: Owner): void {
    const held = this.holder === tab;
    for (const { member, cancelTimeout } of this.#queue) if (member.tab === tab) cancelTimeout();
    this.#queue = this.#queue.filter(({ member }) => member.tab !== tab);
    const [next] = this.#queue;
    if (!held || !next) return;
    this.#grant(next);
    if (next.member.tab.isFrozen) this.froze();
  }

  #grant(stay: Stay): void {
    const { tab, listener } = stay.member;
    stay.cancelTimeout();
    const granted = () => {
      if (this.#queue[0] === stay) listener.lead();
    };
    this.#schedule.add(`${tab.name} gets the lock of ${this.#name}`, tab, granted, `lock of ${tab.name}`);
  }

  /** A candidate whose call gets no reply steals the lock. */
  #watch(stay: Stay): void {
    const { tab } = stay.member;
    stay.cancelTimeout();
    stay.cancelTimeout = this.#schedule.after(
      PATIENCE_MS,
      `${tab.name} has asked in vain who leads ${this.#name}`,
      tab,
      () => {
        const at = this.#queue.indexOf(stay);
        if (at > 0 && this.holder?.isFrozen) this.steal(at - 1);
      },
    );
  }

  #post(from: Owner, message: PostedMessage): void {
    const others = [...this.#members.values()].filter(({ tab }) => tab !== from);
    if (others.length === 0) return;
    // Like a browser's channel, throws for a message that cannot be cloned.
    const copy = structuredClone(message);
    for (const { tab, listener } of others)
      this.#schedule.add(
        `${tab.name} hears "${message.type}" from ${from.name}`,
        tab,
        () => listener.received(copy),
        // Each receiver gets the messages of a channel in the order in which they were posted.
        `what ${tab.name} hears`,
      );
  }
}
