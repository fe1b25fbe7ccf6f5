import type pg from "pg";
import { afterAll } from "vitest";
import { createPool } from "../kernel/connection/pool.ts";
import { freshDatabase } from "./database.ts";
import { connected } from "./run-sql.ts";

/** A connection to a fresh database, until the end of the file. */
export async function freshClient(config?: pg.ClientConfig) {
  const { url } = await freshDatabase();
  const client = await connected(url, config);
  afterAll(() => client.end());
  return { url, client };
}

/** A pool on a fresh database, until the end of the file. */
export async function freshPool() {
  const pool = createPool({ url: (await freshDatabase()).url });
  afterAll(() => pool.end());
  return pool;
}
