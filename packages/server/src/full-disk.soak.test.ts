import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram } from "./testing/programs/program.ts";
import { fillDisk, mountDisk } from "./testing/small-disk.ts";

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
  const makeRoom = fillDisk(disk);
  const full = startOn(disk);
  expect((await full.ended).code).toBe(1);
  expect(full.log()).toMatch(FULL);
  expect(full.log()).not.toMatch(/^ {4}at /m);
  makeRoom();
  const again = startOn(disk);
  await again.url;
  expect((await again.stop()).code).toBe(0);
});
