import type { TabMessage, Tabs } from "../../engine/ports.ts";
import type { Agenda, Owner } from "./agenda.ts";

interface Member {
  readonly tab: Owner;
  readonly lead: () => void;
  readonly heard: (message: TabMessage) => void;
}

/** The tabs of one device: who holds the lock, and what they tell each other. A message is a task for each who hears it. */
export class SimulatedTabs {
  readonly #agenda: Agenda;
  readonly #name: string;
  #members: Member[] = [];
  /** In the order in which they asked for the lock; the first one holds it. */
  #line: Member[] = [];

  constructor(agenda: Agenda, name: string) {
    this.#agenda = agenda;
    this.#name = name;
  }

  get holder(): Owner | undefined {
    return this.#line[0]?.tab;
  }

  portOf(tab: Owner): Tabs {
    return {
      start: ({ lead, heard }) => {
        const member: Member = { tab, lead, heard };
        this.#members.push(member);
        this.#agenda.add(`${tab.name} asks for the lock of ${this.#name}`, tab, () => {
          if (!this.#members.includes(member)) return;
          this.#line.push(member);
          if (this.#line[0] === member) this.#grant(member);
        });
      },
      post: (message) => this.#post(tab, message),
      close: () => this.leave(tab),
    };
  }

  /** The tab is gone; the browser gives the lock to the next. */
  leave(tab: Owner): void {
    const held = this.holder === tab;
    this.#members = this.#members.filter((member) => member.tab !== tab);
    this.#line = this.#line.filter((member) => member.tab !== tab);
    const [next] = this.#line;
    if (held && next) this.#grant(next);
  }

  #grant(member: Member): void {
    this.#agenda.add(`${member.tab.name} gets the lock of ${this.#name}`, member.tab, () => {
      if (this.#line[0] === member) member.lead();
    });
  }

  #post(from: Owner, message: TabMessage): void {
    // What cannot be cloned cannot be told, in a browser too.
    const told = structuredClone(message);
    for (const { tab, heard } of this.#members)
      if (tab !== from)
        this.#agenda.add(
          `${tab.name} hears "${message.type}" from ${from.name}`,
          tab,
          () => heard(told),
          // A channel is one line for each who hears it: what was said because of something comes after it.
          `what ${tab.name} hears`,
        );
  }
}
