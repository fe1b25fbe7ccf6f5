import pg from "pg";
import { openHouse } from "../webhooks/house.ts";
import type { Slot } from "./suite.ts";

export interface OpenPlace extends Slot {
  close(): Promise<void>;
}

/** Databases of one Postgres, and a house as soon as somebody asks for it. */
export function openPlace(postgresUrl: string, { seed, processes }: Pick<Slot, "seed" | "processes">): OpenPlace {
  let made = 0;
  let house: ReturnType<typeof openHouse> | undefined;
  return {
    seed,
    processes,
    async database() {
      // The server that gets it makes the tables.
      const name = `planted_${++made}`;
      const client = new pg.Client({ connectionString: postgresUrl });
      await client.connect();
      try {
        await client.query(`create database ${name}`);
      } finally {
        await client.end();
      }
      const url = new URL(postgresUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    house: () => (house ??= openHouse()),
    close: async () => (await house)?.close(),
  };
}
