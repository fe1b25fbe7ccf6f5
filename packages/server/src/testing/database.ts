import { afterAll, inject } from "vitest";
import { copyTemplate, dropDatabase, type TemplateDatabase } from "./template-database.ts";

export type TestDatabase = {
  /** Connects as a user who may do everything in it. */
  url: string;
};

/**
 * A database of this test file's own, migrated and empty; dropped when the file is done. At the top of a `.pg.test.ts`:
 *
 *   const database = await freshDatabase();
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const template = inject("templateDatabase");
  const url = await copyTemplate(template);
  // After-hooks run last one first, so the file's own have closed their connections by then.
  afterAll(() => dropDatabase(template.serverUrl, new URL(url).pathname.slice(1)));
  return { url };
}

// Made by global-setup.ts.
declare module "vitest" {
  export interface ProvidedContext {
    templateDatabase: TemplateDatabase;
  }
}
