import { expect, test } from "vitest";
import { withAhead } from "../core/log/read-range.ts";
import { rowChange } from "../core/log/row-changes.ts";
import type { Rows } from "../core/log/rows.ts";
import { changeTables } from "../core/log/tables.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { RowKeeper } from "./row-keeper.ts";

const line = (id: string, syncId: number) => rowChange({ model: "slide", id, syncId, data: { id, order: syncId } });

test("[R73] a leader that stores all its rows stores when they were complete", async () => {
  const disk = new MemoryDisk();
  const { generation } = disk.lead();
  const rows: Rows = { tables: changeTables({}, [line("a", 2)]), logId: "log", position: 3, at: 1_000 };
  const tasks: Promise<void>[] = [];
  const keeper = new RowKeeper(memoryStorage(disk), {
    current: () => rows,
    toDisk: (work) => void tasks.push(Promise.resolve().then(work)),
    replaced: () => {},
    settled: () => {},
    fenced: () => {},
  });
  keeper.keepAll([], generation);
  // They become complete before they are stored.
  keeper.keep({ logId: "log", from: 3, to: 3, changes: [], settled: [] }, generation);
  await Promise.all(tasks);
  expect(disk.rows()).toMatchObject({ position: 3, at: 1_000 });
});

test("[N15] a leader that stores all its rows stores them as they are at their position", async () => {
  const disk = new MemoryDisk();
  const { generation } = disk.lead();
  const read: Rows = { tables: changeTables({}, [line("a", 2), line("b", 3)]), logId: "log", position: 3 };
  const rows = withAhead(read, [line("a", 5), line("c", 4)]);
  const tasks: Promise<void>[] = [];
  const keeper = new RowKeeper(memoryStorage(disk), {
    current: () => rows,
    toDisk: (work) => void tasks.push(work()),
    replaced: () => {},
    settled: () => {},
    fenced: () => {},
  });
  keeper.keepAll([], generation);
  await Promise.all(tasks);
  const stored = disk.rows();
  expect(stored.position).toBe(3);
  expect(stored.tables.slide?.get("a")?.syncId).toBe(2);
  expect(stored.tables.slide?.get("b")?.syncId).toBe(3);
  expect(stored.tables.slide?.get("c")).toBeUndefined();
});
