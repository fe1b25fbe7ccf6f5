import type { Datasource } from "@holdfast/sdk/protocol";
import { readOrganization } from "../db/organizations.ts";
import type { Database } from "../db/pool.ts";
import { hostedDatasources } from "../rules/hosted-datasources.ts";

/** Where an organization's rows live, in both environments. */
export type ListDatasources = (organization: string) => Promise<Datasource[]>;

export const listDatasources =
  (db: Database): ListDatasources =>
  async (organization) =>
    hostedDatasources((await readOrganization(db, organization)).createdAt);
