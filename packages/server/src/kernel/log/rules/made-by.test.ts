import { expect, test } from "vitest";
import { storedEntryOf } from "../../../testing/stored-entry.ts";
import { isMadeBy } from "./made-by.ts";

const entry = storedEntryOf({
  ...{ syncId: 1, model: "slide", id: "s1", verb: "updated", data: "{}" },
  ...{ actor: "writer", participantKind: "agent", attribution: '{"run":"r1","onBehalfOf":"user:ann"}' },
});

test.each([
  [{}, true],
  [{ actor: "agent:writer" }, true],
  [{ actor: "user:writer" }, false],
  [{ run: "r1" }, true],
  [{ run: "r2" }, false],
  [{ onBehalfOf: "user:ann", run: "r1", actor: "agent:writer" }, true],
  [{ onBehalfOf: "user:ben", run: "r1" }, false],
])("[AT7] whether an entry is of %j", (asked, is) => {
  expect(isMadeBy(asked, entry)).toBe(is);
});

test("[AT7] an entry that says nothing is of no run", () => {
  expect(isMadeBy({ run: "r1" }, { ...entry, attribution: null })).toBe(false);
  expect(isMadeBy({ actor: "agent:writer" }, { ...entry, attribution: null })).toBe(true);
});
