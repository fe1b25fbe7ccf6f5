import { expect, test } from "vitest";
import type { JobResult } from "../../../kernel/commits/flows/commit-lanes.ts";
import { type CommitRequest, touched } from "../../../kernel/commits/rules/commit-request.ts";
import { judgedAs } from "../../../kernel/commits/rules/judge-commits.ts";
import { refuse } from "../../../kernel/refusal.ts";
import { commitOf, create, outcomeOf, update } from "../../../testing/tenant.ts";
import { inWaves } from "./submit-commits.ts";

const confirmed = (commit: CommitRequest): JobResult => ({
  kind: "judged",
  judged: [judgedAs(commit, { kind: "confirmed", receipt: {} as never, entries: [] })],
});
const refused = (commit: CommitRequest): JobResult => ({
  kind: "judged",
  judged: [judgedAs(commit, { kind: "refused", refusal: refuse("source_refused") })],
});

test("[DS32] commits that touch different records go together, the others in order, and dependants of a refused one do not go", async () => {
  const commits = [
    commitOf([create("slide", "a", {})]),
    commitOf([create("slide", "b", {})]),
    commitOf([update("slide", "a", { title: "x" }), create("slide", "c", {})]),
    commitOf([update("slide", "c", { title: "x" })]),
    commitOf([update("slide", "b", { title: "x" })]),
  ];
  let [open, most] = [0, 0];
  const asked: string[] = [];
  const result = await inWaves(commits, async (commit) => {
    most = Math.max(most, ++open);
    asked.push(touched(commit)[0] as string);
    await new Promise(setImmediate);
    open -= 1;
    return commit === commits[2] ? refused(commit) : confirmed(commit);
  });
  expect(result.kind === "judged" && result.judged.map(outcomeOf)).toEqual([
    "confirmed",
    "confirmed",
    "source_refused",
    "dependency_blocked",
    "confirmed",
  ]);
  expect(result.kind === "judged" && result.judged[3]?.decision).toMatchObject({ refusal: { blockedBy: 2 } });
  expect([most, asked]).toEqual([2, ["slide/a", "slide/b", "slide/a", "slide/b"]]);
});

test("[DS32] if the outcome of one is not known, the request's is not", async () => {
  const commits = [commitOf([create("slide", "a", {})]), commitOf([create("slide", "b", {})])];
  expect(
    await inWaves(commits, async (commit) =>
      commit === commits[1] ? { kind: "failed", code: "source_unavailable" } : confirmed(commit),
    ),
  ).toEqual({ kind: "failed", code: "source_unavailable" });
});

test("[C22] once the answer is full, no further commit goes", async () => {
  const commits = ["a", "b", "a", "b"].map((id) => commitOf([update("slide", id, { title: "x" })]));
  const asked: string[] = [];
  const result = await inWaves(commits, async (commit) => {
    asked.push(touched(commit)[0] as string);
    const refusal = refuse("answer_too_large");
    return asked.length === 2
      ? { kind: "judged", judged: [judgedAs(commit, { kind: "refused", refusal })] }
      : confirmed(commit);
  });
  const outcomes = result.kind === "judged" ? result.judged.map(outcomeOf) : [];
  expect(outcomes).toEqual(["confirmed", "answer_too_large", "answer_too_large", "answer_too_large"]);
  expect(asked).toHaveLength(2);
});
