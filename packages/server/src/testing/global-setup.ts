import type { TestProject } from "vitest/node";
import type {} from "./database.ts";
import { startTestPostgres } from "./test-postgres.ts";

/** One Postgres for the whole run, with one migrated template database. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { template, stop } = await startTestPostgres();
  project.provide("templateDatabase", template);
  return stop;
}
