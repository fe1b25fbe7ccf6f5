import type { Datasource } from "@holdfast/sdk/protocol";
import type { Database } from "../../db/connection/pool.ts";
import { readOrganization } from "../../db/organizations/organizations.ts";
import { hostedDatasources } from "../../rules/datasources/hosted-datasources.ts";

/** The data sources of an organization, for both environments. */
export type ListDatasources = (organization: string) => Promise<Datasource[]>;

export const listDatasources =
  (db: Database): ListDatasources =>
  async (organization) =>
    hostedDatasources((await readOrganization(db, organization)).createdAt);
