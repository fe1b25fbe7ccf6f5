import type { Usage } from "@holdfast/sdk/protocol";
import type { Database } from "../../connection/pool.ts";
import { isRefusal, type Refusal } from "../../refusal.ts";
import { readUsage as readStored } from "../db/usage.ts";
import { usagePeriod } from "../rules/usage-period.ts";
import type { UsageCounter } from "./count-usage.ts";

export type ReadUsage = (
  tenant: number,
  startingAt: string | undefined,
  endingAt: string | undefined,
) => Promise<Usage[] | Refusal>;

/** A tenant's usage by day, including everything that this process has counted so far. */
export const readUsage =
  (db: Database, usage: UsageCounter, now: () => number): ReadUsage =>
  async (tenant, startingAt, endingAt) => {
    const period = usagePeriod(startingAt, endingAt, now());
    if (isRefusal(period)) return period;
    await usage.flush();
    return await readStored(db, tenant, period);
  };
