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
  if (token !== undefined) return { url: addressOf(url, env), token };
  throw new UsageError(
    `No key was found: use --key, set HOLDFAST_SECRET_KEY, or run this in the directory that contains ${dataDir(env)}/keys.json.`,
  );
}

export function operatorTarget({ url }: TargetOptions, env: Environment): Target {
  const token = env.HOLDFAST_ADMIN_TOKEN ?? kept(env, "admin-token")?.trim();
  if (token !== undefined) return { url: addressOf(url, env), token };
  throw new UsageError(
    `No operator token was found: set HOLDFAST_ADMIN_TOKEN, or run this in the directory that contains ${dataDir(env)}/admin-token.`,
  );
}

const addressOf = (url: string | undefined, env: Environment): string =>
  url ?? env.HOLDFAST_URL ?? `http://127.0.0.1:${env.PORT ?? "8787"}`;

const dataDir = (env: Environment): string => env.HOLDFAST_DATA_DIR ?? ".holdfast";

function keptKey(env: Environment, tenant: "live" | "test"): string | undefined {
  const text = kept(env, "keys.json");
  return text === undefined ? undefined : (JSON.parse(text) as Record<"live" | "test", string>)[tenant];
}

/** What the server keeps beside its embedded database; undefined when there is none, or it is not ours to read. */
function kept(env: Environment, name: string): string | undefined {
  try {
    return readFileSync(join(dataDir(env), name), "utf8");
  } catch {
    return undefined;
  }
}
