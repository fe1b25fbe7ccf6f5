import { spawnSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { ensureChromium, findChromium } from "./browser.mjs";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("CHROMIUM_PATH wins over whatever is installed", () => {
  vi.stubEnv("CHROMIUM_PATH", process.execPath);
  const say = vi.fn();
  expect(findChromium()).toBe(process.execPath);
  expect(ensureChromium(say)).toBe(process.execPath);
  expect(say).toHaveBeenCalledWith(`using ${process.execPath} (CHROMIUM_PATH)`);
});

test("a CHROMIUM_PATH that does not start is refused with a sentence, not passed over", () => {
  vi.stubEnv("CHROMIUM_PATH", "/nowhere/chromium");
  expect(() => ensureChromium(() => {})).toThrow("CHROMIUM_PATH is /nowhere/chromium, which does not start.");
});

test("without CHROMIUM_PATH the browser that is found does start", () => {
  vi.stubEnv("CHROMIUM_PATH", "");
  const found = findChromium();
  expect(found).toBeDefined();
  expect(spawnSync(found ?? "", ["--version"], { encoding: "utf8" }).stdout).toMatch(/Chrom/);
});
