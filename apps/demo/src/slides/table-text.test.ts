import { expect, test } from "vitest";
import { tableText } from "./table-text.ts";

test.each(["", "a | b\n1 | 2", "| a | b |\n| 1 | 2 |", "| a | b |\n| --- |", "| --- |", "a | b\n--- | ---"])(
  "[Y15] %j has no table",
  (text) => {
    expect(tableText(text)).toBeUndefined();
  },
);

test("[Y15] a table and the text around it", () => {
  expect(tableText("Before\n\n| a | b |\n| --- | :-: |\n| 1 | 2 |\n\nAfter\nit")).toEqual([
    { type: "text", text: "Before" },
    { type: "table", header: ["a", "b"], rows: [["1", "2"]] },
    { type: "text", text: "After\nit" },
  ]);
});

test("[Y15] two tables, one of them without rows", () => {
  expect(tableText("| a |\n| --- |\n\n| b |\n| - |\n| 1 |")).toEqual([
    { type: "table", header: ["a"], rows: [] },
    { type: "table", header: ["b"], rows: [["1"]] },
  ]);
});

test("[Y15] rows are as long as the header, and a bar behind a backslash is text", () => {
  expect(tableText("| a | b |\n|---|---|\n| 1 |\n| 2 \\| 3 | 4 | 5 |")).toEqual([
    {
      type: "table",
      header: ["a", "b"],
      rows: [
        ["1", ""],
        ["2 | 3", "4"],
      ],
    },
  ]);
});
