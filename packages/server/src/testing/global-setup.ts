import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../db/embedded.ts";

/** One Postgres for the whole run: a throwaway of our own, or the one that HOLDFAST_TEST_DATABASE_URL names. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.HOLDFAST_TEST_DATABASE_URL;
  if (given) {
    project.provide("postgresUrl", given);
    return async () => {};
  }
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  project.provide("postgresUrl", postgres.url);
  return postgres.stop;
}

declare module "vitest" {
  export interface ProvidedContext {
    postgresUrl: string;
  }
}
