import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const mounted: string[] = [];
// At the top: a hook that a test registers does not run. What the file registers runs before it.
afterAll(() => {
  for (const disk of mounted) {
    unmount(disk);
    rmSync(disk, { recursive: true, force: true });
  }
});

/** A disk of its own that is as small as a test needs. Only root may mount one; undefined elsewhere. */
export function mountDisk(megabytes: number): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), "holdfast-small-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", disk]);
  if (status === 0) mounted.push(disk);
  else rmSync(disk, { recursive: true });
  return status === 0 ? disk : undefined;
}

/** Leaves no room on a disk. Returns what makes room again. */
export function fillDisk(disk: string): () => void {
  const filler = join(disk, "filler");
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize));
  return () => rmSync(filler);
}

/** Makes a folder read-only for all files that are opened from now on. Returns what makes it writable again. */
export function makeReadOnly(folder: string): () => void {
  mount("--bind", folder, folder);
  mount("-o", "remount,bind,ro", folder);
  return () => unmount(folder);
}

function mount(...words: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${words.join(" ")}: ${stderr}`);
}

const unmount = (folder: string): void => void spawnSync("umount", ["--lazy", folder]);
