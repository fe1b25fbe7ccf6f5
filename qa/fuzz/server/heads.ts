import pg from "pg";

/** The head of every tenant's log, read from the tables. */
export interface Heads {
  read(): Promise<string>;
  close(): Promise<void>;
}

export async function openHeads(databaseUrl: string): Promise<Heads> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    read: async () => {
      const { rows } = await client.query<{ heads: string }>(
        "select string_agg(tenant || '=' || sync_id, ' ' order by tenant) as heads from holdfast.head where sync_id > 0",
      );
      return rows[0]?.heads ?? "";
    },
    close: () => client.end(),
  };
}
