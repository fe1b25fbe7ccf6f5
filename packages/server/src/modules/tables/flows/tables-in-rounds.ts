import type { InRounds } from "../../../kernel/commits/flows/in-rounds.ts";
import { oncePerSchema } from "../../../kernel/schema/flows/once-per-schema.ts";
import { TABLES, type TenantTables, tablesRound } from "../rules/tenant-tables.ts";
import { MOST_WRITTEN, tableRounds } from "./table-round.ts";

/** Whether some models of a tenant have tables. */
const hasTables = oncePerSchema(({ models }) => [...models.values()].some(({ model }) => model.table !== undefined));

/** Attached tables, in rounds of commits. They are found only in rounds that write them. */
export const tablesInRounds: InRounds<TenantTables | undefined> = {
  name: TABLES,
  openLoad: () => ({ begin: async () => undefined, end: async () => undefined }),
  at: (_pipe, { schema }, found) => (found ? tablesRound(found) : { runsRounds: hasTables(schema) }),
  emptyAt: ({ schema }) => (hasTables(schema) ? undefined : {}),
  save: () => ({ statements: [], changed: [] }),
  ownRounds: {
    // So many tenants may have slow triggers without delay for the others.
    lanes: 4,
    maxCommits: MOST_WRITTEN,
    open: tableRounds,
  },
};
