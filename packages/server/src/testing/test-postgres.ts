import { startEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { createTemplate, dropRun, type TemplateDatabase } from "./template-database.ts";

export interface TestPostgres {
  readonly template: TemplateDatabase;
  stop(): Promise<void>;
}

/**
 * A Postgres with a migrated template database: our own throwaway, or the Postgres that HOLDFAST_TEST_DATABASE_URL names
 * (version 15 or later, as a user who may create databases).
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const given = process.env.HOLDFAST_TEST_DATABASE_URL;
  const postgres = given
    ? undefined
    : await startEmbeddedPostgres({
        throwaway: true,
        settings: { max_connections: 500, max_prepared_transactions: 20 },
      });
  const serverUrl = given ?? postgres?.url ?? "";
  try {
    const template = await createTemplate(serverUrl);
    return {
      template,
      // Stopping our own Postgres removes its databases.
      stop: () => (postgres ? postgres.stop() : dropRun(template)),
    };
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}
