import pg from "pg";
import { openWorkerHost } from "../deliveries/servers/worker-host.ts";
import type { TestEnvironment } from "./suite.ts";

export interface OpenTestEnvironment extends TestEnvironment {
  close(): Promise<void>;
}

/** Databases of one Postgres, and a worker host that is opened on demand. */
export function openTestEnvironment(
  postgresUrl: string,
  { seed, processes }: Pick<TestEnvironment, "seed" | "processes">,
): OpenTestEnvironment {
  let made = 0;
  let workerHost: ReturnType<typeof openWorkerHost> | undefined;
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
    workerHost: () => (workerHost ??= openWorkerHost()),
    close: async () => (await workerHost)?.close(),
  };
}
