import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import type {} from "./database.ts";
import { createTemplate, dropRun } from "./template-database.ts";

/**
 * One Postgres for the whole run, with one migrated template database: our own throwaway, or the Postgres that
 * HOLDFAST_TEST_DATABASE_URL names (version 15 or later, as a user who may create databases).
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.HOLDFAST_TEST_DATABASE_URL;
  const postgres = given
    ? undefined
    : await startEmbeddedPostgres({ throwaway: true, settings: { max_connections: 500 } });
  const serverUrl = given ?? postgres?.url ?? "";
  try {
    const template = await createTemplate(serverUrl);
    project.provide("templateDatabase", template);
    return async () => {
      // Stopping our own Postgres removes its databases.
      if (postgres) await postgres.stop();
      else await dropRun(template);
    };
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}
