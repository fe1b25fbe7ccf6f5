import type { Organization } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { insertOrganization } from "../db/organizations.ts";

/** Creates an organization with a live and a test tenant, each with its own log. */
export const createOrganization = (tx: Transaction, name: string): Promise<Organization> =>
  insertOrganization(tx, newId("org_"), name, { live: newId("log_"), test: newId("log_") });
