import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fromSources } from "@holdfast/server/testing/source-program";
import { runClaims } from "../claims/run.ts";
import { judgeForeignEntry } from "../commits/foreign-entry.ts";
import { failureOf, runSections } from "../conformance/run-sections.ts";
import type { Scenario } from "../deliveries/scenarios/scenario.ts";
import { runMany, SIMULATION } from "../simulation/run-many.ts";
import { type FaultEnvironment, openFaultEnvironment } from "../support/fault-environment.ts";
import { runTables } from "../tables/run.ts";
import type { PatchedSources } from "./patched-sources.ts";

/** Runs these sources once. Returns the violations that were found: kinds or sentences. */
export type Judge = (sources: PatchedSources, on: Setting) => Promise<readonly string[]>;

interface Setting {
  /** A separate empty database. */
  readonly databaseUrl: string;
  readonly seed: number;
  /** The judge may stop at one of these. */
  readonly finds: readonly string[];
}

/** The most schedules to find a bug. */
const PATIENCE = 2_000;
/** How long a scenario waits for a request that a bug prevents. */
const PATIENCE_MS = 6_000;

/** The simulation of the client, from this seed on. */
export const inSchedulesFrom =
  (first: number): Judge =>
  async ({ folder }, { seed, finds }) => {
    const many = { schedules: PATIENCE, processes: availableParallelism(), stopsAt: finds };
    const { broken } = await runMany({ ...many, file: join(folder, SIMULATION), seed: first + seed });
    return broken.map(({ check }) => check);
  };

/** One section of the conformance suite. */
export const inSection =
  (section: string): Judge =>
  async (sources, { databaseUrl }) => {
    return withServers(1, sources, { databaseUrl }, async ({ servers, key, adminToken }) => {
      const { url = "" } = servers[0] ?? {};
      const results = await runSections({ url, key, adminToken }, { sections: [section] });
      // A server that does not work at all does not count as found.
      if (!results.some(({ outcome }) => outcome === "passed")) throw new Error(`Nothing passes in ${section}.`);
      return results.filter(({ outcome }) => outcome === "failed").map(failureOf);
    });
  };

/** Two processes on one database, between whose rounds entries are staged. */
export const betweenTwoProcesses: Judge = async (sources, { databaseUrl }) => {
  // The rounds that are staged wait for the head together.
  return withServers(2, sources, { databaseUrl, HOLDFAST_DATABASE_LOCK_MS: "2000" }, ({ servers, key }) =>
    judgeForeignEntry({ databaseUrl, servers, key }),
  );
};

/** The checker of claims, without faults. */
export const whereClaimantsCompete: Judge = async ({ main: file }, { databaseUrl, seed }) => {
  const main = fromSources(file);
  const { verdict } = await runClaims({
    ...{ claimants: 12, records: 2, processes: 1, operations: 600, withinMs: 90_000, print: () => {} },
    ...{ databaseUrl, seed, servers: [{ main }, { main }] },
  });
  return verdict.violations.map(({ kind }) => kind);
};

/** The judge of deliveries, after one scenario. */
export const inScenario =
  ({ play }: Scenario): Judge =>
  async ({ main }, { databaseUrl, seed }) => {
    const sources = join(dirname(main), "server.ts");
    const { verdict } = await play({ databaseUrl, sources, seed, patienceMs: PATIENCE_MS });
    return verdict.violations.map(({ kind }) => kind);
  };

/** The checker of attached tables, without faults. */
export const inRowsOfTwoWriters: Judge = async ({ main: file }, { databaseUrl, seed }) => {
  const run = { seconds: 10, writers: 6, print: () => {} };
  const { verdict } = await runTables({ ...run, databaseUrl, seed, main: fromSources(file) });
  return verdict.violations.map(({ kind }) => kind);
};

async function withServers<Result>(
  count: number,
  { main }: PatchedSources,
  { databaseUrl, ...env }: { readonly databaseUrl: string } & Readonly<Record<string, string>>,
  act: (environment: FaultEnvironment) => Promise<Result>,
): Promise<Result> {
  await using environment = await openFaultEnvironment({
    name: "mutant",
    servers: Array.from({ length: count }, () => ({ main: fromSources(main), env })),
    postgres: { url: databaseUrl },
  });
  return await act(environment);
}
