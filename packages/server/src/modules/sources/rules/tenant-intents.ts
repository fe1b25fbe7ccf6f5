import type { RoundModule, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";

/** Commits that are on their way to the services that have their records, as far as the round's jobs concern them. */
export interface TenantIntents {
  /** By `reservedKeys`: what nothing else may write meanwhile. */
  readonly reserved: Set<string>;
  /** Their ids, if it is not known yet what became of them. */
  readonly open: ReadonlySet<string>;
  /** Models of sources whose records have all been read, in lower case. */
  readonly listed: ReadonlySet<string>;
}

/** The name of the module. */
export const SOURCES = "sources";

/** What waits for the sources of some models (`source-intent.ts`). */
export const intentsOf = ({ modules }: Pick<TenantState, "modules">): TenantIntents =>
  modules.get(SOURCES) as RoundModule & TenantIntents;
