import type { Pipe } from "../../connection/pipe.ts";
import type { Statement } from "../../connection/statement.ts";
import type { LockedHead } from "../db/heads.ts";
import type { RecordName } from "../db/records.ts";
import type { RoundModule, TenantState } from "../rules/tenant-state.ts";
import type { InRounds, LoadInRounds, TenantAfter, TenantInRound } from "./in-rounds.ts";
import type { Job } from "./job.ts";
import type { RoundOutcome } from "./round-outcome.ts";
import type { Changed } from "./round-result.ts";

/* The modules that take part in rounds of commits, all at once, in the order of their list. */

/** What they have read for a round. */
export type FoundByModules = readonly { readonly module: InRounds; readonly found: unknown }[];

/** How the modules read in one lane. */
export type ModuleLoads = readonly { readonly module: InRounds; readonly load: LoadInRounds<unknown> }[];

export const openLoads = (modules: readonly InRounds[]): ModuleLoads =>
  modules.map((module) => ({ module, load: module.openLoad() }));

/** Sends the questions of the first trip. What it resolves with asks the others, once the heads are locked. */
export async function beginLoads(pipe: Pipe, loads: ModuleLoads, jobs: readonly Job[]) {
  const begun = await Promise.all(loads.map(({ load }) => load.begin(pipe, jobs)));
  return (heads: readonly LockedHead[]): Promise<FoundByModules> =>
    Promise.all(
      loads.map(async ({ module, load }, i) => ({ module, found: await load.end(pipe, jobs, heads, begun[i]) })),
    );
}

/** With what belongs to further records. */
export const loadMore = (pipe: Pipe, found: FoundByModules, records: readonly RecordName[]): Promise<FoundByModules> =>
  Promise.all(
    found.map(async ({ module, found: known }) => {
      const more = await module.loadMore?.(pipe, records);
      return { module, found: more === undefined ? known : (module.together?.(known, more) ?? known) };
    }),
  );

/** With what a module has found in a round of its own. */
export const withFound = (all: FoundByModules, name: string, found: unknown): FoundByModules =>
  all.map((one) => (one.module.name === name ? { ...one, found } : one));

/** What two reads of one round have found. */
export const together = (one: FoundByModules, other: FoundByModules): FoundByModules =>
  one.map(({ module, found }, i) => ({ module, found: module.together?.(found, other[i]?.found) ?? found }));

/** In a round that loads nothing. Undefined: one of them has to. */
export function emptyModulesAt(
  modules: readonly InRounds[],
  tenant: TenantInRound,
): TenantState["modules"] | undefined {
  const states = new Map<string, RoundModule>();
  for (const module of modules) {
    const state = module.emptyAt?.(tenant);
    if (!state) return undefined;
    states.set(module.name, state);
  }
  return states;
}

/** With everything that the jobs of the tenant ask of them. */
export async function modulesAt(
  pipe: Pipe,
  tenant: TenantInRound,
  modules: FoundByModules,
): Promise<TenantState["modules"]> {
  const states = new Map<string, RoundModule>();
  for (const { module, found } of modules) states.set(module.name, await module.at(pipe, tenant, found));
  return states;
}

export interface SavedByModules {
  readonly statements: readonly Statement<void>[];
  readonly changed: readonly Changed[];
}

export function saveModules(
  modules: readonly InRounds[],
  tenants: readonly TenantAfter[],
  jobs: readonly Job[],
  answers: readonly RoundOutcome[],
): SavedByModules {
  const saved = modules.map((module) => ({ module: module.name, ...module.save(tenants, jobs, answers) }));
  return {
    statements: saved.flatMap(({ statements }) => statements),
    changed: saved.flatMap(({ module, changed }) => changed.map((tenant) => ({ module, tenant }))),
  };
}

/** The tenant's head after the round, with the numbers that modules have in it. */
export const headAfter = (modules: readonly InRounds[], { tenant, state }: TenantAfter): LockedHead =>
  Object.assign({}, state.head, { tenant, now: state.now }, ...modules.map((module) => module.headOf?.(state)));
