import { expect, test } from "vitest";
import { endNpm } from "./end-npm.ts";

test.each(["SIGTERM", "SIGKILL"] as const)("[O33] npm that gets %s takes the whole demo with it", async (signal) => {
  const ended = await endNpm(["start", "--silent", "--", "--no-import"], "Open http", signal);
  for (const name of ["start.ts", "main.ts", "mirror", "postgres"])
    expect(ended.filter((command) => command.includes(name))).not.toEqual([]);
});
