import type { LockedHead } from "../../db/commits/heads.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import { CLAIMS } from "../../rules/claims/claims-state.ts";
import type { RoundModule, TenantState } from "../../rules/commits/tenant-state.ts";
import { SOURCES } from "../../rules/sources/tenant-intents.ts";
import { TABLES, tablesRound } from "../../rules/tables/tenant-tables.ts";
import { claimsAt, noClaimsAt } from "../claims/claims-of-round.ts";
import { intentsAt, NO_INTENTS } from "../sources/intents-of-round.ts";
import type { Job } from "./job.ts";
import type { Loaded } from "./load-round.ts";

/* The modules that take part in rounds of commits, in the order in which they are asked. */

/** In a round that loads nothing. */
export const emptyModulesAt = (head: LockedHead): TenantState["modules"] =>
  new Map<string, RoundModule>([
    [CLAIMS, noClaimsAt(head)],
    [SOURCES, intentsAt(head.tenant, NO_INTENTS)],
  ]);

/** With everything that the jobs of the tenant ask of them. */
export async function modulesAt(
  pipe: Pipe,
  head: LockedHead,
  jobs: readonly Job[],
  { entries, tables, intents }: Loaded,
): Promise<TenantState["modules"]> {
  const queues = entries.filter(({ tenant }) => tenant === head.tenant);
  return new Map<string, RoundModule>([
    ...(tables ? [[TABLES, tablesRound(tables)] as const] : []),
    [CLAIMS, await claimsAt(pipe, head, jobs, queues)],
    [SOURCES, intentsAt(head.tenant, intents)],
  ]);
}
