import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openStoreFile } from "./store-file.ts";

const HOLDER = fileURLToPath(new URL("./testing/hold-file.ts", import.meta.url));

test("[D21] a second client of a file is refused at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-store-"));
  const path = join(folder, "agent.db");
  const child = spawn(process.execPath, ["--conditions=holdfast-source", "--import", "tsx", HOLDER, path], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  await once(child, "message");
  const begin = performance.now();
  expect(() => openStoreFile(path, "s")).toThrow(/in use/);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
