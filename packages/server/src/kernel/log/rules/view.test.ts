import type { JsonObject, Model, Verb } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isRefusal } from "../../refusal.ts";
import { scopeOf } from "../../tokens/rules/scope.ts";
import { type FiledEntry, sightOf, type View, viewName, viewOf } from "./view.ts";

const entry = (model: string, groups: string[], groupsBefore: string[] | null = null): FiledEntry => ({
  ...{ id: "1", verb: "updated", model, groups, groupsBefore },
  data: () => ({}),
  changedFields: () => [],
  dataBefore: undefined,
});

test.each([
  ["everything", undefined, undefined, entry("slide", []), "whole"],
  ["the organization's group, which is everything", undefined, ["deck:9", "org:org_1"], entry("slide", []), "whole"],
  ["another organization's group, which is nothing", undefined, ["org:org_2"], entry("slide", ["deck:1"]), "hidden"],
  ["a model, whatever its case", ["SLIDE"], undefined, entry("slide", []), "whole"],
  ["another model", ["deck"], undefined, entry("slide", []), "hidden"],
  ["no model at all", [], undefined, entry("slide", []), "hidden"],
  ["one of its groups", undefined, ["deck:1"], entry("slide", ["deck:1", "user:2"]), "whole"],
  ["none of its groups", undefined, ["deck:2"], entry("slide", ["deck:1"]), "hidden"],
  ["a group that it left", undefined, ["deck:1"], entry("slide", ["deck:2"], ["deck:1"]), "left"],
  ["a group that it came into", undefined, ["deck:2"], entry("slide", ["deck:2"], ["deck:1"]), "entered"],
  ["both", undefined, ["deck:1", "deck:2"], entry("slide", ["deck:2"], ["deck:1"]), "whole"],
  ["a model that does not match and a group that does", ["deck"], ["deck:1"], entry("slide", ["deck:1"]), "hidden"],
] as const)("[T7] who hears %s", (_, models, groups, filed, sight) => {
  const view = viewOf({ organization: "org_1", scope: undefined }, { models, groups });
  expect(sightOf(view as View, filed, new Map())).toBe(sight);
});

const seen = (operations: string[], within: string[], models?: string[], groups?: string[]) => {
  const view = viewOf(
    { organization: "org_1", scope: scopeOf("org_1", { operations, syncGroups: within, onBehalfOf: [] }) },
    { models, groups },
  );
  if (isRefusal(view)) return `${view.param} ${view.requiredCapability?.scope} ${view.requiredCapability?.syncGroup}`;
  return viewName(view);
};

test.each([
  ["everything", ["*.*"], ["org:org_1"], undefined, undefined, ""],
  ["every model in its groups", ["*.read"], ["deck:2", "deck:1"], undefined, undefined, `[0,["deck:1","deck:2"]]`],
  [
    "its models",
    ["Slide.update", "deck.*", "claim.preempt"],
    ["org:org_1"],
    undefined,
    undefined,
    `[["deck","slide"],0]`,
  ],
  ["what it asks for", ["*.*"], ["deck:1", "deck:2"], ["SLIDE"], ["deck:2"], `[["slide"],["deck:2"]]`],
  ["one of two models", ["slide.*"], ["deck:1"], ["slide", "Deck"], undefined, `[["slide"],["deck:1"]]`],
  ["another model", ["slide.*"], ["deck:1"], ["Deck"], undefined, "model Deck.read deck:1"],
  ["one of two groups", ["*.*"], ["deck:1"], ["slide"], ["deck:1", "deck:2"], `[["slide"],["deck:1"]]`],
  ["another group", ["*.*"], ["deck:1"], ["slide"], ["deck:2"], "group slide.read deck:2"],
  ["the whole organization", ["*.*"], ["deck:1"], undefined, ["org:org_1"], "group *.read org:org_1"],
] as [string, string[], string[], string[] | undefined, string[] | undefined, string][])(
  "[K6] [K16] a scoped reader gets what its token covers of what it asks for, and is refused when that is nothing: %s",
  (_, operations, within, models, groups, wanted) => {
    expect(seen(operations, within, models, groups)).toBe(wanted);
  },
);

const FIELDS: Model["fields"] = { deck: { type: "string" }, state: { type: "string" }, size: { type: "integer" } };
const MODELS = new Map([["slide", { name: "slide", model: { fields: FIELDS }, changes: [] }]]);
const anyData = fc.record({
  deck: fc.constantFrom("a", "b", null),
  state: fc.constantFrom("open", "done"),
  size: fc.integer({ min: 1, max: 3 }),
});
const anyParts = fc.array(
  fc.oneof(
    fc.record({ deck: fc.constantFrom("a", "b") }),
    fc.record({ deck: fc.constantFrom("a", "b"), state: fc.constant("open") }),
    fc.record({ size: fc.record({ gte: fc.constantFrom(2, 3) }) }),
  ),
  { maxLength: 2 },
);

test("[T14] [T22] [T21] a reader of parts has the records that meet them, whether or not it is known what they were before", () => {
  const states = fc.array(fc.record({ data: fc.option(anyData, { nil: null }), isKnown: fc.boolean() }));
  fc.assert(
    fc.property(anyParts, states, (parts, steps) => {
      const view: View = { models: undefined, groups: undefined, where: { slide: parts } };
      const meets = ({ deck, state, size }: JsonObject) =>
        parts.some((part) =>
          "size" in part
            ? Number(size) >= part.size.gte
            : deck === part.deck && (!("state" in part) || state === part.state),
        );
      let before: JsonObject | null = null;
      let has = false;
      for (const { data, isKnown } of steps) {
        if (data === null && before === null) continue;
        const verb: Verb = before === null ? "created" : data === null ? "deleted" : "updated";
        const changed = Object.keys(data ?? {}).filter((name) => before?.[name] !== data?.[name as "deck"]);
        const sight = sightOf(
          view,
          {
            ...{ id: "s", verb, model: "slide", groups: [], groupsBefore: null },
            data: () => data,
            changedFields: () => (verb === "updated" ? changed : null),
            dataBefore: isKnown && verb !== "created" ? before : undefined,
          },
          MODELS,
        );
        // What it does not have, it is not told of in a form that needs what it has.
        if (sight === "whole" && verb === "updated") expect(has).toBe(true);
        if (isKnown && (sight === "left" || (verb === "deleted" && sight !== "hidden"))) expect(has).toBe(true);
        if (sight === "left" || (sight !== "hidden" && data === null)) has = false;
        else if (sight !== "hidden") has = true;
        expect(has).toBe(data !== null && meets(data));
        before = data;
      }
    }),
    { numRuns: 2_000, seed: 14 },
  );
});
