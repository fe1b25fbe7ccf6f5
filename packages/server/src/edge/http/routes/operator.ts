import { isRecordId } from "@holdfast/sdk/protocol";
import type { OperatorFlows } from "../../../kernel/organizations/flows/operator-flows.ts";
import { refuse } from "../../../kernel/refusal.ts";
import type { Handlers } from "../answer.ts";

type OperatorHandlers = Pick<
  Handlers,
  "createOrganization" | "listOrganizations" | "createSecretKey" | "listSecretKeys" | "revokeSecretKey"
>;

/** Organizations and their secret keys, for the operator of the server. */
export function operatorRoutes(flows: OperatorFlows): OperatorHandlers {
  return {
    createOrganization: async ({ body }) => ({ status: 201, value: await flows.createOrganization(body.name) }),
    listOrganizations: async () => wholeList(await flows.listOrganizations()),
    createSecretKey: async ({ body: { organization, livemode, label } }) => {
      const key = await flows.createKey(organization, livemode, label);
      return key
        ? { status: 201, value: key }
        : { refusal: refuse("organization_not_found", { param: "organization" }) };
    },
    listSecretKeys: async ({ query }) => wholeList(await flows.listKeys(query.one.organization)),
    revokeSecretKey: async ({ params: { id = "" }, body }) =>
      isRecordId(id) && (await flows.revokeKey(id, body?.graceSeconds ?? 0))
        ? { value: { object: "secret_key", id, deleted: true } }
        : { refusal: refuse("secret_key_not_found", { param: "id" }) },
  };
}

const wholeList = <T>(data: T[]) => ({ value: { object: "list" as const, data, has_more: false, next_cursor: null } });
