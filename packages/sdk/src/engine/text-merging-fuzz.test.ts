import { expect, test } from "vitest";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { Profile } from "../testing/profile.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = {
  models: { note: { fields: { body: { type: "string", merge: "text" }, title: { type: "string" } } } },
} as const;

/** Each participant writes into a line of its own, on two devices of which Ann's has two tabs. */
const lines = ["ann", "ann's second tab", "ben", "cem"];

async function run(seed: number): Promise<void> {
  let state = seed;
  const roll = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const own = createTestServer(schema);
  const [disk, profile] = [new MemoryDisk(), new Profile()];
  const tab = () => {
    const { tabs } = profile.tab();
    return own.client({ actor: "ann", disk, platform: { tabs: () => tabs, storage: async () => memoryStorage(disk) } });
  };
  const devices = [tab(), tab(), own.client({ actor: "ben" }), own.client({ actor: "cem" })];
  await own.settle();
  const receipts: Promise<{ status: string }>[] = [];
  const first = devices[0]?.client.models.note.create(
    { body: lines.map((_, i) => `line${i} end${i}\n`).join("") },
    { id: "n" },
  );
  await own.settle();
  await first?.receipt;
  const typed: string[][] = lines.map(() => []);
  let annsTab = 0;
  for (let turn = 0; turn < 60; turn++) {
    const i = roll(devices.length);
    const device = devices[i];
    if (!device) continue;
    switch (roll(8)) {
      case 0:
        device.client.pause();
        break;
      case 1:
        device.client.resume();
        break;
      case 2:
        device.connection.answers.push("lost");
        break;
      case 3:
        await own.settle();
        break;
      case 4:
        own.clock.advance(1_000);
        break;
      default: {
        // One person does not write in two tabs within a millisecond: of two such writes the second one counts.
        if (i < 2 && annsTab !== i) await own.settle();
        if (i < 2) annsTab = i;
        const note = device.client.models.note.get("n");
        const word = `w${seed}x${turn}`;
        const body = String(note?.body).replace(` end${i}`, ` ${word} end${i}`);
        receipts.push(device.client.models.note.update("n", { body }).receipt);
        typed[i]?.push(word);
      }
    }
    // As promises run between two events of a page.
    for (let n = roll(40); n > 0; n--) await Promise.resolve();
  }
  for (let n = 0; n < 60; n++) {
    for (const { client } of devices) client.resume();
    await own.settle();
    own.clock.advance(5_000);
  }
  const said = `seed ${seed}`;
  const want = lines.map((_, i) => `line${i} ${(typed[i] ?? []).map((word) => `${word} `).join("")}end${i}\n`).join("");
  expect(own.server.rows.get("note/n")?.data.body, said).toBe(want);
  for (const { client } of devices) {
    expect(client.models.note.get("n")?.body, said).toBe(want);
    expect(client.status(), said).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  }
  for (const receipt of receipts) expect((await receipt).status, said).toBe("confirmed");
  expect(own.server.log, said).toHaveLength(receipts.length + 1);
  await Promise.all(devices.map(({ client }) => client.close()));
}

test("[MT4] [MT5] [MT9] [MT10] whatever is lost or late, each word of each participant is in the text, each write once", async () => {
  for (let seed = 1; seed <= Number(process.env.SEEDS ?? 12); seed++) await run(seed);
});

test("[MT7] [MT16] a write on top of a pending one, which covers what others have written, replaces nothing of theirs", async () => {
  await run(16);
});
