import { createTestServer } from "@holdfast/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { react } from "./adapters/react.ts";
import { solid } from "./adapters/solid.ts";
import { svelte } from "./adapters/svelte.ts";
import { vue } from "./adapters/vue.ts";
import { type Adapter, boardSchema, type Inputs, type Mounted, type Views } from "./board.ts";
import { countedClient } from "./counted-client.ts";

const inputs: Inputs = { deckId: "d1", id: "s1", room: "deck:d1" };

async function start() {
  const own = createTestServer(boardSchema);
  const ann = own.client({ actor: "ann", follow: { where: { note: [] } } });
  const ben = own.client({ actor: "ben" });
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  return { ...own, ann, ben, slides: ben.client.models.slide, ...countedClient(ann.client) };
}
let setup: Awaited<ReturnType<typeof start>>;
const mounted: Mounted<unknown>[] = [];

beforeEach(async () => {
  setup = await start();
});
afterEach(async () => {
  for (const component of mounted.splice(0)) component.unmount();
  await setup.ann.client.close();
  await setup.ben.client.close();
});

/** Lets the server answer, and a little time pass, until this holds. */
const eventually = (check: () => void) =>
  until(async () => {
    await setup.settle();
    setup.clock.advance(100);
    await setup.settle();
    check();
  });

/** What ben writes has reached the server, and ann. */
async function written(...writes: readonly { readonly receipt: Promise<unknown> }[]): Promise<void> {
  await Promise.all(writes.map(({ receipt }) => receipt));
  await eventually(() => expect(setup.ann.client.status().syncId).toBe(setup.server.head));
}

describe.each([vue, svelte, solid, react])("$name", ({ mount }: Adapter) => {
  function show<V extends keyof Views>(view: V, given: Partial<Inputs> = {}, from?: Parameters<typeof mount>[3]) {
    const component = mount(setup.client, view, { ...inputs, ...given }, from);
    mounted.push(component);
    return component;
  }
  const latest = <T>({ rendered }: Mounted<T>) => rendered.at(-1);
  const shows = <T>(component: Mounted<T>, value: unknown) =>
    eventually(() => expect(latest(component)).toEqual(value));
  const showsTitles = (list: Mounted<Views["list"]>, titles: readonly string[]) =>
    eventually(() => expect(latest(list)?.map(({ title }) => title)).toEqual(titles));

  test("[BN1] a list shows a write of its own component before it is sent, and then what another client writes", async () => {
    const list = show("list");
    await showsTitles(list, []);
    setup.ann.offline();
    list.create({ deckId: "d1", title: "Own", order: 1 });
    await showsTitles(list, ["Own"]);
    expect(setup.server.head).toBe(0);
    setup.ann.online();
    await written(setup.slides.create({ deckId: "d1", title: "Another's", order: 0 }));
    await showsTitles(list, ["Another's", "Own"]);
    expect(list.text()).toContain("Another's");
  });

  test("[BN2] a list, a record and a count follow arguments that change", async () => {
    await written(
      setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }),
      setup.slides.create({ deckId: "d2", title: "Two" }, { id: "s2" }),
      setup.slides.create({ deckId: "d2", title: "Three", order: 1 }, { id: "s3" }),
    );
    const [list, record, count] = [show("list"), show("record"), show("count")];
    await showsTitles(list, ["One"]);
    for (const component of [list, record, count]) component.change({ deckId: "d2", id: "s2" });
    await showsTitles(list, ["Two", "Three"]);
    await eventually(() => expect(latest(record)?.title).toBe("Two"));
    await shows(count, 2);
    await written(setup.slides.update("s2", { deckId: "d1" }));
    await showsTitles(list, ["Three"]);
    await shows(count, 1);
  });

  test("[BN3] a component that is unmounted leaves nothing open on the client, and renders no more", async () => {
    const views = ["list", "listAndCount", "record", "count", "status", "conflicts"] as const;
    const withUse = ["claim", "autoClaim", "me", "others", "part"] as const;
    const components = [...views, ...withUse].map((view): Mounted<unknown> => show(view));
    await eventually(() => expect(components.every(({ rendered }) => rendered.length > 0)).toBe(true));
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toHaveLength(1));
    expect(setup.open()).toBeGreaterThanOrEqual(withUse.length);
    for (const component of mounted.splice(0)) component.unmount();
    await eventually(() => expect(setup.open()).toBe(0));
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toEqual([]));
    await eventually(() => expect(setup.server.claims.of("slide", "s1").claims).toEqual([]));
    const before = components.map(({ rendered }) => rendered.length);
    await written(setup.slides.create({ deckId: "d1", title: "Later" }, { id: "s1" }));
    const other = show("list");
    await showsTitles(other, ["Later"]);
    expect(components.map(({ rendered }) => rendered.length)).toEqual(before);
  });

  test("[BN3] arguments that change leave nothing of the earlier ones open", async () => {
    const components = (["list", "claim", "me", "others", "part"] as const).map((view): Mounted<unknown> => show(view));
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toHaveLength(1));
    const before = setup.open();
    for (const component of components) component.change({ deckId: "d2", id: "s2", room: "deck:d2" });
    await eventually(() => expect(setup.server.rooms.peers("deck:d2")).toHaveLength(1));
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toEqual([]));
    await eventually(() => expect(setup.open()).toBe(before));
  });

  test("[BN4] a record that another client deletes is undefined, and is not in the list", async () => {
    await written(setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }));
    const [list, record] = [show("list"), show("record")];
    await eventually(() => expect(latest(record)?.title).toBe("One"));
    await written(setup.slides.delete("s1"));
    await shows(record, undefined);
    await showsTitles(list, []);
  });

  test("[BN5] the status says when the network is lost and when it is back", async () => {
    const status = show("status");
    await shows(status, "online");
    setup.ann.offline();
    await shows(status, "offline");
    setup.ann.online();
    await shows(status, "online");
  });

  test("[BN6] a conflict appears, and is gone when it is settled", async () => {
    await written(setup.slides.create({ deckId: "d1", title: "Base" }, { id: "s1" }));
    const [conflicts, record] = [show("conflicts"), show("record")];
    setup.ann.offline();
    await setup.client.models.slide.update("s1", { title: "Mine" }).queued;
    await setup.slides.update("s1", { title: "Theirs" }).receipt;
    await eventually(() => expect(latest(record)?.title).toBe("Mine"));
    setup.ann.online();
    await shows(conflicts, ["title"]);
    conflicts.takeTheirs();
    await shows(conflicts, []);
    await eventually(() => expect(latest(record)?.title).toBe("Theirs"));
  });

  test("[BN7] a claim is free, mine and free again, and another client sees whose it is", async () => {
    await written(setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }));
    const claim = show("claim");
    await shows(claim, "free");
    claim.claim();
    await shows(claim, "mine");
    expect(setup.server.claims.of("slide", "s1").claims.map(({ actor }) => actor)).toEqual(["ann"]);
    claim.release();
    await shows(claim, "free");
    const lease = await setup.slides.claim("s1");
    await shows(claim, "theirs");
    const released = lease.release();
    await shows(claim, "free");
    await released;
  });

  test("[BN7] with auto a record is claimed as long as the component is there", async () => {
    await written(
      setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }),
      setup.slides.create({ deckId: "d1", title: "Two" }, { id: "s2" }),
    );
    const holders = (id: string) => setup.server.claims.of("slide", id).claims.map(({ actor }) => actor);
    const claim = show("autoClaim");
    await shows(claim, "mine");
    expect(holders("s1")).toEqual(["ann"]);
    claim.change({ id: "s2" });
    await eventually(() => expect([holders("s1"), holders("s2")]).toEqual([[], ["ann"]]));
    await shows(claim, "mine");
    for (const component of mounted.splice(0)) component.unmount();
    await eventually(() => expect(holders("s2")).toEqual([]));
  });

  test("[BN8] two clients in a room see each other's state, and when one leaves", async () => {
    const theirs = setup.ben.client.presence("deck:d1");
    theirs.set({ name: "Ben" });
    const [me, others] = [show("me"), show("others")];
    const names = () => latest(others)?.map(({ state }) => state.name);
    await eventually(() => expect(names()).toEqual(["Ben"]));
    await shows(me, { name: "Ann" });
    me.set({ name: "Ann", at: 3 });
    await shows(me, { name: "Ann", at: 3 });
    await eventually(() => expect(theirs.others().map(({ state }) => state)).toEqual([{ name: "Ann", at: 3 }]));
    theirs.leave();
    await eventually(() => expect(names()).toEqual([]));
  });

  test("[BN8] a component that is unmounted does not enter its room again", async () => {
    const me = show("me");
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toHaveLength(1));
    for (const component of mounted.splice(0)) component.unmount();
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toEqual([]));
    me.set({ name: "Late" });
    const other = show("me", { room: "deck:d2" });
    await eventually(() => expect(setup.server.rooms.peers("deck:d2")).toHaveLength(1));
    await shows(other, { name: "Ann" });
    expect(setup.server.rooms.peers("deck:d1")).toEqual([]);
  });

  test("[BN9] a component renders only if its value changes, and rows that do not change keep their identity", async () => {
    await written(
      setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }),
      setup.slides.create({ deckId: "d1", title: "Two", order: 1 }, { id: "s2" }),
    );
    const [list, record, count, other] = [show("list"), show("record"), show("count"), show("list", { deckId: "d2" })];
    await showsTitles(list, ["One", "Two"]);
    await eventually(() => expect(latest(record)?.title).toBe("One"));
    await shows(count, 2);
    await showsTitles(other, []);
    const before = latest(list);
    const rendered = () => [list, record, count].map((component) => component.rendered.length);
    const times = rendered();
    await written(setup.slides.create({ deckId: "d2", title: "Elsewhere" }));
    await showsTitles(other, ["Elsewhere"]);
    expect(rendered()).toEqual(times);
    await written(setup.slides.update("s2", { title: "Renamed" }));
    await showsTitles(list, ["One", "Renamed"]);
    expect(latest(list)?.[0]).toBe(before?.[0]);
    expect([record.rendered.length, count.rendered.length]).toEqual(times.slice(1));
  });

  test("[BN9] a component renders a change that other code has read before it", async () => {
    let list: Mounted<Views["list"]> | undefined;
    const read: (number | undefined)[] = [];
    // Called before the component is.
    const unsubscribe = setup.client.subscribe(() => read.push(list?.read()?.length));
    list = show("list");
    await showsTitles(list, []);
    await written(setup.slides.create({ deckId: "d1", title: "One" }));
    await showsTitles(list, ["One"]);
    expect(read.length).toBeGreaterThan(0);
    unsubscribe();
  });

  test("[BN10] values that change with one write are never shown apart", async () => {
    const both = show("listAndCount");
    await shows(both, { ids: [], count: 0 });
    await written(setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }));
    await shows(both, { ids: ["s1"], count: 1 });
    await written(setup.slides.delete("s1"));
    await shows(both, { ids: [], count: 0 });
    expect(both.rendered.filter(({ ids, count }) => ids.length !== count)).toEqual([]);
  });

  test("[BN11] a part is loaded as long as a component uses it, and another one when its conditions change", async () => {
    const { note } = setup.ben.client.models;
    await written(
      note.create({ deckId: "d1", body: "One" }, { id: "n1" }),
      note.create({ deckId: "d2", body: "Two" }, { id: "n2" }),
    );
    const notes = () =>
      setup.client.models.note
        .list()
        .map(({ id }) => id)
        .sort();
    expect(notes()).toEqual([]);
    const part = show("part");
    await shows(part, "ready");
    expect(notes()).toEqual(["n1"]);
    part.change({ deckId: "d2" });
    await eventually(() => expect(notes()).toContain("n2"));
    await shows(part, "ready");
    part.change({ deckId: "skip" });
    await shows(part, "skipped");
  });

  test("[BN7] [BN8] [BN11] a component claims, is in its room and loads its part also if it shows nothing of them", async () => {
    await written(
      setup.slides.create({ deckId: "d1", title: "One" }, { id: "s1" }),
      setup.ben.client.models.note.create({ deckId: "d1", body: "One" }, { id: "n1" }),
    );
    show("nothing");
    await eventually(() => expect(setup.server.claims.of("slide", "s1").claims).toHaveLength(1));
    await eventually(() => expect(setup.server.rooms.peers("deck:d1")).toHaveLength(1));
    await eventually(() => expect(setup.client.models.note.get("n1")?.body).toBe("One"));
    for (const component of mounted.splice(0)) component.unmount();
    await eventually(() => expect(setup.open()).toBe(0));
    await eventually(() => expect(setup.server.claims.of("slide", "s1").claims).toEqual([]));
    expect(setup.server.rooms.peers("deck:d1")).toEqual([]);
  });

  test("[BN12] `skip` reads nothing", async () => {
    await written(setup.slides.create({ deckId: "skip", title: "One" }, { id: "skip" }));
    const skip = { deckId: "skip", id: "skip" };
    await shows(show("list", skip), []);
    await shows(show("record", skip), undefined);
    await shows(show("count", skip), 0);
    await shows(show("claim", skip), "unknown");
    expect(setup.ann.connection.frames.filter(({ frame }) => frame === "watch")).toEqual([]);
  });

  test("[BN13] a model that the schema lacks is an error that names it", async () => {
    await shows(show("unknownModel"), 'The client\'s schema has no model "slied".');
  });
});

describe.each([vue, svelte, solid])("$name", ({ mount }: Adapter) => {
  test("[BN14] a client can be passed instead of provided", async () => {
    const list = mount(setup.client, "list", inputs, "argument");
    mounted.push(list);
    await written(setup.slides.create({ deckId: "d1", title: "One" }));
    await eventually(() => expect(list.rendered.at(-1)?.map(({ title }) => title)).toEqual(["One"]));
  });

  test("[BN14] without a client, the error says what to do", () => {
    const component = mount(setup.client, "unknownModel", inputs, "nowhere");
    mounted.push(component);
    expect(component.rendered).toEqual([
      expect.stringMatching(/No Holdfast client is provided here: .*createBindings\(client\)/),
    ]);
  });
});
