import { afterEach, expect, test } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { systemClock } from "../engine/system.ts";
import { indexedDbStorage } from "../storage/indexeddb.ts";
import { createTestServer } from "../testing/test-server.ts";
import { browserSignals } from "./signals.ts";
import { browserTabs } from "./tabs.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

/** A page that is not secure has no locks. */
function takeLocksAway(): void {
  Object.defineProperty(navigator, "locks", { value: undefined, configurable: true });
}
afterEach(() => {
  delete (navigator as { locks?: unknown }).locks;
});

/** Two clients of one page on one store: locks, channels and IndexedDB are those of two tabs. */
async function tabs() {
  const own = createTestServer(schema);
  const store = `tabs-${crypto.randomUUID()}`;
  const platform = {
    clock: systemClock,
    storage: async () => indexedDbStorage({ name: store }),
    tabs: () => browserTabs(store, systemClock),
    signals: browserSignals,
  };
  const open = async () => {
    const made = own.client({ platform });
    await made.client.ready();
    return { ...made, slides: made.client.models.slide };
  };
  const first = await open();
  await until(() => expect(first.client.status().name).toBe("online"));
  const second = await open();
  await until(() => expect(second.client.status().name).toBe("online"));
  return { ...own, first, second, open };
}

test("[Q23] one tab sends what all tabs wrote, once, and all agree", async () => {
  const { first, second, server } = await tabs();
  const writes = [
    first.slides.create({ title: "first" }, { id: "a" }),
    second.slides.create({ title: "second" }, { id: "b" }),
    first.slides.update("a", { order: 1 }),
  ];
  await Promise.all(writes.map((w) => w.receipt));
  await until(() => expect([first.client.status().pending, second.client.status().pending]).toEqual([0, 0]));
  expect(second.connection.sent).toEqual([]);
  expect(server.log).toHaveLength(3);
  for (const { slides } of [first, second]) expect(slides.list().map((s) => s.title)).toEqual(["first", "second"]);
  await Promise.all([first.client.close(), second.client.close()]);
});

test("[Q23] an offline write of one tab is pending in the other, which sends it when the first is closed", async () => {
  const { first, second, server } = await tabs();
  first.connection.up = false;
  first.connection.cut?.();
  await first.slides.create({ title: "first" }, { id: "a" }).queued;
  const mine = second.slides.create({ title: "second" }, { id: "b" });
  await mine.queued;
  await until(() => expect([first.client.status().pending, second.client.status().pending]).toEqual([2, 2]));
  expect(second.slides.list().map((s) => s.title)).toEqual(["first", "second"]);
  expect(server.head).toBe(0);
  await first.client.close();
  await expect(mine.receipt).resolves.toMatchObject({ status: "confirmed" });
  await until(() => expect(second.client.status().pending).toBe(0));
  expect(server.log.map((e) => e.id)).toEqual(["a", "b"]);
  await second.client.close();
});

test("[Q23] a refused write needs attention in every tab, and is answered for all by one", async () => {
  const { first, second, server } = await tabs();
  const no = server.refuse(() => "capability_scope_denied");
  first.slides.create({ title: "first" }, { id: "a" });
  await until(() => expect([first, second].map((t) => t.client.attention().length)).toEqual([1, 1]));
  no();
  await second.client.attention()[0]?.retry().receipt;
  await until(() =>
    expect([first, second].map((t) => [t.client.attention().length, t.client.status().pending])).toEqual([
      [0, 0],
      [0, 0],
    ]),
  );
  server.refuse(() => "capability_scope_denied");
  second.slides.update("a", { title: "no" });
  await until(() => expect([first, second].map((t) => t.client.attention().length)).toEqual([1, 1]));
  first.client.attention()[0]?.discard();
  await until(() => expect([first, second].map((t) => t.client.attention().length)).toEqual([0, 0]));
  await Promise.all([first.client.close(), second.client.close()]);
});

test("[D9] a page that is loaded again finds its rows and its queue", async () => {
  const { first, second, open } = await tabs();
  await second.client.close();
  await first.slides.create({ title: "log" }, { id: "a" }).receipt;
  await until(() => expect(first.client.status().pending).toBe(0));
  first.connection.up = false;
  await first.slides.update("a", { title: "mine" }).queued;
  await first.client.close();
  const again = await open();
  expect(again.slides.get("a")).toMatchObject({ title: "mine" });
  await until(() => expect(again.client.status()).toMatchObject({ name: "online", pending: 0 }));
  expect(again.connection.asked.snapshot).toBe(0);
  await again.client.close();
});

test("[N5] the browser's offline event closes the line, its online event opens it", async () => {
  const { first, second } = await tabs();
  window.dispatchEvent(new Event("offline"));
  expect(first.client.status().name).toBe("offline");
  window.dispatchEvent(new Event("online"));
  await until(() => expect(second.client.status().name).toBe("online"));
  await Promise.all([first.client.close(), second.client.close()]);
  window.dispatchEvent(new Event("offline"));
  expect(first.client.status().name).not.toBe("offline");
});

test("[Q41] without locks two tabs that come at the same moment agree on one that leads, and each write is answered once", async () => {
  takeLocksAway();
  const own = createTestServer(schema);
  const store = `tabs-${crypto.randomUUID()}`;
  const open = () =>
    own.client({
      platform: {
        clock: systemClock,
        storage: async () => indexedDbStorage({ name: store }),
        tabs: () => browserTabs(store, systemClock),
        signals: browserSignals,
      },
    });
  const both = [open(), open()];
  const leaders = () => both.filter(({ client }) => client.status().leads).length;
  await until(() => expect(leaders()).toBe(1));
  await Promise.all(both.map(({ client }) => client.ready()));
  const writes = Array.from({ length: 16 }, (_, i) => both[i % 2]?.client.models.slide.create({ title: `${i}` }));
  await Promise.all(writes.map((write) => write?.receipt));
  expect(own.server.log).toHaveLength(16);
  await until(() => expect(both.map(({ client }) => client.status().pending)).toEqual([0, 0]));
  await until(() => expect(leaders()).toBe(1));
  const [last, first] = both[0]?.client.status().leads ? [both[1], both[0]] : [both[0], both[1]];
  await first?.client.close();
  await until(() => expect(last?.client.status().leads).toBe(true));
  await last?.client.models.slide.create({ title: "last" }).receipt;
  await last?.client.close();
});

test("[D40] [D54] two tabs of two organizations have a database, a channel and a lock each, and work at the same time", async () => {
  const [a, b] = [createTestServer(schema), createTestServer(schema)];
  b.server.logId = "log_b";
  const store = `tabs-${crypto.randomUUID()}`;
  const open = (own: typeof a, tenant: string) => {
    const made = own.client({
      platform: {
        clock: systemClock,
        storage: async (suffix) => indexedDbStorage({ name: `${store}${suffix}` }),
        tabs: (suffix) => browserTabs(`${store}${suffix}`, systemClock),
        signals: browserSignals,
      },
    });
    made.connection.tenant = tenant;
    return { ...made, slides: made.client.models.slide };
  };
  // At the same moment, in an empty profile.
  const tabs = [open(a, "org_a/test"), open(b, "org_b/test"), open(a, "org_a/test"), open(b, "org_b/test")] as const;
  await until(() => expect(tabs.map(({ client }) => client.status().name)).toEqual(Array(4).fill("online")));
  for (const [i, { slides }] of tabs.entries()) await slides.create({ title: `${i}` }, { id: `${i}` }).receipt;
  expect(a.server.log.map(({ id }) => id)).toEqual(["0", "2"]);
  expect(b.server.log.map(({ id }) => id)).toEqual(["1", "3"]);
  const shown = () => tabs.map(({ slides }) => slides.list().map(({ id }) => id));
  await until(() =>
    expect(shown()).toEqual([
      ["0", "2"],
      ["1", "3"],
      ["0", "2"],
      ["1", "3"],
    ]),
  );
  expect([tabs[0], tabs[2]].filter(({ client }) => client.status().leads)).toHaveLength(1);
  expect([tabs[1], tabs[3]].filter(({ client }) => client.status().leads)).toHaveLength(1);
  const locks = (await navigator.locks.query()).held?.map(({ name }) => name).filter((name) => name?.includes(store));
  expect(locks).toHaveLength(2);
  await Promise.all(tabs.map(({ client }) => client.close()));
});
