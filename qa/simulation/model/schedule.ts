import type { SeededRandom } from "../../support/seeded-random.ts";

/** Whose code a task runs: a tab. While it is frozen its tasks wait; when it is gone they are gone too. */
export interface Owner {
  readonly name: string;
  readonly isFrozen: boolean;
}

/** One thing that can happen next. */
export interface Task {
  /** The description for the trace. */
  readonly what: string;
  readonly owner: Owner | undefined;
  /** Tasks of one lane run in the order in which they were added; others in any order. */
  readonly lane: string | undefined;
  readonly run: () => void;
}

interface Timer {
  readonly at: number;
  readonly what: string;
  readonly owner: Owner | undefined;
  readonly run: () => void;
}

export type Happened = Pick<Task, "what" | "owner">;

const STARTED_AT = Date.UTC(2030, 0, 1);

/** Everything that has begun and not yet happened, and the time in which it happens. It decides nothing. */
export class EventSchedule {
  #now = 0;
  /** How long the devices have slept in all. */
  slept = 0;
  #tasks: Task[] = [];
  #timers: Timer[] = [];

  /** Milliseconds since the beginning. Nothing but `moveOn` changes it. */
  get now(): number {
    return this.#now;
  }

  add(what: string, owner: Owner | undefined, run: () => void, lane?: string): Task {
    const task: Task = { what, owner, lane, run };
    this.#tasks.push(task);
    return task;
  }

  /** Takes a task off. False: it has happened, or was taken off before. */
  drop(task: Task): boolean {
    const at = this.#tasks.indexOf(task);
    if (at >= 0) this.#tasks.splice(at, 1);
    return at >= 0;
  }

  after(ms: number, what: string, owner: Owner | undefined, run: () => void): () => void {
    const timer: Timer = { at: this.#now + ms, what, owner, run };
    this.#timers.push(timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  /** Removes all tasks of an owner that has ended. */
  dropAllOf(owner: Owner): void {
    this.#tasks = this.#tasks.filter((task) => task.owner !== owner);
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
  }

  tasksOf(owner: Owner): readonly Task[] {
    return this.#tasks.filter((task) => task.owner === owner);
  }

  /** The timers of the owner. */
  timerOf(owner: Owner): string | undefined {
    return this.#timers.find((timer) => timer.owner === owner)?.what;
  }

  hasTask(owner: Owner): boolean {
    return this.#tasks.some((task) => task.owner === owner);
  }

  /** Runs one of the possible tasks. Undefined: there is none. */
  runOne(chance: SeededRandom): Happened | undefined {
    const next = chance.pick(this.#ready());
    if (!next) return undefined;
    this.#take(next);
    next.run();
    return next;
  }

  /** The time (ms since 1970), with the sleeps of the devices, whose timers and monotonic clocks stand still meanwhile. */
  get calendar(): number {
    return STARTED_AT + this.#now + this.slept;
  }

  moveOn(ms: number): void {
    this.#now += ms;
  }

  /** How long it takes until the next timer of a tab that is not frozen is due. */
  untilNextTimer(): number | undefined {
    let next: number | undefined;
    for (const { at, owner } of this.#timers) if (!owner?.isFrozen && (next === undefined || at < next)) next = at;
    return next === undefined ? undefined : Math.max(0, next - this.#now);
  }

  #ready(): (Task | Timer)[] {
    const lanes = new Set<string>();
    const ready: (Task | Timer)[] = [];
    for (const task of this.#tasks) {
      if (task.lane !== undefined) {
        if (lanes.has(task.lane)) continue;
        lanes.add(task.lane);
      }
      if (!task.owner?.isFrozen) ready.push(task);
    }
    // Of the timers of one tab the one that is due first rings first.
    const first = new Map<Owner | undefined, Timer>();
    for (const timer of this.#timers) {
      if (timer.at > this.#now || timer.owner?.isFrozen) continue;
      const known = first.get(timer.owner);
      if (!known || timer.at < known.at) first.set(timer.owner, timer);
    }
    ready.push(...first.values());
    return ready;
  }

  #take(next: Task | Timer): void {
    const at = this.#tasks.indexOf(next as Task);
    if (at >= 0) this.#tasks.splice(at, 1);
    else this.#timers.splice(this.#timers.indexOf(next as Timer), 1);
  }
}
