import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "../clients/people.ts";
import { openBadGate } from "./bad-gate.ts";

const people = await startPeople();
const gate = await openBadGate(people.url);
const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const example = fileURLToPath(new URL("../../examples/agent/", import.meta.url));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  gate.close();
  rmSync(folder, { recursive: true });
});

const text = { type: "string" };
beforeAll(() =>
  people.request("POST", "/v1/schema", {
    models: {
      slide: {
        fields: { deckId: text, title: text, notes: text, order: { type: "number", default: 0 } },
        groups: [{ kind: "deck", from: "deckId" }],
      },
    },
  }),
);

async function tokenOf(participantId: string): Promise<string> {
  const body = { participantId, operations: ["slide.*"], syncGroups: ["deck:d1"] };
  return String((await people.request("POST", "/v1/capabilities", body)).token);
}

/** The example as its README starts it, with a file of its own and less time to think. */
function start(name: string, token: string, thinkingMs: number, url = people.url) {
  const child = spawn(process.execPath, ["--conditions=holdfast-source", "--import", "tsx", "src/main.ts"], {
    cwd: example,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      HOLDFAST_URL: url,
      HOLDFAST_TOKEN: token,
      AGENT_FILE: join(folder, `${name}.db`),
      THINKING_MS: String(thinkingMs),
    },
  });
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (printed += String(bytes)));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, ended, printed: () => printed };
}

let made = 0;
async function slides(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `n${++made}`);
  for (const id of ids)
    await people.request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: `On ${id}` } });
  return ids;
}
const notes = async (id: string) =>
  ((await people.request("GET", `/v1/models/slide/${id}`)).data as { notes?: string }).notes;
const claimsOn = async (id: string) =>
  (await people.request("GET", `/v1/claims?model=slide&id=${id}`)).claims as { id: string; actor: string }[];
/** How often the notes of a slide were written. */
async function writes(id: string): Promise<number> {
  const { data } = await people.request("GET", "/v1/log?after=0&limit=1000");
  return (data as { id: string; changedFields?: string[] }[]).filter(
    (entry) => entry.id === id && entry.changedFields?.includes("notes"),
  ).length;
}
const patience = { timeout: 30_000, interval: 100 };

test("[AG10] two agents of the example share the work, handle each slide once, and end cleanly on a signal", async () => {
  const ids = await slides(6);
  const agents = [start("one", await tokenOf("one"), 100), start("two", await tokenOf("two"), 100)];
  await until(async () => expect((await Promise.all(ids.map(notes))).every(Boolean)).toBe(true));
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

test("[AG10] the example's agent, killed during its work, continues where it stopped and does nothing twice", async () => {
  const ids = await slides(8);
  const done = async () => (await Promise.all(ids.map(notes))).filter(Boolean).length;
  const token = await tokenOf("three");
  for (let round = 0; round < 2; round++) {
    const before = await done();
    const agent = start("three", token, 150);
    await until(async () => expect(await done()).toBeGreaterThan(before));
    agent.child.kill("SIGKILL");
    await agent.ended;
  }
  // It was killed with work left.
  expect(await done()).toBeLessThan(ids.length);
  const last = start("three", token, 150);
  await until(async () => expect((await Promise.all(ids.map(notes))).every(Boolean)).toBe(true));
  last.child.kill("SIGTERM");
  expect(await last.ended).toBe(0);
  for (const id of ids) expect(await writes(id)).toBe(1);
});

test("[AG10] [U19] the example's agent, killed while it holds a claim, releases it after a restart", async () => {
  const ids = await slides(8);
  const claimed = async () => (await Promise.all(ids.map(claimsOn))).flat().map(({ id }) => id);
  const token = await tokenOf("five");
  let before: string | undefined;
  // Which slide it takes is chance: four lives, so that they hardly all take the same.
  for (let life = 0; life < 4; life++) {
    const agent = start("five", token, 60_000);
    await until(() => expect(agent.printed()).toContain("ready"));
    // One claim, but not the one of the killed process.
    await until(async () => expect(await claimed()).toEqual([expect.not.stringMatching(before ?? "none")]));
    [before] = await claimed();
    agent.child.kill("SIGKILL");
    await agent.ended;
  }
});

test("[AG10] an edit that a person makes while the example's agent is disconnected stays", async () => {
  const boss = await people.person("boss", { operations: ["slide.*", "claim.preempt"] });
  const [id = ""] = await slides(1);
  const agent = start("four", await tokenOf("four"), 1_500, gate.url);
  await until(async () => expect(await claimsOn(id)).toMatchObject([{ actor: "four" }]));
  gate.turn("down");
  const lease = await boss.client.models.slide.claim(id, { preempt: true });
  await people.request(
    "PATCH",
    `/v1/models/slide/${id}`,
    { data: { notes: "Ann's own" }, claim: lease.id },
    boss.token,
  );
  await lease.release();
  // Long enough for the agent to finish its write, which then waits on its disk.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  gate.turn("up");
  await until(() => expect(agent.printed()).toContain(`${id}: somebody was there first`));
  agent.child.kill("SIGTERM");
  expect(await agent.ended).toBe(0);
  expect(await notes(id)).toBe("Ann's own");
  expect(await writes(id)).toBe(1);
});
