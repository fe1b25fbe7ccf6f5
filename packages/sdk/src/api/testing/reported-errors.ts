import { afterEach, beforeEach, vi } from "vitest";

/** What reaches the app's own handler of errors during each test of a file. */
export function reportedErrors(): readonly unknown[] {
  const reported: unknown[] = [];
  beforeEach(() => {
    reported.length = 0;
    vi.stubGlobal("reportError", (error: unknown) => void reported.push(error));
  });
  afterEach(() => void vi.unstubAllGlobals());
  return reported;
}
