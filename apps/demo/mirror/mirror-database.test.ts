import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WebhookEvent } from "@holdfast/sdk/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMirror } from "./mirror-database.ts";
import { recordsIn } from "./testing/records.ts";

let folder = "";
const path = () => join(folder, "mirror.db");
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-mirror-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const event = (syncId: number, verb: string, objectId: string, data: Record<string, unknown> | null): WebhookEvent => ({
  ...{ type: `slide.${verb}`, model: "slide", objectId, data, syncId, id: String(syncId) },
  createdAt: "2026-01-31T10:00:00.000Z",
});

test("a copy has what the events say: created, changed, archived, back again, gone", () => {
  const mirror = openMirror(path(), "log_1");
  expect(mirror.position()).toBe(0);
  expect(mirror.count()).toBe(0);
  mirror.apply(event(1, "created", "a", { id: "a", title: "One — “ü” 🎈" }));
  mirror.apply(event(2, "created", "b", { id: "b" }));
  mirror.apply(event(3, "archived", "a", { id: "a", title: "One" }));
  mirror.apply(event(4, "updated", "a", { id: "a", title: "Two" }));
  mirror.apply(event(5, "deleted", "b", null));
  expect(recordsIn(path())).toEqual([
    { model: "slide", id: "a", data: { id: "a", title: "Two" }, isArchived: true, syncId: 4 },
  ]);
  mirror.apply(event(6, "unarchived", "a", { id: "a", title: "Two" }));
  expect(recordsIn(path())).toMatchObject([{ id: "a", isArchived: false, syncId: 6 }]);
  expect(mirror.position()).toBe(6);
  expect(mirror.count()).toBe(1);
  mirror.close();
});

test("a repeated event changes nothing, even after the copy was reopened", () => {
  const mirror = openMirror(path(), "log_1");
  mirror.apply(event(1, "created", "a", { id: "a", title: "One" }));
  mirror.apply(event(2, "updated", "a", { id: "a", title: "Two" }));
  mirror.close();
  const again = openMirror(path(), "log_1");
  again.apply(event(1, "created", "a", { id: "a", title: "One" }));
  again.apply(event(2, "deleted", "a", null));
  expect(recordsIn(path())).toMatchObject([{ id: "a", data: { title: "Two" } }]);
  expect(again.position()).toBe(2);
  again.close();
});

test("[W51] a copy of another log is begun anew", () => {
  const mirror = openMirror(path(), "log_1");
  mirror.apply(event(41, "created", "a", { id: "a" }));
  mirror.close();
  const other = openMirror(path(), "log_2");
  expect(other.position()).toBe(0);
  expect(other.count()).toBe(0);
  other.close();
});
