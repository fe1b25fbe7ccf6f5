import { expect, test } from "vitest";
import { type Outcome, runSchedule } from "./run.ts";
import { FIRST_WITH } from "./simulation.ts";

// The same seeds in every run, but for the sequences of one record; `npm run simulate` takes new ones.

const FIRST = 200_000;
const SCHEDULES = 250;
const outcomes: Outcome[] = [];

test("[R11] two runs of each of three seeds are the same run", async () => {
  for (const seed of [1, 2, 3]) {
    const [one, other] = [await runSchedule({ seed }), await runSchedule({ seed, isTraced: true })];
    expect(other.hash).toEqual(one.hash);
    expect(other.picks).toEqual(one.picks);
    expect(other.trace.length).toBeGreaterThan(50);
  }
  expect((await runSchedule({ seed: 1 })).hash).not.toBe((await runSchedule({ seed: 2 })).hash);
});

test.each([
  ["[R8] [R9] [R12] [U10] [R31] [R32] tabs, devices and the server converge, and nothing is lost", FIRST, SCHEDULES],
  [
    "[D15] [N15] under any sign-ins and scopes, no write reaches another owner, and each client shows its own view",
    FIRST_WITH.tenants,
    150,
  ],
  [
    "[N25] [N26] [N27] whatever parts apps load and release, each tab shows them, and nothing else that is not as the server has it",
    FIRST_WITH.parts,
    100,
  ],
  [
    "[N26] [N45] [N46] whatever budgets tabs have, memory and disk have what is followed, and nothing else",
    FIRST_WITH.budgets,
    60,
  ],
  ["[R42] unique values and checked references hold", FIRST_WITH.values, 60],
  ["[Q29] [Q47] no write is committed twice, however long all devices sleep", FIRST_WITH.sleeps, 150],
  [
    "[R67] whatever apps delete, create, change and archive in a row, a person's answer is what is shown",
    // New ones in each run; a broken one is named.
    FIRST_WITH.sequences + Math.floor(Math.random() * 2 ** 29),
    120,
  ],
])("%s", async (_, first, schedules) => {
  const broken: unknown[] = [];
  for (let seed = first; seed < first + schedules; seed++) {
    const outcome = await runSchedule({ seed });
    outcomes.push(outcome);
    if (outcome.violation) broken.push({ seed, ...outcome.violation });
  }
  expect(broken).toEqual([]);
});

test("the schedules contained every kind of event", () => {
  const sum = (what: string) => outcomes.reduce((all, { counts }) => all + (counts.get(what) ?? 0), 0);
  for (const what of [
    "write: own",
    "write: commit",
    "write: child",
    "write: card",
    "write: sequence",
    "tab opened",
    "decision: keeps mine",
    "part: loaded",
    "part: released",
    "query with include",
  ])
    expect([what, sum(what)]).toEqual([what, expect.toSatisfy((often: number) => often > SCHEDULES / 20)]);
  for (const fault of [
    "lost",
    "repeated",
    "killed",
    "power cut",
    "frozen",
    "stolen",
    "offline",
    "token expired",
    "other sign-in",
    "other view",
    "asleep",
    "clock set",
  ])
    expect([fault, sum(`fault: ${fault}`)]).toEqual([
      fault,
      expect.toSatisfy((often: number) => often > SCHEDULES / 20),
    ]);
  for (const rare of [
    "part: pinned",
    "fault: restored",
    "fault: storage failed",
    "fault: wiped",
    "decision: keeps mine (claim_lost)",
  ])
    expect([rare, sum(rare)]).toEqual([rare, expect.toSatisfy((often: number) => often > 0)]);
});
