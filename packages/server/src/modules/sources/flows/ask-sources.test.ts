import type { SourceCommit } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { commitOf, create } from "../../../testing/tenant.ts";
import type { SourceIntent } from "../rules/source-intent.ts";
import { askSources } from "./ask-sources.ts";

let made = 0;
const intentFor = (source: string, bytes = 1): SourceIntent => ({
  ...{
    id: `int_${++made}`,
    source,
    commit: commitOf([create("slide", "a", {})]),
    keys: [],
    missingIds: [],
    madeId: undefined,
  },
  operations: [{ action: "create", model: "slide", id: "a", data: { title: "x".repeat(bytes) } }],
});

test("[DS32] while calls are in flight, commits gather: up to 100 in one call, up to 16 MiB, and 4 calls at once", async () => {
  const calls: number[] = [];
  let [open, most] = [0, 0];
  const ask = askSources(async (_tenant, _source, commits) => {
    calls.push(commits.length);
    most = Math.max(most, ++open);
    await new Promise(setImmediate);
    open -= 1;
    return { results: commits.map(({ clientTxId }) => ({ clientTxId, status: "committed" as const })) };
  });
  const answers = await Promise.all(Array.from({ length: 304 }, () => ask(intentFor("ds_1"))));
  expect(answers.every((answer) => answer?.kind === "committed")).toBe(true);
  expect(calls.slice(0, 4)).toEqual([1, 1, 1, 1]);
  expect([Math.max(...calls), most]).toEqual([100, 4]);
  calls.length = 0;
  await Promise.all(Array.from({ length: 8 }, () => ask(intentFor("ds_1", 2 ** 23))));
  expect(Math.max(...calls)).toBe(1);
});

test("[DS30] [DS161] a source that does not answer delays no other, and a commit without a result has no answer", async () => {
  const ask = askSources((_tenant, source, commits) =>
    source === "silent"
      ? new Promise(() => {})
      : source === "broken"
        ? Promise.reject(new Error("away"))
        : Promise.resolve({ results: answersTo(commits.slice(1)) }),
  );
  for (let n = 0; n < 50; n++) void ask(intentFor("silent"));
  expect(await ask(intentFor("broken"))).toBeUndefined();
  expect(await ask(intentFor("forgetful"))).toBeUndefined();
});

test("[DS30] more than 1 000 commits that wait for one source are answered at once", async () => {
  const ask = askSources(() => new Promise(() => {}));
  for (let n = 0; n < 1_004; n++) void ask(intentFor("silent"));
  expect(await ask(intentFor("silent"))).toBeUndefined();
});

const answersTo = (commits: readonly SourceCommit[]) =>
  commits.map(({ clientTxId }) => ({ clientTxId, status: "refused" as const, message: "no" }));
