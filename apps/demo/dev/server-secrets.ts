import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dataDirectory } from "./project.ts";

/** The operator's token: from the environment, or where a server on its own Postgres keeps the one it made. */
export async function adminToken(): Promise<string> {
  const given = process.env.HOLDFAST_ADMIN_TOKEN;
  if (given) return given;
  const path = join(dataDirectory(), "admin-token");
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (cause) {
    throw new Error(
      `Making a key needs the operator's token: set HOLDFAST_ADMIN_TOKEN, or see why ${path} cannot be read.`,
      {
        cause,
      },
    );
  }
}

/** Whether the demo lives in the live world: it does, unless the server was given a test key. */
export const isLive = (): boolean => !process.env.HOLDFAST_SECRET_KEY?.startsWith("sk_test_");
