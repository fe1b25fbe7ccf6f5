import { expect, test } from "vitest";
import type { LogEntry } from "../../protocol/log/log.ts";
import { shownRow } from "../conflicts/overlay.ts";
import type { Happening } from "../events.ts";
import type { Rows } from "../log/rows.ts";
import { scopeKey } from "../log/scope-key.ts";
import { changeTables, lookUp, recordKey } from "../log/tables.ts";
import type { Mutation } from "../queue/mutation.ts";
import { statusOf } from "../select.ts";
import { initialState } from "../state.ts";
import { machine } from "../step.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const record = { model: "slide", id: "a" };
const row = { data: { id: "a", title: "new" }, archivedAt: null, syncId: 5 };
const created = { ...record, syncId: 5, verb: "created", data: row.data, clientTxId: "t", clientId: "other" };

/** A follower whose rows end at 5. It takes rows of another view from disk, which end at 3, and becomes the leader. */
function leaderWithEarlierRows() {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const own: Rows = {
    ...{ logId: "log", position: 5, viewHash: "whole" },
    tables: changeTables({}, [{ record, value: row }]),
  };
  const onDisk: Rows = { logId: "log", position: 3, viewHash: "narrow", tables: {} };
  let state = initialState({ schema, paused: false, sendAtMost: 1 });
  const apply = (happening: Happening) => {
    const [next, effects] = machine.step(state, { ...happening, now: 0, roll: 0 });
    state = next;
    return effects;
  };
  const isShown = () => lookUp(state.rows.tables, record) !== undefined;
  apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows: own });
  apply({ type: "queueRead", rows: "all", snapshot: { ...numbers, generation: 1, rows: onDisk } });
  expect(isShown()).toBe(true);
  apply({ type: "elected" });
  apply({ type: "leadTaken", converted: [], snapshot: { ...numbers, generation: 2, rows: undefined } });
  const entries = (...read: object[]) =>
    apply({ type: "entriesReceived", from: 3, to: 5, entries: read as readonly LogEntry[] });
  return { entries, isShown };
}

test("[N15] [N60] a leader that took earlier rows from disk stores what it had read beyond them", () => {
  const { entries, isShown } = leaderWithEarlierRows();
  const kept = entries(created).find((effect) => effect.do === "keepRows");
  expect(kept).toMatchObject({ from: 3, to: 5, changes: [{ record, value: row }] });
  expect(isShown()).toBe(true);
});

test("[N15] [N60] a leader that took earlier rows from disk removes what it had read beyond them under another view", () => {
  const { entries, isShown } = leaderWithEarlierRows();
  const kept = entries().find((effect) => effect.do === "keepRows");
  expect(kept).toMatchObject({ from: 3, to: 5, changes: [] });
  expect(isShown()).toBe(false);
});

test("[R27] a leader tells the other tabs when its rows are complete, and when they are not any more", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  let state = initialState({ schema, paused: false, sendAtMost: 1 });
  const apply = (happening: Happening) => {
    const [next, effects] = machine.step(state, { ...happening, now: 0, roll: 0 });
    state = next;
    return effects.flatMap((effect) =>
      effect.do === "post" && effect.message.type === "connection" ? [effect.message.connection] : [],
    );
  };
  const rows: Rows = { logId: "log", position: 5, viewHash: "whole", rowsVersion: 1, tables: {} };
  apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows });
  apply({ type: "elected" });
  apply({ type: "leadTaken", converted: [], snapshot: { ...numbers, generation: 2, rows: undefined } });
  expect(apply({ type: "joined", changes: 0, lastSeq: 0 })).toMatchObject([{ isBehind: true }]);
  apply({ type: "streamOpened" });
  const welcome = { logId: "log", stamp: 6, participant: "user:ann", session: "s", owner: "o/live/user/ann" };
  const facts = { rowsVersion: 1, viewHash: "whole", models: ["slide"], expiresInMs: null };
  expect(apply({ type: "welcomed", ...welcome, ...facts } as Happening)).toMatchObject([{ isBehind: true }]);
  expect(apply({ type: "entriesReceived", from: 5, to: 6, entries: [] })).toMatchObject([
    { name: "online", isBehind: false },
  ]);
  // For a moment it still counts as online.
  expect(apply({ type: "streamClosed", code: 1006, reason: "" })).toMatchObject([{ name: "online", isBehind: true }]);
});

test("[N27] what a leader or the server tells of other parts than a tab's rows have is not taken for all of the log", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const rows: Rows = {
    logId: "log",
    position: 5,
    viewHash: "whole",
    rowsVersion: 1,
    scope: { models: ["slide"] },
    tables: {},
  };
  const scope = { models: ["slide"] };
  let state = initialState({ schema, scope, paused: false, sendAtMost: 1 });
  const apply = (happening: Happening) => {
    [state] = machine.step(state, { ...happening, now: 0, roll: 0 });
    return [state.rows.position, state.reading.missing];
  };
  apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows });
  const range = { logId: "log", viewHash: "whole", from: 5, to: 6, entries: [] };
  expect(apply({ type: "log", ...range, scope: '[["deck"],null]' })).toEqual([5, 6]);
  const facts = { owner: "o/live/user/ann", rowsVersion: 1, models: ["slide"] };
  const read = { ...range, ...facts, stamp: 6 };
  expect(apply({ type: "logRead", ...read, scope: { models: ["deck"] } })).toEqual([5, 6]);
  expect(apply({ type: "logRead", ...read, scope })).toEqual([6, undefined]);
  expect(apply({ type: "log", ...range, from: 6, to: 7, scope: scopeKey(scope) })).toEqual([7, undefined]);
});

test.each<[string, Partial<Rows>, boolean]>([
  ["the same", {}, true],
  ["at another position", { position: 4 }, false],
  ["of another view", { viewHash: "narrow" }, false],
  ["of other parts", { scope: { where: { slide: [{ title: "b" }] } } }, false],
  ["of another log", { logId: "another" }, false],
])("[N47] a tab whose rows are %s adds the leader's new parts, or reads the disk", (_, different, isAdded) => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const scopeOfParts = (...parts: readonly string[]) => ({ where: { slide: parts.map((title) => ({ title })) } });
  const same = { logId: "log", position: 5, viewHash: "whole", rowsVersion: 1 };
  const rows: Rows = { ...same, scope: scopeOfParts(), tables: {}, ...different };
  const scope = { where: { slide: [{ title: "new" }] } };
  let state = initialState({ schema, scope, paused: false, sendAtMost: 1 });
  const hears = (happening: Happening) => {
    const [next, effects] = machine.step(state, { ...happening, now: 0, roll: 0 });
    state = next;
    return effects.some((effect) => effect.do === "readQueue");
  };
  hears({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows });
  const parts = {
    was: scopeKey(scopeOfParts()),
    scope: scopeKey(scopeOfParts("new")),
    changes: [{ record, value: row }],
  };
  hears({ type: "parts", ...same, ...parts });
  expect(lookUp(state.rows.tables, record)).toBe(isAdded ? row : undefined);
  expect(hears({ type: "rows", other: false, scope: parts.scope })).toBe(!isAdded);
});

test("[N46] a tab that waits for the disk takes the leader's new parts from there, because the answer may be from before", () => {
  const parts = (...titles: readonly string[]) => ({ where: { slide: titles.map((title) => ({ title })) } });
  const same = { logId: "log", position: 5, viewHash: "whole", rowsVersion: 1 };
  const [before, after] = [scopeKey(parts()), scopeKey(parts("new"))];
  const rows: Rows = { ...same, scope: parts(), tables: {} };
  const numbers = { mutations: [], changes: 0, lastSeq: 0, generation: 1 };
  let state = initialState({ schema, scope: parts("new"), paused: false, sendAtMost: 1 });
  const apply = (happening: Happening) => {
    const [next, effects] = machine.step(state, { ...happening, now: 0, roll: 0 });
    state = next;
    return effects.filter((effect) => effect.do === "readQueue");
  };
  const shown = () => shownRow(state, record)?.data.id;
  apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, rows });
  expect(apply({ type: "rows", other: false, scope: undefined })).toHaveLength(1);
  apply({ type: "parts", ...same, was: before, scope: after, changes: [{ record, value: row }] });
  expect(shown()).toBeUndefined();
  apply({ type: "queueRead", rows: "all", snapshot: { ...numbers, rows } });
  expect(shown()).toBeUndefined();
  expect(apply({ type: "rows", other: false, scope: after })).toHaveLength(1);
  const stored: Rows = { ...rows, scope: parts("new"), tables: changeTables({}, [{ record, value: row }]) };
  apply({ type: "queueRead", rows: "all", snapshot: { ...numbers, rows: stored } });
  expect(shown()).toBe("a");
});

test.each(["follows", "begins to lead"])(
  "[N46] a tab that %s, and reads the disk again, shows what the leader has kept of an unfollowed record",
  (does) => {
    const parts = (...titles: readonly string[]) => ({ where: { slide: titles.map((title) => ({ title })) } });
    const rows: Rows = { logId: "log", position: 5, viewHash: "whole", scope: parts("b"), tables: {} };
    const before: Rows = {
      ...rows,
      scope: parts("new", "b"),
      tables: changeTables({}, [{ record, value: row }]),
    };
    const operation = { action: "update", ...record, data: { title: "mine" }, onStale: "notify", base: null } as const;
    const write: Mutation = {
      ...({ clientTxId: "t1", seq: 1, owner: null, attempts: 0, echoed: [], reads: [], bytes: 2 } as const),
      ...{ operations: [operation], keys: [recordKey(record)], body: "{}", createdAt: 0, stage: { phase: "queued" } },
    };
    const numbers = { changes: 0, lastSeq: 1, generation: 1 };
    let state = initialState({ schema, scope: parts("new", "b"), paused: false, sendAtMost: 1 });
    const apply = (happening: Happening) => {
      const [next, effects] = machine.step(state, { ...happening, now: 0, roll: 0 });
      state = next;
      return effects;
    };
    const shown = () => shownRow(state, record)?.data;
    apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, mutations: [write], rows: before });
    apply({ type: "scope", scope: parts("b") });
    apply({ type: "queueRead", rows: "all", snapshot: { ...numbers, mutations: [write], rows } });
    expect(shown()).toEqual({ id: "a", title: "mine" });
    const kept = { ...write, lost: { [recordKey(record)]: row.data } };
    const again = { ...numbers, mutations: [kept], rows: { ...rows, viewHash: "narrow" } };
    if (does === "follows") apply({ type: "queueRead", rows: "all", snapshot: again });
    else {
      apply({ type: "elected" });
      const taken = apply({ type: "leadTaken", converted: [], snapshot: { ...again, generation: 2 } });
      expect(taken.find((effect) => effect.do === "keep")).toMatchObject({ mutations: [{ lost: kept.lost }] });
    }
    expect(shown()).toEqual({ id: "a", title: "mine" });
  },
);

test("[R27] a follower's rows are complete when the leader's are, and it has all that the leader has", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  let state = initialState({ schema, paused: false, sendAtMost: 1 });
  const apply = (happening: Happening) => {
    [state] = machine.step(state, { ...happening, now: 0, roll: 0 });
    return statusOf(state).rows;
  };
  const leader = {
    name: "online",
    live: true,
    withheld: false,
    reason: undefined,
    retryAt: undefined,
    scope: {},
    isReading: false,
    logId: "log",
    viewHash: "whole",
    rowsVersion: undefined,
  } as const;
  const extent = { lastSeq: 0, changes: 0 };
  const rows: Rows = { logId: "log", position: 5, viewHash: "whole", tables: {} };
  expect(apply({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows })).toBe("partial");
  const heard = (more: { readonly isBehind: boolean; readonly position: number }) =>
    apply({ type: "connection", connection: { ...leader, extent, ...more } });
  expect(heard({ isBehind: true, position: 5 })).toBe("partial");
  expect(heard({ isBehind: false, position: 5 })).toBe("complete");
  expect(heard({ isBehind: false, position: 7 })).toBe("partial");
});

test("[Q41] [Q69] a tab that slept while another one took the lead does not speak for it", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const rows: Rows = { logId: "log", position: 5, viewHash: "whole", tables: {} };
  let state = initialState({ schema, paused: false, sendAtMost: 1 });
  const hears = (happening: Happening) => {
    [state] = machine.step(state, { ...happening, now: 0, roll: 0 });
    return statusOf(state).name;
  };
  const from = (name: "online" | "offline", generation?: number): Happening => ({
    type: "connection",
    connection: {
      ...({
        live: true,
        withheld: false,
        reason: undefined,
        retryAt: undefined,
        scope: {},
        isBehind: false,
        isReading: false,
      } as const),
      ...{ logId: "log", position: 5, viewHash: "whole", rowsVersion: undefined, extent: { lastSeq: 0, changes: 0 } },
      ...{ name, generation },
    },
  });
  hears({ type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows });
  expect(hears(from("online", 2))).toBe("online");
  expect(hears(from("offline", 1))).toBe("online");
  expect(hears(from("offline", 3))).toBe("offline");
  // A tab of an older version says no generation.
  expect(hears(from("online"))).toBe("online");
});

test("[N15] [N59] a tab that read the disk just before the leader's rows of another view were on it reads it again", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const rows: Rows = { logId: "log", position: 5, viewHash: "whole", rowsVersion: 1, tables: {} };
  const leader = {
    ...({ name: "online", live: true, withheld: false, reason: undefined, retryAt: undefined, scope: {} } as const),
    ...{ logId: "log", position: 5, isBehind: false, isReading: false, extent: { lastSeq: 0, changes: 0 } },
  };
  const heard = (view: { readonly viewHash: string; readonly rowsVersion: number }) => {
    const start = initialState({ schema, paused: false, sendAtMost: 1 });
    const restored = { type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows } as const;
    const [opened] = machine.step(start, { ...restored, now: 0, roll: 0 });
    const connection = { ...leader, ...view };
    const [, effects] = machine.step(opened, { type: "connection", connection, now: 0, roll: 0 });
    return effects.filter((effect) => effect.do === "readQueue");
  };
  expect(heard({ viewHash: "whole", rowsVersion: 1 })).toEqual([]);
  expect(heard({ viewHash: "narrow", rowsVersion: 1 })).toMatchObject([{ rows: "all" }]);
  expect(heard({ viewHash: "whole", rowsVersion: 2 })).toMatchObject([{ rows: "all" }]);
});

test("[N27] a tab that hears of other parts and of a further position in one message reads all of these parts", () => {
  const numbers = { mutations: [], changes: 0, lastSeq: 0 };
  const rows: Rows = { logId: "log", position: 5, viewHash: "whole", rowsVersion: 1, tables: {} };
  const start = initialState({ schema, paused: false, sendAtMost: 1 });
  const restored = { type: "restored", clientId: "c", storeId: "c", ...numbers, generation: 1, rows } as const;
  const [opened] = machine.step(start, { ...restored, now: 0, roll: 0 });
  const connection = {
    ...({ name: "online", live: true, withheld: false, reason: undefined, retryAt: undefined } as const),
    ...{ logId: "log", position: 6, viewHash: "whole", rowsVersion: 1, isBehind: false, isReading: false },
    ...{ extent: { lastSeq: 0, changes: 0 }, scope: { models: ["slide"] } },
  };
  const [heard] = machine.step(opened, { type: "connection", connection, now: 0, roll: 0 });
  expect(heard.reading).toMatchObject({ resync: "anew", missing: 6 });
});
