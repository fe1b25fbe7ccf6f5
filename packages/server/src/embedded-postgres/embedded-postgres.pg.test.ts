import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";

// One start and one stop. The soak suite kills, orphans and locks out.

test("it starts, answers, keeps others from its directory, and stops", async () => {
  const dataDir = temporaryFolder("test", onTestFinished);
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
      `in use by another Holdfast server (process ${process.pid}). Stop that server`,
    );
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(
      "select current_setting('fsync') fsync, current_setting('synchronous_commit') sync",
    );
    expect(rows).toEqual([{ fsync: "on", sync: "on" }]);
    await client.end();
  } finally {
    await postgres.stop();
  }
  await expect(new pg.Client({ connectionString: postgres.url }).connect()).rejects.toThrow();
});
