/** The tenant's records and log are not in this database: they have moved to another one. */
export class TenantElsewhere extends Error {
  constructor(tenant: number) {
    super(`Tenant ${tenant} has no head in this database.`);
  }
}
