import type { Sent } from "./memory.ts";
import type { Answer, NoResponse } from "./wire.ts";
import { isNoResponse } from "./wire.ts";

export interface Exchange {
  readonly sent: Sent;
  readonly answer: Answer | NoResponse;
}

/** The counts of a run. */
export class Totals {
  requests = 0;
  readonly statuses = new Map<string, number>();
  readonly routes = new Map<string, Map<string, number>>();
  readonly codes = new Map<string, number>();

  add({ answer }: Exchange, route: string): void {
    this.requests += 1;
    const status = isNoResponse(answer) ? "none" : String(answer.status);
    count(this.statuses, status);
    const ofRoute = this.routes.get(route) ?? new Map<string, number>();
    this.routes.set(route, ofRoute);
    count(ofRoute, status);
    const code = isNoResponse(answer) ? answer.silence : /"code":"([a-z_]+)"/.exec(answer.text.slice(0, 2_000))?.[1];
    if (code !== undefined) count(this.codes, `${status} ${code}`);
  }

  /** How often a status was answered, of those that begin so. */
  of(beginning: string): number {
    return [...this.statuses].reduce((sum, [status, n]) => sum + (status.startsWith(beginning) ? n : 0), 0);
  }
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
