import { expect, test } from "vitest";
import { sightOf, viewOf } from "./view.ts";

const entry = (model: string, groups: string[], groupsBefore: string[] | null = null) => ({
  model,
  groups,
  groupsBefore,
});

test.each([
  ["everything", undefined, undefined, entry("slide", []), "whole"],
  ["the organisation's group, which is everything", undefined, ["deck:9", "org:org_1"], entry("slide", []), "whole"],
  ["another organisation's group, which is nothing", undefined, ["org:org_2"], entry("slide", ["deck:1"]), "hidden"],
  ["a model, whatever its case", ["SLIDE"], undefined, entry("slide", []), "whole"],
  ["another model", ["deck"], undefined, entry("slide", []), "hidden"],
  ["no model at all", [], undefined, entry("slide", []), "hidden"],
  ["one of its groups", undefined, ["deck:1"], entry("slide", ["deck:1", "user:2"]), "whole"],
  ["none of its groups", undefined, ["deck:2"], entry("slide", ["deck:1"]), "hidden"],
  ["a group that it left", undefined, ["deck:1"], entry("slide", ["deck:2"], ["deck:1"]), "left"],
  ["a group that it came into", undefined, ["deck:2"], entry("slide", ["deck:2"], ["deck:1"]), "whole"],
  ["both", undefined, ["deck:1", "deck:2"], entry("slide", ["deck:2"], ["deck:1"]), "whole"],
  ["a model that does not match and a group that does", ["deck"], ["deck:1"], entry("slide", ["deck:1"]), "hidden"],
] as const)("[T7] who hears %s", (_, models, groups, filed, sight) => {
  expect(sightOf(viewOf("org_1", models, groups), filed)).toBe(sight);
});
