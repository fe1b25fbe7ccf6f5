import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dataDirectory } from "./project.ts";

/** The organization's secret key: from the environment, or where a server on its own Postgres keeps the one it made. */
export async function secretKey(): Promise<string> {
  const given = process.env.HOLDFAST_SECRET_KEY;
  if (given) return given;
  const path = join(dataDirectory(), "keys.json");
  try {
    return (JSON.parse(await readFile(path, "utf8")) as { live: string }).live;
  } catch (cause) {
    throw new Error(
      `Minting a token needs the secret key: set HOLDFAST_SECRET_KEY, or see why ${path} cannot be read.`,
      { cause },
    );
  }
}
