import type { ClientFigures } from "../client/tasks.ts";
import { summarize } from "../report/statistics.ts";
import { type Row, round, toAlignedTable } from "../report/table.ts";
import { CATALOGUE, OURS_ACKNOWLEDGED } from "./catalogue.ts";
import type { SystemName } from "./chosen-system.ts";

export const CLIENTS = 64;
export const HEARERS = 100;
export const QUEUED = 5_000;
export const ROWS = 50_000;

export type Side = "holdfast" | SystemName;

interface Measure {
  readonly task: TaskName;
  readonly figure: string;
  readonly what: string;
  readonly unit: string;
}
export type TaskName = "many" | "one" | "heard" | "flush" | "load";

const count = (value: number) => value.toLocaleString("en-US");

const MEASURES: readonly Measure[] = [
  { task: "many", figure: "perSecond", unit: "/s", what: `writes of ${CLIENTS} clients in one process` },
  { task: "one", figure: "perSecond", unit: "/s", what: "writes of one client" },
  { task: "one", figure: "p50", unit: "ms", what: "a write of one client until it is acknowledged, p50" },
  { task: "heard", figure: "p50", unit: "ms", what: `one write heard by ${HEARERS} clients in one process, p50` },
  { task: "heard", figure: "p99", unit: "ms", what: `one write heard by ${HEARERS} clients, p99` },
  { task: "flush", figure: "queueMs", unit: "ms", what: `${count(QUEUED)} writes offline, until queued` },
  {
    task: "flush",
    figure: "ms",
    unit: "ms",
    what: `${count(QUEUED)} queued writes, online again, until another client has all`,
  },
  { task: "load", figure: "perSecond", unit: "rows/s", what: `first load of ${count(ROWS)} rows` },
];

/** What was measured: one value for each round. */
export class SystemFigures {
  readonly #runs = new Map<string, ClientFigures[]>();
  readonly #failures = new Map<string, string>();

  note(task: TaskName, side: Side, figures: ClientFigures): void {
    this.#runs.set(`${task} ${side}`, [...this.#of(task, side), figures]);
  }

  /** Of one task, or of all, if it could not be installed. */
  fail(task: TaskName | "all tasks", side: SystemName, reason: string): void {
    this.#failures.set(`${task} ${side}`, reason);
  }

  last(task: TaskName, side: Side): string {
    const shown = Object.entries(this.#of(task, side).at(-1) ?? {});
    return shown.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(", ");
  }

  rows(): Row[] {
    const others = Object.keys(CATALOGUE) as SystemName[];
    return MEASURES.flatMap((measure) => [
      ...this.#row("holdfast", "Holdfast", measure),
      ...others.flatMap((side) => this.#row(side, CATALOGUE[side].name, measure)),
    ]);
  }

  /** A line for each measure, a column for each system. */
  comparison(): string {
    const others = Object.keys(CATALOGUE) as SystemName[];
    const cell = (side: Side, measure: Measure) => {
      const values = this.#values(side, measure);
      return values.length === 0 ? "not measured" : `${round(summarize(values).median)} ${measure.unit}`;
    };
    return toAlignedTable([
      ["", "Holdfast", ...others.map((side) => CATALOGUE[side].name)],
      ["an acknowledged write is", OURS_ACKNOWLEDGED, ...others.map((side) => CATALOGUE[side].acknowledged)],
      ...MEASURES.map((measure) => [
        measure.what,
        cell("holdfast", measure),
        ...others.map((side) => cell(side, measure)),
      ]),
    ]);
  }

  #row(side: Side, name: string, { task, figure, what, unit }: Measure): Row[] {
    const values = this.#values(side, { task, figure });
    const titled = { what: `${name}: ${what}`, unit };
    const failure = this.#failures.get(`${task} ${side}`) ?? this.#failures.get(`all tasks ${side}`);
    const noted = failure === undefined ? {} : { note: failure };
    if (values.length === 0) return [{ ...titled, runs: "not measured", ...noted }];
    const runs = summarize(values);
    const ours = this.#values("holdfast", { task, figure });
    if (side === "holdfast" || ours.length === 0) return [{ ...titled, runs, ...noted }];
    const against = `**${(runs.median / summarize(ours).median).toFixed(2)}** × Holdfast`;
    return [{ ...titled, runs, against, ...noted }];
  }

  #values(side: Side, { task, figure }: Pick<Measure, "task" | "figure">): readonly number[] {
    return this.#of(task, side).map((each) => each[figure] as number);
  }

  readonly #of = (task: TaskName, side: Side): readonly ClientFigures[] => this.#runs.get(`${task} ${side}`) ?? [];
}
