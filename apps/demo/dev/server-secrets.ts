import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dataDirectory } from "./project.ts";

/** The operator's token: from the environment, or where the server on its own Postgres keeps the one it made. */
export const adminToken = async (): Promise<string> =>
  process.env.HOLDFAST_ADMIN_TOKEN ?? (await fromFile("admin-token", (text) => text.trim()));

/** The first organisation's secret key, likewise. */
export const secretKey = async (): Promise<string> =>
  process.env.HOLDFAST_SECRET_KEY ??
  (await fromFile("keys.json", (text) => (JSON.parse(text) as { live: string }).live));

async function fromFile(name: string, read: (text: string) => string): Promise<string> {
  const path = join(dataDirectory(), name);
  try {
    return read(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Error(`The server's key could not be read from ${path}. Is the server running on this data?`, { cause });
  }
}
