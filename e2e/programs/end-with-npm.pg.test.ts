import { expect, test } from "vitest";
import { endNpm } from "./end-npm.ts";

test("[O33] npm that gets SIGTERM takes the server and its Postgres with it", async () => {
  const ended = await endNpm(["run", "--silent", "server"], '"object":"listening"', "SIGTERM");
  for (const name of ["run.mjs", "main.ts", "postgres"])
    expect(ended.filter((command) => command.includes(name))).not.toEqual([]);
});
