import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "./request.ts";
import { UsageError } from "./usage-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface TargetOptions {
  readonly url?: string;
  readonly key?: string;
  readonly test?: boolean;
}

/** As whom a command asks: with an organization's secret key, or as the operator. */
export function secretKeyTarget({ url, key, test = false }: TargetOptions, env: Environment): Target {
  const token = key ?? (test ? undefined : env.HOLDFAST_SECRET_KEY) ?? keptKey(env, test ? "test" : "live");
  if (token !== undefined) return { url: addressOf(url, env), token: sendable(token, "The secret key") };
  throw new UsageError(
    `No key was found: use --key, set HOLDFAST_SECRET_KEY, or run this in the directory that contains ${dataDir(env)}/keys.json.`,
  );
}

export function operatorTarget({ url }: TargetOptions, env: Environment): Target {
  const token = env.HOLDFAST_ADMIN_TOKEN ?? kept(env, "admin-token")?.trim();
  if (token !== undefined) return { url: addressOf(url, env), token: sendable(token, "The operator token") };
  throw new UsageError(
    `No operator token was found: set HOLDFAST_ADMIN_TOKEN, or run this in the directory that contains ${dataDir(env)}/admin-token.`,
  );
}

/** `fetch` would refuse another one with a message that quotes it. */
function sendable(token: string, name: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(token)) return token;
  throw new UsageError(`${name} must be 1 to 512 visible ASCII characters: check where it comes from.`);
}

const addressOf = (url: string | undefined, env: Environment): string =>
  url ?? env.HOLDFAST_URL ?? `http://127.0.0.1:${env.PORT ?? "8787"}`;

const dataDir = (env: Environment): string => env.HOLDFAST_DATA_DIR ?? ".holdfast";

function keptKey(env: Environment, tenant: "live" | "test"): string | undefined {
  const text = kept(env, "keys.json");
  if (text === undefined) return undefined;
  const key = (parsed(text) as Partial<Record<string, unknown>> | null | undefined)?.[tenant];
  if (typeof key === "string") return key;
  throw new UsageError(`${join(dataDir(env), "keys.json")} has no ${tenant} key: use --key, or restore the file.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the server keeps beside its embedded database; undefined when there is none, or it is not ours to read. */
function kept(env: Environment, name: string): string | undefined {
  try {
    return readFileSync(join(dataDir(env), name), "utf8");
  } catch {
    return undefined;
  }
}
