import { setTimeout as pause } from "node:timers/promises";
import { atLeast, listOf } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { rowsOf } from "../../protocol/answers.ts";

const EVENTS = ["commits", "operations", "reads", "webhook_deliveries"];

/** The counts of the tenant, by event. */
async function counted(t: Kit, token?: string): Promise<ReadonlyMap<string, number>> {
  const answer = await t.get("/v1/usage", token === undefined ? {} : { token });
  t.answered(answer, 200, {
    object: "list",
    data: listOf({ day: /^\d{4}-\d\d-\d\d/, event_name: /^[a-z_]+$/, count: atLeast(0) }),
  });
  const sums = new Map<string, number>();
  for (const { event_name, count } of rowsOf(answer))
    sums.set(String(event_name), (sums.get(String(event_name)) ?? 0) + Number(count));
  return sums;
}

export const section: SuiteSection = {
  title: "Usage",
  cases: [
    check("Usage is a list of {day, event_name, count}, of the four events.", async (t) => {
      await t.note();
      const sums = await counted(t);
      t.is(
        [...sums.keys()].filter((name) => !EVENTS.includes(name)),
        [],
        "other events",
      );
    }),
    check("Commits, operations and reads are counted.", async (t) => {
      const before = await counted(t);
      const operations = Array.from({ length: 5 }, () => ({ action: "create", model: NOTE, id: t.id(), data: {} }));
      t.answered(await t.commit(operations), 200);
      const { path } = await t.note();
      t.answered(await t.get(path), 200);
      const grown = (after: ReadonlyMap<string, number>, name: string) =>
        (after.get(name) ?? 0) - (before.get(name) ?? 0);
      let after = await counted(t);
      for (let tries = 0; tries < 40 && (grown(after, "operations") < 6 || grown(after, "reads") < 1); tries++) {
        await pause(500);
        after = await counted(t);
      }
      t.fits(grown(after, "commits"), atLeast(2), "commits that were counted");
      t.fits(grown(after, "operations"), atLeast(6), "operations that were counted");
      t.fits(grown(after, "reads"), atLeast(1), "reads that were counted");
    }),
    check("starting_at and ending_at bound the days.", async (t) => {
      await t.note();
      const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
      const past = t.answered(await t.get(`/v1/usage?starting_at=${day(-40)}&ending_at=${day(-35)}`), 200, {
        object: "list",
      });
      t.that(
        rowsOf(past).every((row) => String(row.day) <= day(-35)),
        "only days up to the end",
        rowsOf(past),
      );
      const future = t.answered(await t.get(`/v1/usage?starting_at=${day(2)}&ending_at=${day(3)}`), 200, {
        object: "list",
      });
      t.is(rowsOf(future), [], "the usage of future days");
    }),
    ...checkEach(
      [
        ...["starting_at=", "starting_at=2026-02-30", "starting_at=yesterday", "ending_at='%3Bdrop%20table%20x"],
        ...["starting_at=2026-01-02&ending_at=2026-01-01", "starting_at=2026-01-02&starting_at=2026-01-02"],
        ...["starting_at=%00", "starting_at=infinity"],
      ],
      (query) => `[G15] [H6] Usage with ${query} is 400, and the parameter is named.`,
      async (t, query) =>
        t.refused(await t.get(`/v1/usage?${query}`), "invalid_value", { param: String(query.split("=")[0]) }),
    ),
    check("[G15] [K10] Only a secret key reads the usage, and it takes no other parameters.", async (t) => {
      const { token } = await t.capability({ wideScope: true });
      t.refused(await t.get("/v1/usage", { token }), "secret_key_required");
      t.refused(await t.get("/v1/usage?event_name=reads"), "unknown_parameter", { param: "event_name" });
    }),
    check("An organization's usage does not count requests of another.", async (t) => {
      const { key } = await t.freshTenant();
      const sums = await counted(t, key);
      t.is(sums.get("commits") ?? 0, 0, "commits of a new organization");
    }),
  ],
};
