import { expect, test } from "vitest";
import { checksum, inventedToken } from "./token.ts";

test("the checksum of thirty zeros is the one that the interface names", () => {
  expect(checksum(`sk_live_${"0".repeat(30)}`)).toBe("1yMVfD");
});

test("an invented token looks like one", () => {
  const token = inventedToken("rk_");
  expect(token).toMatch(/^rk_[0-9A-Za-z]{36}$/);
  expect(token.slice(-6)).toBe(checksum(token.slice(0, -6)));
});
