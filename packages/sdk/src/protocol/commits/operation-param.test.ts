import { expect, test } from "vitest";
import { operationIndexOf, operationParam } from "./operation-param.ts";

test("[C1] a param names the operation of a batch, and the field in it", () => {
  expect(operationParam(6)).toBe("operations[6]");
  expect(operationParam(6, "data.title")).toBe("operations[6].data.title");
});

test.each([
  [operationParam(0), 0],
  [operationParam(12), 12],
  [operationParam(6, "claim"), 6],
  [operationParam(3, "data.operations[5]"), 3],
  ["claim", undefined],
  ["operations", undefined],
  [undefined, undefined],
])("[C1] the param %s names operation %s", (param, index) => {
  expect(operationIndexOf(param)).toBe(index);
});
