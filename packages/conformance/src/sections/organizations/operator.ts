import { absent, listOf, someText } from "../../assertions/pattern.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

export const section: SuiteSection = {
  title: "The operator",
  cases: [
    check("[O6] The operator makes organizations and lists them.", async (t) => {
      const token = t.admin();
      const { organization } = await t.freshTenant(false);
      const list = t.answered(await t.get("/v1/organizations", { token }), 200, { object: "list" });
      t.that(
        idsOf(list).includes(organization) || list.body.has_more === true,
        "the list to name the new one",
        idsOf(list).length,
      );
    }),
    check(
      "[O6] The operator mints secret keys; the server shows the token once, and its prefix names the environment.",
      async (t) => {
        const token = t.admin();
        const { organization } = await t.freshTenant(false);
        for (const livemode of [true, false]) {
          const answer = t.answered(
            await t.post("/v1/secret_keys", { organization, livemode, label: "conf" }, { token }),
            201,
            {
              id: someText,
              token: livemode ? /^sk_live_[0-9A-Za-z]{36}$/ : /^sk_test_[0-9A-Za-z]{36}$/,
              organization,
              livemode,
              label: "conf",
            },
          );
          t.after(() => t.remove(`/v1/secret_keys/${answer.body.id}`, { token }));
          const list = t.answered(await t.get(`/v1/secret_keys?organization=${organization}`, { token }), 200, {
            data: listOf({ token: absent }),
          });
          t.that(
            rowsOf(list).some(
              ({ id, last4 }) => id === answer.body.id && last4 === String(answer.body.token).slice(-4),
            ),
            "the list to name it",
          );
          t.that(!list.text.includes(String(answer.body.token).slice(8)), "no token in the list");
          t.answered(await t.get("/v1/identity", { token: String(answer.body.token) }), 200, {
            organization,
            livemode,
          });
        }
      },
    ),
    check("[O6] A key that the operator has deleted opens nothing.", async (t) => {
      const token = t.admin();
      const { key, keyId } = await t.freshTenant(false);
      t.answered(await t.get("/v1/log", { token: key }), 200);
      t.answered(await t.remove(`/v1/secret_keys/${keyId}`, { token }), 200, { deleted: true });
      t.refused(await t.get("/v1/log", { token: key }), "token_revoked");
    }),
    check("[O6] Only the operator may: a secret key and a scoped token are 403 admin_required.", async (t) => {
      const { token } = await t.capability({ wideScope: true });
      for (const one of [t.environment.key, token]) {
        t.refused(await t.post("/v1/organizations", { name: "x" }, { token: one }), "admin_required");
        t.refused(await t.get("/v1/organizations", { token: one }), "admin_required");
        t.refused(await t.get("/v1/secret_keys", { token: one }), "admin_required");
        t.refused(await t.post("/v1/secret_keys", {}, { token: one }), "admin_required");
        t.refused(await t.remove("/v1/secret_keys/key_x", { token: one }), "admin_required");
      }
    }),
    check("[O6] [H3] The operator's token opens only the operator's routes.", async (t) => {
      const token = t.admin();
      t.answered(await t.get("/v1/log", { token }), 401, { type: "authentication_error" });
      t.answered(await t.post("/v1/commits", { operations: [] }, { token }), 401);
    }),
    check("[O6] An invalid request is 400, and an unknown organization is 404.", async (t) => {
      const token = t.admin();
      t.answered(await t.post("/v1/organizations", {}, { token }), 400, { type: "validation_error" });
      t.answered(await t.post("/v1/organizations", { name: 5 }, { token }), 400, { type: "validation_error" });
      for (const name of ["", "x".repeat(201)])
        t.refused(await t.post("/v1/organizations", { name }, { token }), "invalid_value");
      t.answered(await t.post("/v1/secret_keys", { organization: "org_nobody" }, { token }), 400, {
        type: "validation_error",
      });
      const minting = { organization: "org_nobody", livemode: true };
      t.refused(await t.post("/v1/secret_keys", minting, { token }), "organization_not_found");
      for (const id of ["key_nobody", "%00"])
        t.refused(await t.remove(`/v1/secret_keys/${id}`, { token }), "secret_key_not_found");
      t.answered(await t.get("/v1/secret_keys?organization=%00", { token }), 400, { type: "validation_error" });
    }),
  ],
};
