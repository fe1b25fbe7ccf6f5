import type pg from "pg";
import { listOrganizations, listSecretKeys, revokeSecretKey, worldOf } from "../../db/organizations.ts";
import { transaction } from "../../db/transaction.ts";
import { createOrganization } from "../../flows/create-organization.ts";
import { mintSecretKey } from "../../flows/secret-keys.ts";
import { refuse } from "../../rules/refusal.ts";
import type { Handlers } from "../answer.ts";

type OperatorHandlers = Pick<
  Handlers,
  "createOrganization" | "listOrganizations" | "createSecretKey" | "listSecretKeys" | "revokeSecretKey"
>;

/** Organisations and their secret keys, for whoever runs the server. `revoked` ends a key's sockets and cached logins here. */
export function operatorRoutes(pool: pg.Pool, revoked: (keyId: string) => void): OperatorHandlers {
  const whole = <T>(data: T[]) => ({ value: { object: "list" as const, data, has_more: false, next_cursor: null } });
  return {
    createOrganization: async ({ body }) => ({
      status: 201,
      value: await transaction(pool, (tx) => createOrganization(tx, body.name)),
    }),
    listOrganizations: async () => whole(await listOrganizations(pool)),
    createSecretKey: async ({ body: { organization, livemode, label } }) => {
      const world = await worldOf(pool, organization, livemode);
      if (world === undefined) return { refusal: refuse("organization_not_found", { param: "organization" }) };
      return { status: 201, value: await transaction(pool, (tx) => mintSecretKey(tx, world, livemode, label ?? null)) };
    },
    listSecretKeys: async ({ query }) => whole(await listSecretKeys(pool, query.one.organization)),
    revokeSecretKey: async ({ params, body }) => {
      const { id = "" } = params;
      const graceSeconds = body?.graceSeconds ?? 0;
      if (!(await revokeSecretKey(pool, id, graceSeconds)))
        return { refusal: refuse("secret_key_not_found", { param: "id" }) };
      if (graceSeconds === 0) revoked(id);
      return { value: { object: "secret_key", id, deleted: true } };
    },
  };
}
