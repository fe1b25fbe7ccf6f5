import { serverLimits } from "@holdfast/sdk/protocol";
import type { InRounds } from "../../kernel/commits/flows/in-rounds.ts";
import { createPool } from "../../kernel/connection/pool.ts";
import type { Encryption } from "../../kernel/encryption.ts";
import { createIncomingAnswers } from "../../kernel/limits/incoming-answers.ts";
import { openCalls } from "./calls.ts";
import { openSourceTools, type SourceTools } from "./flows/source-tools.ts";

export interface SourceToolsOptions {
  /** The databases of the service. */
  readonly places: readonly {
    readonly name: string;
    /** Undefined: it was not read. */
    readonly identity?: unknown;
    readonly url?: string | undefined;
    readonly problem?: string | undefined;
  }[];
  readonly encryption: Encryption;
  readonly allowPrivate: boolean;
  /** What modules do in rounds of commits. */
  readonly modules: readonly InRounds[];
}

/**
 * Runs work on the endpoint datasources of all databases. What calls show of a source is not stored: this process may
 * reach other addresses than the server.
 */
export async function withSourceTools<T>(
  { places, modules, ...deps }: SourceToolsOptions,
  work: (tools: SourceTools) => Promise<T>,
): Promise<T> {
  const problems = new Map<string, string>();
  const { call, close } = openCalls({
    ...deps,
    recordBytes: serverLimits.recordBytes,
    incoming: createIncomingAnswers({ perTenant: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY }),
    async note({ id }, { problem }) {
      if (problem === null) problems.delete(id);
      else problems.set(id, problem);
    },
  });
  const databases = places
    .filter(({ identity, problem }) => identity !== undefined && problem === undefined)
    .map(({ name, url = "" }) => ({ name, url, pool: createPool({ url, maxConnections: 1 }) }));
  const away = places.filter(({ problem }) => problem !== undefined);
  try {
    return await work(
      openSourceTools({
        databases,
        away,
        call,
        modules,
        problemOf: ({ id }) => problems.get(id),
      }),
    );
  } finally {
    await close();
    await Promise.all(databases.map(({ pool }) => pool.end()));
  }
}
