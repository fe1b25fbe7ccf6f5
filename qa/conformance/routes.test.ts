import { paths } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { ROUTES } from "../../packages/conformance/src/protocol/routes.ts";

// The suite knows nothing of our packages, so its table of routes is written by hand.
test("[X1] the conformance suite knows every route of the interface, each once", () => {
  const ours = Object.values(paths).map(([method, path]) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
  expect(ROUTES.map((route) => route.join(" ")).sort()).toEqual(ours.sort());
});
