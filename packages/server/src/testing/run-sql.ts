import pg from "pg";

/** A connection, which can end with its scope. */
export async function connected(url: string, config: pg.ClientConfig = {}): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, ...config });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** One statement, on a connection of its own. */
export async function runSql<T extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  await using client = await connected(url);
  return (await client.query<T>(text, [...values])).rows;
}
