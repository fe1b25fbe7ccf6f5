import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { Tabs } from "../engine/ports.ts";

type Listener = Parameters<Tabs["start"]>[0];

interface Tab {
  listener: Listener | undefined;
  stands: boolean;
  frozen: boolean;
  /** What it is told is lost. */
  deaf: boolean;
  readonly missed: TabMessage[];
}

/** The tabs of one browser profile, in one thread: a line for the lead and a channel. */
export class Profile {
  readonly #line: Tab[] = [];
  readonly #all = new Set<Tab>();
  #leader: Tab | undefined;
  /** All that was said, in order. */
  readonly said: TabMessage[] = [];

  tab(): { tabs: Tabs; kill(): void; freeze(): void; thaw(): void; steal(): void; deafen(): void; hearAgain(): void } {
    const tab: Tab = { listener: undefined, stands: false, frozen: false, deaf: false, missed: [] };
    const leave = () => {
      const at = this.#line.indexOf(tab);
      if (at >= 0) this.#line.splice(at, 1);
      if (this.#leader === tab) this.#leader = undefined;
    };
    const gone = () => {
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
        if (wanted) this.#line.push(tab);
        this.#next();
      },
      post: (message) => {
        if (!this.#all.has(tab)) return;
        this.said.push(message);
        for (const other of this.#all) if (other !== tab) this.#tell(other, message);
      },
      close: gone,
    };
    return {
      tabs,
      kill: gone,
      freeze: () => {
        tab.frozen = true;
      },
      thaw: () => {
        tab.frozen = false;
        for (const message of tab.missed.splice(0)) this.#tell(tab, message);
      },
      deafen: () => {
        tab.deaf = true;
      },
      hearAgain: () => {
        tab.deaf = false;
      },
      /** Takes the lead, as a tab does whose call the leader does not answer. */
      steal: () => {
        const before = this.#leader;
        leave();
        this.#leader = tab;
        queueMicrotask(() => tab.listener?.lead());
        if (before && before !== tab) queueMicrotask(() => before.listener?.fenced());
      },
    };
  }

  #tell(tab: Tab, message: TabMessage): void {
    if (tab.deaf) return;
    if (tab.frozen) tab.missed.push(message);
    else queueMicrotask(() => this.#all.has(tab) && tab.listener?.heard(structuredClone(message)));
  }

  #next(): void {
    if (this.#leader) return;
    this.#leader = this.#line.shift();
    const leader = this.#leader;
    if (leader) queueMicrotask(() => this.#leader === leader && leader.listener?.lead());
  }
}
