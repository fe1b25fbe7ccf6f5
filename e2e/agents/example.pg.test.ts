import { createClient } from "@holdfast/sdk/node";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { schema } from "../../packages/create-holdfast/templates/node-agent/src/schema.ts";
import { work } from "../../packages/create-holdfast/templates/node-agent/src/work.ts";
import { giveTime } from "../../scripts/testing/give-time.ts";
import { until } from "../../scripts/testing/until.ts";
import { closedInTheEnd } from "../clients/people.ts";
import { oneFile } from "./agent.ts";
import { example, startExample } from "./example.ts";

const { people, start, tokenOf, slides, notes, haveNotes, claimsOn, writes } = await startExample();
let program: Awaited<ReturnType<typeof oneFile>>;
beforeAll(async () => {
  program = await oneFile({ entryPoints: [`${example}src/main.ts`] });
});
afterAll(() => program.remove());

test("[AG10] two agents of the example share the work, handle each slide once, and end cleanly on a signal", async () => {
  const ids = await slides(4);
  const tokens = await Promise.all(["one", "two"].map(tokenOf));
  const agents = tokens.map((token, at) => start(`agent-${at}`, [program.file], token, 50));
  await until(async () => expect(await haveNotes(ids)).toBe(4));
  // Later slides are done too.
  const [later = ""] = await slides(1);
  await until(async () => expect(await notes(later)).toContain(`On ${later}`));
  for (const { child } of agents) child.kill("SIGTERM");
  expect(await Promise.all(agents.map(({ ended }) => ended))).toEqual([0, 0]);
  for (const id of [...ids, later]) {
    expect(await writes(id)).toBe(1);
    expect(await claimsOn(id)).toEqual([]);
  }
});

test("[AG10] many agents of the example that one signal stops cause no warning of a leak", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const token = await tokenOf("many");
  const client = closedInTheEnd(createClient({ schema, url: people.url, getToken: () => token }));
  await client.ready();
  const stop = new AbortController();
  const working = Array.from({ length: 12 }, () =>
    work(client, { think: async () => "Notes", stop: stop.signal, say: () => {} }),
  );
  await giveTime(50);
  stop.abort();
  await Promise.all(working);
  expect(warnings).toEqual([]);
});

test("[AG10] an edit that a person makes while the example's agent is disconnected stays", async () => {
  const boss = await people.person("boss", { operations: ["slide.*", "claim.preempt"] });
  const [id = ""] = await slides(1);
  const token = await tokenOf("three");
  const client = closedInTheEnd(createClient({ schema, url: people.url, getToken: () => token }));
  const stop = new AbortController();
  const said: string[] = [];
  let finishThinking = (_notes: string): void => {};
  const thought = new Promise<string>((resolve) => {
    finishThinking = resolve;
  });
  await client.ready();
  const working = work(client, {
    think: () => thought,
    stop: stop.signal,
    say: (line) => void said.push(line),
  });
  await until(async () => expect(await claimsOn(id)).toMatchObject([{ actor: "three" }]));
  client.pause();
  const lease = await boss.client.models.slide.claim(id, { preempt: true });
  await people.request(
    "PATCH",
    `/v1/models/slide/${id}`,
    { data: { notes: "Ann's own" }, claim: lease.id },
    boss.token,
  );
  await lease.release();
  finishThinking("The agent's");
  await until(() => expect(client.status().pending).toBe(1));
  expect(client.models.slide.get(id)?.notes).toBe("The agent's");
  client.resume();
  await until(() => expect(said).toContain(`${id}: another participant was there first`));
  await until(() => expect(client.status()).toMatchObject({ name: "online", pending: 0, conflicts: 0 }));
  stop.abort();
  await working;
  expect(await notes(id)).toBe("Ann's own");
  expect(await writes(id)).toBe(1);
});
