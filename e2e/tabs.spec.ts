import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { receiptsOf } from "./support/insecure-tabs.ts";
import { createDeck } from "./support/log.ts";
import { isStream, type Way, ways } from "./support/sent-writes.ts";
import { stopClock } from "./support/stop-clock.ts";
import type { WorkerOrder, WorkerReport } from "./support/tab-program.ts";
import {
  crash,
  drained,
  eachOnce,
  inLog,
  onWritesSent,
  openTab,
  startClient,
  statusIn,
  tabProgram,
  threeTabs,
  threeTabsThatSend,
  write,
} from "./support/tabs.ts";
import { expect, test } from "./support/test.ts";

for (const way of ways)
  test(`[Q23] [Y4] if the leader crashes while sending hundreds of writes (${way}), another tab takes over at once, and each write is sent once`, async ({
    demo,
    context,
  }) => {
    await context.clock.install();
    const prefix = randomUUID();
    const { leader, second, third, followed } = await threeTabsThatSend(context, demo, prefix, 400, way);
    const leads = async (...tabs: Page[]) => (await Promise.all(tabs.map(statusIn))).map((status) => status.leads);
    // No timer fires any more, so the next leader has not waited for one. `tabs.soak.spec.ts` measures the time.
    await stopClock(second);
    expect(await leads(leader, second, third)).toEqual([true, false, false]);
    await crash(leader);
    await expect.poll(() => leads(second, third)).toContain(true);
    await leader.close();
    await context.clock.resume();
    await followed;
    await drained(second, third);
    await eachOnce(demo, prefix, 400);
  });

test("[N48] a tab sends writes on its stream, and in requests if it has none", async ({ demo, context }) => {
  const tab = await openTab(context, demo, "ada");
  const sent = new Set<Way>();
  onWritesSent(tab, (way) => sent.add(way));
  await expect.poll(async () => (await statusIn(tab)).live).toBe(true);
  const prefix = randomUUID();
  await receiptsOf(tab, `${prefix}-live`, 3);
  expect([...sent]).toEqual(["call"]);
  sent.clear();

  await tab.routeWebSocket(isStream, (socket) => socket.close());
  await context.setOffline(true);
  await context.setOffline(false);
  await receiptsOf(tab, `${prefix}-polling`, 3);
  expect([...sent]).toEqual(["request"]);
});

test("[Y5] tabs that reload repeatedly while writing lose no queued write and duplicate none", async ({
  demo,
  context,
}) => {
  const tabs = await threeTabs(context, demo);
  const prefix = randomUUID();
  const queued = new Set<string>();
  await context.exposeFunction("wasQueued", (id: string) => queued.add(id));
  const storm = async (tab: Page, own: number) => {
    for (let round = 0; round < 5; round++) {
      await tab.evaluate(
        ([start, n]) => {
          for (let i = 0; i < n; i++) {
            const id = `${start}-${i}`;
            void client.models.slide.create({ title: id }, { id }).queued.then(
              () => (window as unknown as { wasQueued(id: string): void }).wasQueued(id),
              () => {},
            );
          }
        },
        [`${prefix}-${own}-${round}`, 20] as const,
      );
      // In the first round at once, in the last when all are queued.
      const ownQueued = () => [...queued].filter((id) => id.startsWith(`${prefix}-${own}-${round}-`)).length;
      await expect.poll(ownQueued, { intervals: [10] }).toBeGreaterThanOrEqual(round * 5);
      await tab.reload();
      await startClient(tab, demo, "ada");
    }
  };
  await Promise.all(tabs.map(storm));
  await drained(...tabs);
  const logged = await inLog(demo, prefix);
  expect(logged).toHaveLength(new Set(logged).size);
  expect([...queued].filter((id) => !logged.includes(id))).toEqual([]);
  expect(queued.size).toBeGreaterThan(100);
  const shown = await Promise.all(
    tabs.map((tab) =>
      tab.evaluate((start) => client.models.slide.list().filter(({ id }) => id.startsWith(start)).length, prefix),
    ),
  );
  expect(shown).toEqual([logged.length, logged.length, logged.length]);
});

test("[Y7] tabs without a network still edit and agree, and show one conflict together when it is back", async ({
  demo,
  context,
  browser,
}) => {
  const deck = await createDeck(demo, ["One", "Two", "Three"]);
  const elsewhere = await browser.newContext();
  const ben = await openTab(elsewhere, demo, "ben");
  const tabs = await threeTabs(context, demo);
  const update = (tab: Page, slide: number, title: string) =>
    tab.evaluate(([id, text]) => client.models.slide.update(id, { title: text }).queued, [
      deck.slideIds[slide] ?? "",
      title,
    ] as const);
  await context.setOffline(true);
  for (const [at, tab] of tabs.entries()) await update(tab, at, `From tab ${at}`);
  await update(ben, 1, "From Ben");
  await drained(ben);
  const reports = () =>
    Promise.all(
      tabs.map((tab) =>
        tab.evaluate((ids) => {
          const { name, pending, conflicts } = client.status();
          return { name, pending, conflicts, titles: ids.map((id) => client.models.slide.get(id)?.title) };
        }, deck.slideIds),
      ),
    );
  const all = (one: object) => [one, one, one];
  await expect
    .poll(reports)
    .toEqual(all({ name: "offline", pending: 3, conflicts: 0, titles: ["From tab 0", "From tab 1", "From tab 2"] }));
  await context.setOffline(false);
  await expect
    .poll(reports)
    .toEqual(all({ name: "online", pending: 0, conflicts: 1, titles: ["From tab 0", "From Ben", "From tab 2"] }));
  await tabs[2].evaluate(() => client.conflicts()[0]?.keepMine().receipt);
  await expect
    .poll(reports)
    .toEqual(all({ name: "online", pending: 0, conflicts: 0, titles: ["From tab 0", "From tab 1", "From tab 2"] }));
  expect((await inLog(demo, deck.slideIds[0] ?? "")).length).toBe(2);
  expect((await inLog(demo, deck.slideIds[1] ?? "")).length).toBe(3);
  await elsewhere.close();
});

test("[Y8] a client in a dedicated or shared worker acts like another tab: same queue, same rows", async ({
  demo,
  context,
}) => {
  const page = await openTab(context, demo, "ada");
  const prefix = randomUUID();
  await page.evaluate(
    ([program, pageUrl]) => {
      const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
      const shared = new SharedWorker(address).port;
      const dedicated = new Worker(address);
      shared.start();
      const request = (kind: "shared" | "dedicated", order: WorkerOrder) => {
        const port = kind === "shared" ? shared : dedicated;
        return new Promise<WorkerReport>((resolve) => {
          port.onmessage = ({ data }) => resolve(data as WorkerReport);
          port.postMessage(order);
        });
      };
      Object.assign(window, { request });
      return Promise.all([
        request("shared", { do: "open", pageUrl, person: "ada" }),
        request("dedicated", { do: "open", pageUrl, person: "ada" }),
      ]);
    },
    [await tabProgram(), demo.pageUrl] as const,
  );
  const request = (kind: "shared" | "dedicated", order: WorkerOrder) =>
    page.evaluate(
      ([who, what]) =>
        (window as unknown as { request(kind: string, order: WorkerOrder): Promise<WorkerReport> }).request(who, what),
      [kind, order] as const,
    );
  // Playwright disables the network for pages only, so workers get the browser's event.
  await context.setOffline(true);
  for (const kind of ["shared", "dedicated"] as const) await request(kind, { do: "dispatch", event: "offline" });
  await write(page, `${prefix}-page`, 1);
  await request("shared", { do: "create", id: `${prefix}-shared`, title: `${prefix} s` });
  await request("dedicated", { do: "create", id: `${prefix}-dedicated`, title: `${prefix} d` });
  for (const kind of ["shared", "dedicated"] as const)
    await expect
      .poll(() => request(kind, { do: "report" }))
      .toMatchObject({ status: "offline", pending: 3, hasWindow: false });
  for (const kind of ["shared", "dedicated"] as const) await request(kind, { do: "dispatch", event: "online" });
  await context.setOffline(false);
  await drained(page);
  for (const kind of ["shared", "dedicated"] as const)
    await expect.poll(() => request(kind, { do: "report" })).toMatchObject({ status: "online", pending: 0 });
  expect((await inLog(demo, prefix)).sort()).toEqual(
    [`${prefix}-dedicated`, `${prefix}-page-0`, `${prefix}-shared`].sort(),
  );
});
