import { afterEach, expect, test, vi } from "vitest";
import { mayPersist } from "./browser-ports.ts";

afterEach(() => vi.unstubAllGlobals());

test.each<[string, string, [boolean, boolean, boolean]]>([
  [
    "Chrome",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    [true, true, false],
  ],
  ["Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", [false, true, false]],
])("[D35] %s is asked to keep the store unasked only where no person is asked", (_, userAgent, expected) => {
  vi.stubGlobal("navigator", { userAgent, storage: { persist: () => Promise.resolve(true) } });
  expect([undefined, true, false].map(mayPersist)).toEqual(expected);
});

test("[D35] a platform without the storage API is not asked", () => {
  vi.stubGlobal("navigator", { userAgent: "Chrome" });
  expect(mayPersist(true)).toBe(false);
});
