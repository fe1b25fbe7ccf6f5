import type { Sent } from "./memory.ts";
import type { Answer, NoResponse } from "./wire.ts";
import { isNoResponse } from "./wire.ts";

export interface Exchange {
  readonly sent: Sent;
  readonly answer: Answer | NoResponse;
}

const SLOWEST = 5;

/** The counts of a run. */
export class Totals {
  requests = 0;
  readonly statuses = new Map<string, number>();
  readonly routes = new Map<string, Map<string, number>>();
  readonly codes = new Map<string, number>();
  slowest: { readonly ms: number; readonly exchange: Exchange; readonly route: string }[] = [];

  add(exchange: Exchange, route: string): void {
    const { answer, sent } = exchange;
    this.requests += 1;
    const status = isNoResponse(answer) ? "none" : String(answer.status);
    count(this.statuses, status);
    const ofRoute = this.routes.get(route) ?? new Map<string, number>();
    this.routes.set(route, ofRoute);
    count(ofRoute, status);
    const code = isNoResponse(answer) ? answer.silence : /"code":"([a-z_]+)"/.exec(answer.text.slice(0, 2_000))?.[1];
    if (code !== undefined) count(this.codes, `${status} ${code}`);
    // A requested wait does not count as slow.
    const ms = answer.ms - Number(/[?&]wait=(\d{1,5})(?:&|$)/.exec(sent.wire.target)?.[1] ?? 0);
    if (isNoResponse(answer) || (this.slowest.length === SLOWEST && ms <= (this.slowest.at(-1)?.ms ?? 0))) return;
    this.slowest = [...this.slowest, { ms, exchange, route }].sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  }

  /** How often a status was answered, of those that begin so. */
  of(beginning: string): number {
    return [...this.statuses].reduce((sum, [status, n]) => sum + (status.startsWith(beginning) ? n : 0), 0);
  }
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
