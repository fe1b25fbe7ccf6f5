import { expect, test } from "vitest";
import { planIndexes } from "./index-plan.ts";

const valid = (name: string) => ({ name, valid: true });
const broken = (name: string) => ({ name, valid: false });

test.each([
  ["nothing wanted, nothing there", [], [], [], [], []],
  ["what is missing is built, once", ["a", "b", "a"], [], [], ["a", "b"], []],
  ["what is there stays", ["a"], [valid("a")], [], [], []],
  ["an index that no field wants is dropped", ["a"], [valid("a"), valid("b")], ["b"], [], []],
  ["what failed is built again", ["a"], [broken("a")], ["a"], ["a"], []],
  ["what failed and is not wanted only goes", [], [broken("a")], ["a"], [], []],
  ["there are only so many", ["a", "b", "c", "d"], [valid("d")], [], ["a", "b"], ["c"]],
  ["one that goes makes room", ["a", "b", "c"], [valid("b"), valid("x"), valid("y")], ["x", "y"], ["a", "c"], []],
  ["one too many that is there goes", ["a", "b", "c", "d"], ["a", "b", "c", "d"].map(valid), ["d"], [], ["d"]],
])("[G10] %s", (_, wanted, stored, drop, create, refused) => {
  expect(planIndexes([wanted], stored, 3)).toEqual({ drop, create, refused });
});

test("[G17] beyond the limit of indexes tenants choose in turn, and unused shares go to others", () => {
  const greedy = ["a", "b", "c", "d", "e"];
  const plan = planIndexes([greedy, ["x"], ["y", "z"]], greedy.map(valid), 5);
  expect(plan).toEqual({ drop: ["c", "d", "e"], create: ["x", "y", "z"], refused: ["c", "d", "e"] });
  expect(
    planIndexes(
      [
        ["a", "b"],
        ["a", "c"],
      ],
      [],
      2,
    ).create,
  ).toEqual(["a", "b"]);
});
