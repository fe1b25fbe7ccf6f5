// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSource } from "../../../scripts/layers/read-source.ts";

test("[V19] the entry for server components does not import React", () => {
  const seen = new Set<string>();
  const follow = (file: string) => {
    const { imports } = readSource(file, readFileSync(file, "utf8"));
    for (const { to, typeOnly } of imports) {
      if (typeOnly || seen.has(to)) continue;
      seen.add(to);
      if (to.startsWith("packages/")) follow(to);
    }
  };
  follow("packages/react/src/server.ts");
  expect([...seen]).toEqual(["packages/react/src/hydration/dehydrate.ts"]);
});
