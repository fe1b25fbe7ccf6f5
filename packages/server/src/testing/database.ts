import { afterAll, inject } from "vitest";
import { copyTemplate, dropDatabase, type TemplateDatabase } from "./template-database.ts";

export type TestDatabase = {
  /** Connects as a user with all rights on the database. */
  url: string;
};

/**
 * A migrated, empty database for this test file, dropped at its end. Call it at the top of a `.pg.test.ts`:
 *
 *   const database = await freshDatabase();
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const template = inject("templateDatabase");
  const url = await copyTemplate(template);
  // Hooks run in reverse order, so the test file's own hooks have closed their connections by then.
  afterAll(() => dropDatabase(template.serverUrl, new URL(url).pathname.slice(1)));
  return { url };
}

// Provided by global-setup.ts.
declare module "vitest" {
  export interface ProvidedContext {
    templateDatabase: TemplateDatabase;
  }
}
