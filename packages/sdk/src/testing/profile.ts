import type { PostedMessage } from "../core/tabs/tab-message.ts";
import type { Tabs } from "../engine/ports.ts";

type Listener = Parameters<Tabs["start"]>[0];

interface Tab {
  listener: Listener | undefined;
  frozen: boolean;
  /** Messages to this tab are lost. */
  isDropping: boolean;
  readonly missed: PostedMessage[];
}

/** The tabs of one browser profile, in one thread: a queue of candidates and a channel. */
export class Profile {
  readonly #candidates: Tab[] = [];
  readonly #all = new Set<Tab>();
  #leader: Tab | undefined;
  /** All that was posted, in order. */
  readonly posted: PostedMessage[] = [];

  tab(): {
    tabs: Tabs;
    kill(): void;
    freeze(): void;
    thaw(): void;
    steal(): void;
    dropMessages(): void;
    receiveMessages(): void;
  } {
    const tab: Tab = { listener: undefined, frozen: false, isDropping: false, missed: [] };
    const leave = () => {
      const at = this.#candidates.indexOf(tab);
      if (at >= 0) this.#candidates.splice(at, 1);
      if (this.#leader === tab) this.#leader = undefined;
    };
    const remove = () => {
      leave();
      this.#all.delete(tab);
      this.#next();
    };
    const tabs: Tabs = {
      start: (listener) => {
        tab.listener = listener;
        this.#all.add(tab);
      },
      campaign: (wanted) => {
        leave();
        if (wanted) this.#candidates.push(tab);
        this.#next();
      },
      post: (message) => {
        if (!this.#all.has(tab)) return;
        this.posted.push(message);
        for (const other of this.#all) if (other !== tab) this.#deliver(other, message);
      },
      close: remove,
    };
    return {
      tabs,
      kill: remove,
      freeze: () => {
        tab.frozen = true;
      },
      thaw: () => {
        tab.frozen = false;
        for (const message of tab.missed.splice(0)) this.#deliver(tab, message);
      },
      dropMessages: () => {
        tab.isDropping = true;
      },
      receiveMessages: () => {
        tab.isDropping = false;
      },
      /** Takes the lead, like a tab that gets no reply from the leader. */
      steal: () => {
        const before = this.#leader;
        leave();
        this.#leader = tab;
        queueMicrotask(() => tab.listener?.lead());
        if (before && before !== tab) queueMicrotask(() => before.listener?.fenced());
      },
    };
  }

  #deliver(tab: Tab, message: PostedMessage): void {
    if (tab.isDropping) return;
    if (tab.frozen) tab.missed.push(message);
    else queueMicrotask(() => this.#all.has(tab) && tab.listener?.received(structuredClone(message)));
  }

  #next(): void {
    if (this.#leader) return;
    this.#leader = this.#candidates.shift();
    const leader = this.#leader;
    if (leader) queueMicrotask(() => this.#leader === leader && leader.listener?.lead());
  }
}
