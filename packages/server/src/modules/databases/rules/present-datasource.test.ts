import { expect, test } from "vitest";
import { type DatabaseHealth, healthAfter } from "../../../kernel/database-health.ts";
import { moveProblems } from "./move-problems.ts";
import { hostedDatasources, type OwnDatasource, presentDatasource } from "./present-datasource.ts";

const OWN: OwnDatasource = {
  ...{ id: "ds_1", livemode: true, host: "db.example:5432", database: "app", schema: "public", displayName: null },
  ...{ metadata: {}, createdAt: "2026-01-02T03:04:05.000Z", moving: false, moveProblem: null },
};
const NEVER: DatabaseHealth = { failures: 0 };
const at = (now: number) => ({ requestedAt: now - 1, now });

test("[DS64] [DS153] attempts that fail are counted, with the time of the last success and of the first failure", () => {
  const up = healthAfter(NEVER, at(10_000));
  expect(up).toEqual({ requestedAt: 9_999, succeededAt: 10_000, failures: 0, since: 10_000 });
  const twice = healthAfter(healthAfter(up, at(20_000), "away"), at(30_000), "still away");
  expect(twice).toEqual({
    ...{ requestedAt: 29_999, succeededAt: 10_000 },
    failures: 2,
    problem: "still away",
    since: 20_000,
  });
  expect(healthAfter(twice, at(40_000))).toMatchObject({ failures: 0, since: 40_000 });
  expect(presentDatasource(OWN, twice)).toMatchObject({
    ...{ status: "broken", last_error: "still away", retry_count: 2, last_request_at: 29, last_success_at: 10 },
  });
});

test("[DS64] a datasource that was not asked yet has no times, and one without a problem no last_error", () => {
  const { last_request_at, last_success_at, last_error, status } = presentDatasource(OWN, NEVER);
  expect(last_request_at).toBeUndefined();
  expect(last_success_at).toBeUndefined();
  expect(last_error).toBeUndefined();
  expect(status).toBe("active");
});

test("[DS64] [DS155] a move that cannot go on says why, without what an error tells of the operator's databases", () => {
  const moving = (moveProblem: string) => presentDatasource({ ...OWN, moving: true, moveProblem }, NEVER);
  expect(moving(moveProblems.several)).toMatchObject({ status: "moving", last_error: moveProblems.several });
  const { last_error } = moving('password authentication failed for user "operator" at 10.0.0.1.');
  expect(last_error).toBe("The move has failed so far. The server tries again.");
});

test("[DS64] [DS154] the hosted datasource of a tenant whose database is away is broken, the other one is not", () => {
  const [live, test] = hostedDatasources("2026-01-02T03:04:05.000Z", { live: true, test: false });
  expect(live).toMatchObject({ status: "broken", last_error: expect.stringMatching(/is unavailable/) });
  expect(test?.status).toBe("active");
  expect(test?.last_error).toBeUndefined();
});
