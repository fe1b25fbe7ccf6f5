import { expect, test } from "vitest";
import { freshDatabase } from "../../testing/database.ts";
import { createPool } from "./pool.ts";

test("[O2] for a broken idle connection the log has the error, and nothing of the connection", async () => {
  const { url } = await freshDatabase();
  let told: (error: Error) => void = () => {};
  const broken = new Promise<Error>((resolve) => {
    told = resolve;
  });
  const idle = createPool({ url, onError: told });
  const other = createPool({ url });
  const { rows } = await idle.query<{ pid: number }>("select pg_backend_pid() as pid");
  await other.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
  const error = await broken;
  expect(error).toMatchObject({ code: "57P01" });
  expect(Object.keys(error)).not.toContain("client");
  expect(JSON.stringify({ ...error }).length).toBeLessThan(1_000);
  await Promise.all([idle.end(), other.end()]);
});
