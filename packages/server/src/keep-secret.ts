import { randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigError, MASTER_KEY } from "./config.ts";
import { newMasterKey } from "./encryption.ts";
import { newSecretToken } from "./kernel/tokens/flows/secret-keys.ts";

/**
 * Reads a secret from a file, or creates it on first use. Only this user can read the file. It is created atomically.
 * `form`: what a secret of this kind looks like. A file that was cut, or is another one, is no secret.
 */
export async function keepSecret(file: string, make: () => string, form: RegExp): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const known = await readFile(file, "utf8").catch(() => undefined);
  if (known !== undefined) return checked(file, known, form);
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
  const kept = await readFile(file, "utf8").catch((error: Error) => {
    throw new ConfigError(`${file} cannot be read: ${error.message}`);
  });
  return checked(file, kept, form);
}

function checked(file: string, text: string, form: RegExp): string {
  const secret = text.trim();
  if (form.test(secret)) return secret;
  throw new ConfigError(`${file} is damaged: restore it from a backup.`);
}

export const keepMasterKey = (dataDir: string): Promise<string> =>
  keepSecret(join(dataDir, "master-key"), newMasterKey, MASTER_KEY);

/** The secret keys of the first organization. */
export async function keepKeys(file: string): Promise<readonly [live: string, test: string]> {
  const made = () => JSON.stringify({ live: newSecretToken(true), test: newSecretToken(false) });
  const { live, test } = JSON.parse(await keepSecret(file, made, KEYS)) as { live: string; test: string };
  return [live, test];
}

const KEYS = /^\{\s*"live":\s*"sk_live_\w+",\s*"test":\s*"sk_test_\w+"\s*\}$/;
