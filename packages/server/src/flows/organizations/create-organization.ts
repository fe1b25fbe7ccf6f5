import type { Organization } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../db/connection/transaction.ts";
import { insertOrganization } from "../../db/organizations/organizations.ts";
import { newId } from "../../ids.ts";

/** Creates an organization with a live and a test tenant, each with its own log. */
export const createOrganization = (tx: Transaction, name: string): Promise<Organization> =>
  insertOrganization(tx, newId("org_"), name, { live: newId("log_"), test: newId("log_") });
