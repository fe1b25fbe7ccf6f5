import { expect } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { App } from "../app.ts";

/** Waits until so many connections wait for a lock in the database. */
export const untilBlocked = ({ sql }: Pick<App, "sql">, count = 1): Promise<void> =>
  until(async () => {
    const [row] = await sql<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    expect(row?.n).toBeGreaterThanOrEqual(count);
  });
