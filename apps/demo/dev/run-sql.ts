import pg from "pg";
import { holdfast } from "./holdfast-command.ts";

/** Runs SQL in the database of the demo's server. Several statements have several results. */
export async function runSql(text: string): Promise<readonly pg.QueryResult[]> {
  const database = new pg.Client(await holdfast("databases", "url"));
  await database.connect();
  try {
    return [await database.query(text)].flat();
  } finally {
    await database.end();
  }
}
