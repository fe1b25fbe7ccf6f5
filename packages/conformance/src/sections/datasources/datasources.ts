import { flag, listOf, position, someText } from "../../assertions/pattern.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

const HOSTED = { metadata: {}, provider: "postgresql", connection: "hosted", status: "active" };

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
        t.refused(await t.post("/v1/datasources", {}), "method_not_allowed");
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
    check("[G14] [K10] Only a secret key lists them: a scoped token is 403 secret_key_required.", async (t) => {
      const { token } = await t.capability({ wideScope: true });
      t.refused(await t.get("/v1/datasources", { token }), "secret_key_required");
    }),
  ],
};
