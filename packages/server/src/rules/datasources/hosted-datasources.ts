import type { Datasource } from "@holdfast/sdk/protocol";

/**
 * The datasources that every organization has: its rows beside its log, one for each environment, as old as itself.
 * Host, database and schema are the operator's own, and no way leads to the rows but this service: they do not apply.
 */
export function hostedDatasources(organizationCreatedAt: string): Datasource[] {
  const hosted = {
    object: "datasource",
    metadata: {},
    created: Math.floor(Date.parse(organizationCreatedAt) / 1_000),
    provider: "postgresql",
    connection: "hosted",
    status: "active",
  } as const;
  return [
    { ...hosted, id: "ds_hosted", livemode: true, display_name: "Hosted, live" },
    { ...hosted, id: "ds_test_hosted", livemode: false, display_name: "Hosted, test" },
  ];
}
