import type { Organization } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../db/connection/transaction.ts";
import { insertOrganization } from "../../db/organizations/organizations.ts";
import { newId } from "../../ids.ts";

/** An organization with its live and its test tenant, each with a log of its own. */
export const createOrganization = (tx: Transaction, name: string): Promise<Organization> =>
  insertOrganization(tx, newId("org_"), name, { live: newId("log_"), test: newId("log_") });
