import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Reads a secret from a file, or creates it on first use. Only this user can read the file. It is created atomically.
 */
export async function keepSecret(file: string, make: () => string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const known = await readFile(file, "utf8").catch(() => undefined);
  if (known !== undefined) return known.trim();
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${make()}\n`);
    await handle.sync();
    // If two processes create it at the same time, the first link wins and the other process reads that secret.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  return (await readFile(file, "utf8")).trim();
}
