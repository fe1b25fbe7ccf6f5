import { expect, test } from "vitest";
import { archiveTime, splitArchived } from "./archived-column.ts";

test.each([
  ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"],
  ["2026-01-02T03:04:05.678912+00:00", "2026-01-02T03:04:05.678Z"],
  ["2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05.000Z"],
  ["2026-01-02T03:04:05.6", "2026-01-02T03:04:05.600Z"],
  ["2026-01-02", "2026-01-02T00:00:00.000Z"],
  ["infinity", "9999-12-31T23:59:59.999Z"],
  ["12026-01-02", "9999-12-31T23:59:59.999Z"],
  ["-infinity", "0001-01-01T00:00:00.000Z"],
  ["0044-03-15 BC", "0001-01-01T00:00:00.000Z"],
  ["0044-03-15T00:00:00+00:00 BC", "0001-01-01T00:00:00.000Z"],
])("[DS77] [DS121] a row that says %s is archived since %s", (said, expected) => {
  expect(archiveTime(said)).toBe(expected);
});

test("[DS77] [DS140] only a row with such a column says whether it is archived, and no value of the record has it", () => {
  expect(splitArchived({ title: "One" })).toEqual({ data: { title: "One" }, archivedAt: undefined });
  expect(splitArchived({ title: "One", $archivedAt: null })).toEqual({ data: { title: "One" }, archivedAt: null });
  expect(splitArchived({ title: "One", $archivedAt: "2026-01-02" })).toEqual({
    data: { title: "One" },
    archivedAt: "2026-01-02T00:00:00.000Z",
  });
});
