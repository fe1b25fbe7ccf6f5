import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startProgram } from "./testing/programs/program.ts";

/** A disk of its own that is as small as a test needs. Only root may mount one; undefined elsewhere. */
function mountDisk(megabytes: number): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), "holdfast-small-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", disk]);
  if (status === 0) mounted.push(disk);
  else rmSync(disk, { recursive: true });
  return status === 0 ? disk : undefined;
}

const mounted: string[] = [];
afterAll(() => {
  for (const disk of mounted) {
    spawnSync("umount", ["--lazy", disk]);
    rmSync(disk, { recursive: true, force: true });
  }
});

const startOn = (disk: string) => startProgram({ HOLDFAST_DATA_DIR: join(disk, "data") });
const FULL =
  /^holdfast: The disk is full: free some space, or set HOLDFAST_DATA_DIR\. [^\n]*No space left on device[^\n]*$/m;

test("[O1] on a disk that is too small for a database it ends with one sentence", async ({ skip }) => {
  const disk = mountDisk(30) ?? skip("mounting a disk needs root");
  const program = startOn(disk);
  expect((await program.ended).code).toBe(1);
  expect(program.log()).toMatch(FULL);
  expect(program.log()).not.toMatch(/^ {4}at /m);
});

test("[O1] so it does on a disk that was filled since, and starts when there is room again", async ({ skip }) => {
  const disk = mountDisk(120) ?? skip("mounting a disk needs root");
  const first = startOn(disk);
  await first.url;
  expect((await first.stop()).code).toBe(0);
  const filler = join(disk, "filler");
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
  const full = startOn(disk);
  expect((await full.ended).code).toBe(1);
  expect(full.log()).toMatch(FULL);
  expect(full.log()).not.toMatch(/^ {4}at /m);
  rmSync(filler);
  const again = startOn(disk);
  await again.url;
  expect((await again.stop()).code).toBe(0);
});
