import { afterAll, afterEach, vi } from "vitest";

// The test files of a worker share their globals. Fake timers that a file leaves behind would stop the clock of later files.
afterEach(() => void vi.useRealTimers());
afterAll(() => void vi.unstubAllGlobals());
