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
  return { url: await freshDatabases()() };
}

/** As many as a test asks for, for tests that cannot say it before. Call it at the top, too. */
export function freshDatabases(): () => Promise<string> {
  const template = inject("templateDatabase");
  const urls: string[] = [];
  // Hooks run in reverse order, so the test file's own hooks have closed their connections by then.
  afterAll(async () => {
    for (const url of urls) await dropDatabase(template.serverUrl, new URL(url).pathname.slice(1));
  });
  return async () => {
    const url = await copyTemplate(template);
    urls.push(url);
    return url;
  };
}

// Provided by global-setup.ts.
declare module "vitest" {
  export interface ProvidedContext {
    templateDatabase: TemplateDatabase;
  }
}
