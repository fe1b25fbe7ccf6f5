import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { newMasterKey, newSecretToken, startEmbeddedPostgres } from "@holdfast/server";
import { attachReference } from "./attached-tables.ts";
import { type Gate, openGate } from "./gate.ts";
import { KillableServer, type ServerPlan } from "./killable-server.ts";
import { embeddedUrl } from "./log-tables.ts";
import { killBackend, killPostgres, stallPostgres } from "./postgres-process.ts";
import type { Act } from "./random-acts.ts";
import { createRequester, good, type SendRequest } from "./requester.ts";
import type { SeededRandom } from "./seeded-random.ts";

export interface EnvironmentPlan {
  /** Of its folder. */
  readonly name: string;
  /** How each server is started. */
  readonly servers: readonly ServerPlan[];
  /**
   * "own": on a Postgres that can be killed. "throwaway": on a fast one, whose data a kill may lose. "embedded": on one that
   * the only server starts itself. Else a database that is not ours to kill.
   */
  readonly postgres: "own" | "throwaway" | "embedded" | { readonly url: string };
  /** The rows of all reference models are in attached tables. */
  readonly attached?: boolean;
}

/**
 * What the runs with faults stand on, and what they hurt:
 *
 *   run ──► gates ──► servers, a process each ──► Postgres
 *             ▲ cut      ▲ kill -9, SIGSTOP          ▲ kill -9, SIGSTOP
 */
export interface FaultEnvironment extends AsyncDisposable {
  /** For files of the run; Postgres runs there too. Removed at the end. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly servers: readonly KillableServer[];
  readonly adminToken: string;
  readonly masterKey: string;
  /** A secret key of the tenant that servers of our own program begin with. */
  readonly key: string;
  /** Asks the servers in turn, with that key or as the operator. */
  readonly request: SendRequest;
  readonly operator: SendRequest;
  /** Another tenant with a key of its own, and with these models if they are given. */
  newTenant(schema?: object): Promise<{ readonly organization: string; readonly key: string }>;
  /** A proxy before each server, whose connections the fault `cut` cuts. */
  openGates(): Promise<readonly Gate[]>;
  faults(chance: SeededRandom): Readonly<Record<FaultKind, Act>>;
  /** Does this before it ends; what was added last comes first. */
  closing(work: () => unknown): void;
  close(): Promise<void>;
}

export type FaultKind = "server" | "stalled" | "postgres" | "backend" | "frozen" | "cut";

/** A Postgres of the run's own, or this database, which the run may not kill. */
export const postgresOf = (
  databaseUrl: string | undefined,
  own: "own" | "throwaway" = "own",
): EnvironmentPlan["postgres"] => (databaseUrl === undefined ? own : { url: databaseUrl });

export async function openFaultEnvironment(plan: EnvironmentPlan): Promise<FaultEnvironment> {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${plan.name}-`));
  const closings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const work of closings.splice(0).reverse()) await work();
  };
  try {
    const environment = await openIn(folder, plan, (work) => closings.push(work));
    return { ...environment, closing: (work) => void closings.push(work), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openIn(
  folder: string,
  { servers: plans, postgres, attached }: EnvironmentPlan,
  closing: (work: () => unknown) => void,
): Promise<Omit<FaultEnvironment, "closing" | "close" | typeof Symbol.asyncDispose>> {
  const own =
    postgres === "own"
      ? await startEmbeddedPostgres({ dataDir: folder })
      : postgres === "throwaway"
        ? await startEmbeddedPostgres({ throwaway: true })
        : undefined;
  if (own) closing(() => own.stop());
  const url = typeof postgres === "object" ? postgres.url : own?.url;
  const adminToken = `admin_${randomBytes(20).toString("hex")}`;
  const masterKey = newMasterKey();
  const key = newSecretToken(true);
  const env = {
    ...(url !== undefined && { DATABASE_URL: url }),
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_ADMIN_TOKEN: adminToken,
    HOLDFAST_MASTER_KEY: masterKey,
    HOLDFAST_LOG_LEVEL: "silent",
    ...(attached && { HOLDFAST_SCHEMA: "" }),
  };
  const servers = plans.map((one) => new KillableServer(folder, { ...one, env: { ...env, ...one.env } }));
  // One after the other: the first one makes the tables and pushes the schema.
  for (const server of servers) {
    closing(() => server.stop());
    await server.start();
  }
  const databaseUrl = url ?? embeddedUrl(folder);
  if (attached) await attachReference(databaseUrl);
  const urls = () => servers.map(({ url }) => url);
  const gates: Gate[] = [];
  const operator = createRequester(urls, adminToken);
  return {
    ...{ folder, databaseUrl, servers, adminToken, masterKey, key, operator },
    request: createRequester(urls, key),
    async newTenant(schema) {
      const { id: organization } = good(await operator("POST", "/v1/organizations", { name: "another" }));
      const { token } = good(await operator("POST", "/v1/secret_keys", { organization, livemode: true }));
      if (schema) good(await operator("POST", "/v1/schema", schema, String(token)));
      return { organization: String(organization), key: String(token) };
    },
    async openGates() {
      for (const { url } of servers) gates.push(await openGate(url));
      closing(() => gates.map((gate) => gate.close()));
      return gates;
    },
    faults: (chance) => faultsIn({ folder, servers, gates, isOurs: typeof postgres === "string" }, chance),
  };
}

interface Victims extends Pick<FaultEnvironment, "folder" | "servers"> {
  readonly gates: readonly Gate[];
  /** The run may kill Postgres. */
  readonly isOurs: boolean;
}

function faultsIn({ folder, servers, gates, isOurs }: Victims, chance: SeededRandom): Readonly<Record<FaultKind, Act>> {
  const often = isOurs ? 1 : 0;
  return {
    server: {
      says: "kill -9 of a server",
      often: 1,
      async act() {
        const server = chance.oneOf(servers);
        await server.end();
        await pause(chance.below(1_000));
        await server.startAgain();
      },
    },
    stalled: {
      says: "SIGSTOP of a server, 1 to 3 s",
      often: 1,
      act: () => chance.oneOf(servers).stall(1_000 + chance.below(2_000)),
    },
    postgres: { says: "kill -9 of Postgres", often, act: () => killPostgres(folder) },
    backend: { says: "kill -9 of one of Postgres' processes", often, act: () => killBackend(folder) },
    frozen: { says: "SIGSTOP of Postgres, 3 s", often, act: () => stallPostgres(folder, 3_000) },
    cut: {
      says: "all connections to a server cut",
      often: 1,
      act: async () => void chance.oneOf(gates).cut(),
    },
  };
}
