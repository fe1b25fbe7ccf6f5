import { expect, test } from "vitest";
import { isRefusal } from "../refusal.ts";
import { scopeOf } from "../tokens/scope.ts";
import { type FiledEntry, sightOf, type View, viewName, viewOf } from "./view.ts";

const entry = (model: string, groups: string[], groupsBefore: string[] | null = null): FiledEntry => ({
  ...{ id: "1", verb: "updated", model, groups, groupsBefore },
  data: () => ({}),
  changedFields: () => [],
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
  const view = viewOf({ organization: "org_1", scope: scopeOf("org_1", operations, within) }, { models, groups });
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
  "[K6] a scoped reader gets what its token covers of what it asks for, and is refused when that is nothing: %s",
  (_, operations, within, models, groups, wanted) => {
    expect(seen(operations, within, models, groups)).toBe(wanted);
  },
);
