import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** A secret that is made once and kept in a file that only we may read. The file appears whole, or not at all. */
export async function keepSecret(file: string, make: () => string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const known = await readFile(file, "utf8").catch(() => undefined);
  if (known !== undefined) return known.trim();
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${make()}\n`);
    await handle.sync();
    // Whoever links first decides; the other reads what that one made.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
  return (await readFile(file, "utf8")).trim();
}
