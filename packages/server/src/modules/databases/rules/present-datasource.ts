import type { Datasource } from "@holdfast/sdk/protocol";
import type { DatabaseHealth } from "../../../kernel/database-health.ts";
import { toldProblem } from "./move-problems.ts";

const seconds = (iso: string): number => Math.floor(Date.parse(iso) / 1_000);

/**
 * The data sources that every organization has: one per environment, as old as the organization. Host, database and
 * schema are the operator's and do not apply, because only this service can reach the rows.
 */
export function hostedDatasources(organizationCreatedAt: string, away: HostedAway): Datasource[] {
  const hosted = (isAway: boolean) =>
    ({
      object: "datasource",
      metadata: {},
      created: seconds(organizationCreatedAt),
      provider: "postgresql",
      connection: "hosted",
      status: isAway ? "broken" : "active",
      ...(isAway && { last_error: "The database is unavailable. The operator of the service can see the cause." }),
    }) as const;
  return [
    { ...hosted(away.live), id: "ds_hosted", livemode: true, display_name: "Hosted, live" },
    { ...hosted(away.test), id: "ds_test_hosted", livemode: false, display_name: "Hosted, test" },
  ];
}

/** Of each environment: whether its tenant lives in a database of the operator's that is away. */
export interface HostedAway {
  readonly live: boolean;
  readonly test: boolean;
}

export const isHosted = (id: string): boolean => id === "ds_hosted" || id === "ds_test_hosted";

/** A datasource of a tenant's own, as it was registered. */
export interface OwnDatasource {
  readonly id: string;
  readonly livemode: boolean;
  readonly host: string;
  readonly database: string;
  /** Where the caller's own tables are. */
  readonly schema: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** ISO. */
  readonly createdAt: string;
  readonly moving: boolean;
  /** Why its move has failed so far. */
  readonly moveProblem: string | null;
}

export function presentDatasource(
  { id, livemode, host, database, schema, displayName, metadata, createdAt, moving, moveProblem }: OwnDatasource,
  { requestedAt, succeededAt, problem, failures }: DatabaseHealth,
): Datasource {
  const lastError = problem ?? (moveProblem === null ? undefined : toldProblem(moveProblem));
  return {
    ...{ object: "datasource", id, livemode, metadata, created: seconds(createdAt), provider: "postgresql" },
    ...{ connection: "direct", status: problem !== undefined ? "broken" : moving ? "moving" : "active" },
    ...{ host, database, schema },
    ...(displayName !== null && { display_name: displayName }),
    ...(lastError !== undefined && { last_error: lastError }),
    ...(requestedAt !== undefined && { last_request_at: Math.floor(requestedAt / 1_000) }),
    ...(succeededAt !== undefined && { last_success_at: Math.floor(succeededAt / 1_000) }),
    retry_count: failures,
  };
}
