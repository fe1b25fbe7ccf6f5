import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A new folder, until the end of the file, or of the test that asks for it with `onTestFinished`. */
export function temporaryFolder(name: string, atTheEnd: (remove: () => void) => void = afterAll): string {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
