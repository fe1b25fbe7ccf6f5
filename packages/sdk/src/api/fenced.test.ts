import { expect, test } from "vitest";
import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { Tabs } from "../engine/ports.ts";
import { MemoryDisk } from "../storage/memory.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;

/** A channel and a lock between tabs. A tab can be frozen: its messages then wait, or are lost. */
function newSeat(slots: Seat[]): Seat {
  const seat: Seat = {
    isFrozen: false,
    late: [],
    listener: undefined,
    wants: false,
    tabs: {
      start: (listener) => {
        seat.listener = listener;
      },
      campaign: (wanted) => {
        seat.wants = wanted;
        if (wanted && !slots.some((other) => other !== seat && other.wants)) seat.listener?.lead();
      },
      post: (message: TabMessage) => {
        for (const other of slots) {
          if (other === seat) continue;
          const deliver = () => other.listener?.received(structuredClone(message));
          if (other.isFrozen) other.late.push(deliver);
          else queueMicrotask(deliver);
        }
      },
      close: () => {},
    },
  };
  slots.push(seat);
  return seat;
}
interface Seat {
  isFrozen: boolean;
  readonly late: (() => void)[];
  listener: Parameters<Tabs["start"]>[0] | undefined;
  wants: boolean;
  readonly tabs: Tabs;
}

async function twoTabs() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const slots: Seat[] = [];
  const open = async () => {
    const seat = newSeat(slots);
    const made = own.client({ disk, platform: { tabs: () => seat.tabs } });
    await made.client.ready();
    await own.settle();
    return { ...made, seat };
  };
  return { ...own, old: await open(), next: await open() };
}

test.each(["before the lock", "after the lock"])(
  "[Q33] a tab that stood still while another took over follows it, and hears of it %s",
  async (order) => {
    const { old, next, settle, server } = await twoTabs();
    // Its first request is on its way when it stands still.
    old.connection.answers.push("held back");
    for (const id of ["a", "b"]) old.client.models.slide.create({ title: id }, { id });
    await settle();
    expect(next.client.status().pending).toBe(2);
    old.seat.isFrozen = true;
    next.seat.listener?.lead();
    await settle();
    expect(next.client.status()).toMatchObject({ name: "online", pending: 0 });

    old.seat.isFrozen = false;
    if (order === "after the lock") old.seat.listener?.fenced();
    for (const deliver of old.seat.late.splice(0)) deliver();
    if (order === "before the lock") old.seat.listener?.fenced();
    await settle();
    expect(old.client.status()).toMatchObject({ name: "online", pending: 0, syncId: 2 });
    const sent = old.connection.sent.length;
    await old.client.models.slide.create({ title: "c" }, { id: "c" }).receipt;
    expect(old.connection.sent).toHaveLength(sent);
    expect(server.log.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    await Promise.all([old.client.close(), next.client.close()]);
  },
);

test("[Q33] a fenced tab requests the new leader's connection status, even if all messages meanwhile were lost", async () => {
  const { old, next, settle, server } = await twoTabs();
  old.seat.isFrozen = true;
  old.connection.up = false;
  next.seat.listener?.lead();
  await settle();
  await next.client.models.slide.create({ title: "a" }, { id: "a" }).receipt;

  old.seat.isFrozen = false;
  old.seat.late.length = 0;
  old.seat.listener?.fenced();
  old.connection.up = true;
  await settle();
  expect(old.client.status()).toMatchObject({ name: "online", syncId: 1 });
  expect(old.client.models.slide.get("a")).toMatchObject({ title: "a" });
  expect(server.log).toHaveLength(1);
  await Promise.all([old.client.close(), next.client.close()]);
});

test("[Q33] a tab that wakes looks at the disk first: what was given up under another one's lead is not sent", async () => {
  const { old, next, settle, server } = await twoTabs();
  let refuses = true;
  server.refuse(() => (refuses ? "invalid_value" : undefined));
  old.connection.up = false;
  old.client.models.slide.create({ title: "a" }, { id: "a" });
  await settle();
  old.seat.isFrozen = true;
  next.seat.listener?.lead();
  await settle();
  await next.client.attention()[0]?.discard();
  await settle();
  refuses = false;

  // It has received no message that another tab leads.
  old.seat.isFrozen = false;
  old.seat.late.length = 0;
  old.connection.up = true;
  old.signals.woke();
  await settle();
  expect(server.log).toEqual([]);
  expect(old.client.status()).toMatchObject({ pending: 0, attention: 0 });
  // It is a follower: the other tab sends its writes.
  const sent = old.connection.sent.length;
  await old.client.models.slide.create({ title: "b" }, { id: "b" }).receipt;
  expect(old.connection.sent.length).toEqual(sent);
  expect(old.seat.wants).toBe(true);
  await Promise.all([old.client.close(), next.client.close()]);
});
