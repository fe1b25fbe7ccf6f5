import type { Datasource } from "@holdfast/sdk/protocol";

/**
 * The data sources of every organization: one per environment, as old as the organization. Host, database and schema
 * are the operator's and do not apply, because only this service can reach the rows.
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
