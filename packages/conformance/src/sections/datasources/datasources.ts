import { flag, listOf, position, someText } from "../../assertions/pattern.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

const HOSTED = { metadata: {}, provider: "postgresql", connection: "hosted", status: "active" };

const ADDRESS = "postgres://ann:secret@db.example/app";

export const section: SuiteSection = {
  title: "Datasources",
  cases: [
    check(
      "[G14] GET /v1/datasources is a list envelope of datasources, and begins with the two hosted ones.",
      async (t) => {
        const answer = t.answered(await t.get("/v1/datasources"), 200, {
          object: "list",
          has_more: flag,
          data: listOf({ object: "datasource", id: someText, livemode: flag, created: position, provider: someText }),
        });
        t.is(idsOf(answer).slice(0, 2), ["ds_hosted", "ds_test_hosted"], "the first two");
        t.fits(
          rowsOf(answer).slice(0, 2),
          [
            { ...HOSTED, livemode: true, display_name: "Hosted, live" },
            { ...HOSTED, livemode: false, display_name: "Hosted, test" },
          ],
          "the first two",
        );
        const [{ created } = {}] = rowsOf(answer);
        t.that(Number(created) > 1_600_000_000 && Number(created) <= Date.now() / 1_000, "seconds since 1970", created);
        t.refused(await t.get("/v1/datasources?limit=1"), "unknown_parameter");
      },
    ),
    check("[G14] The list of datasources does not depend on the caller's environment.", async (t) => {
      const [own, other] = [await t.get("/v1/datasources"), await t.get("/v1/datasources", { token: t.otherKey() })];
      t.answered(own, 200);
      t.answered(other, 200);
      t.is(idsOf(other), idsOf(own), "ids of the other environment's list");
    }),
    check("[G14] The list of datasources has no secrets.", async (t) => {
      const answer = t.answered(await t.get("/v1/datasources"), 200);
      t.that(
        !/password|connectionString|signingKey|postgres(ql)?:\/\//i.test(answer.text),
        "no secret in the list",
        answer.text,
      );
    }),
    check("[DS25] The hosted datasources can be read, and stay as they are.", async (t) => {
      for (const id of ["ds_hosted", "ds_test_hosted"]) {
        t.answered(await t.get(`/v1/datasources/${id}`), 200, { object: "datasource", id, connection: "hosted" });
        t.refused(await t.remove(`/v1/datasources/${id}`), "datasource_hosted");
        const rotated = await t.post(`/v1/datasources/${id}/rotate_key`, { connectionString: ADDRESS });
        t.refused(rotated, "datasource_hosted");
      }
      t.refused(await t.get("/v1/datasources/ds_none"), "datasource_not_found");
      t.refused(await t.remove("/v1/datasources/ds_none"), "datasource_not_found");
    }),
    check(
      "[DS20] [DS141] A connection string that cannot be used is refused, and no datasource is left.",
      async (t) => {
        const before = idsOf(await t.get("/v1/datasources"));
        t.refused(await t.post("/v1/datasources", {}), "missing_field");
        const register = (connectionString: string) =>
          t.post("/v1/datasources", { connection: "direct", connectionString });
        for (const text of [
          "x",
          "mysql://a:b@db.example/c",
          `${ADDRESS}?sslrootcert=/etc/passwd`,
          "postgres://db.example/c",
        ])
          t.refused(await register(text), "invalid_url");
        t.is(idsOf(await t.get("/v1/datasources")), before, "ids");
      },
    ),
    check("[G14] [K10] Only a secret key lists them: a scoped token is 403 secret_key_required.", async (t) => {
      const { token } = await t.capability({ wideScope: true });
      t.refused(await t.get("/v1/datasources", { token }), "secret_key_required");
    }),
  ],
};
