import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startExample } from "./example.ts";

const { people, start: startProgram, tokenOf, slides, haveNotes, claimsOn, writes } = await startExample();

/** As the README starts it. */
const start = (name: string, token: string, thinkingMs: number) =>
  startProgram(name, ["--conditions=holdfast-source", "--import", "tsx", "src/main.ts"], token, thinkingMs);

test("[AG10] the example's agent, killed during its work, continues where it stopped and does nothing twice", async () => {
  const ids = await slides(8);
  // A person holds the last slide, so that each kill leaves some work.
  const ann = await people.person("ann");
  const held = await ann.client.models.slide.claim(ids.at(-1) ?? "");
  const token = await tokenOf("three");
  for (let round = 0; round < 2; round++) {
    const before = await haveNotes(ids);
    const agent = start("three", token, 150);
    await until(async () => expect(await haveNotes(ids)).toBeGreaterThan(before));
    agent.child.kill("SIGKILL");
    await agent.ended;
  }
  expect(await haveNotes(ids)).toBeLessThan(ids.length);
  const last = start("three", token, 150);
  await held.release();
  await until(async () => expect(await haveNotes(ids)).toBe(ids.length));
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
    const agent = start("five", token, 600_000);
    await until(() => expect(agent.printed()).toContain("ready"));
    // One claim, but not the one of the killed process.
    await until(async () => expect(await claimed()).toEqual([expect.not.stringMatching(before ?? "none")]));
    [before] = await claimed();
    agent.child.kill("SIGKILL");
    await agent.ended;
  }
});
