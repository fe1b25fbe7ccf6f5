import { expect, test } from "vitest";
import { ADMIN, makeOrganization, services, start } from "./organization.ts";
import { failureOf, runSections, titleOf } from "./run-sections.ts";
import { waiting } from "./waiting.ts";

const server = await start(true);

/** What cannot be in tables: a `timestamptz` is a point in time, of any zone and from the year 1 on, and no text. */
const OF_TIMESTAMPS = [
  "values: The datetime 2024-02-29T23:59:59Z comes back unchanged.",
  "values: The datetime 2024-01-01T00:00:00.123456+05:30 comes back unchanged.",
  "values: The datetime 1999-12-31T23:59:59.9-11:00 comes back unchanged.",
];

/** What waits where records are behind an endpoint: commits are judged as if those on their way there had not begun. */
const ON_THE_WAY = [
  "budgets: [BU3] Commits at once are together no more than the budget.",
  "budgets: [BU3] Of a bulk, the first commits land, as many as the budget has.",
  "proposal-decisions: [PR6] Of decisions at once, one is made: all others are 409 proposal_ended, and the record is as it was decided.",
];

test.each([
  ["[X1] [DS6] it passes with the rows of all models in tables of the caller's", "attached"],
  ["[X1] [DS77] [DS79] it passes where a column of each table says whether a record is archived", "archived by column"],
] as const)("%s", async (_, rows) => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, rows)),
  });
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const listed = [...OF_TIMESTAMPS, ...waiting];
  expect(failed.filter((result) => !listed.includes(titleOf(result))).map(failureOf)).toEqual([]);
  expect(failed.map(titleOf).sort()).toEqual(listed.sort());
});

test("[X1] [DS21] it passes with the tenants in databases of their own", async () => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, "direct")),
  });
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !waiting.includes(titleOf(result))).map(failureOf)).toEqual([]);
});

test("[X1] [DS29] it passes with the records of all models behind an endpoint", async () => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, "endpoint")),
  });
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const listed = [...ON_THE_WAY, ...waiting];
  expect(failed.filter((result) => !listed.includes(titleOf(result))).map(failureOf)).toEqual([]);
  expect(services.reduce((sum, { done }) => sum + done.length, 0)).toBeGreaterThan(500);
});
