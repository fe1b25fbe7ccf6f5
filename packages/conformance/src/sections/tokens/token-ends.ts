import { setTimeout as pause } from "node:timers/promises";
import { NOTE } from "../../environment/models.ts";
import type { Kit, Token } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

const scopeOf = (t: Kit) => ({ operations: [`${NOTE}.*`], syncGroups: [t.deck().group] });
const statusOf = async (t: Kit, { token }: Token) => {
  const { status, body } = await t.get("/v1/identity", { token });
  return status === 200 ? "200" : `${status} ${body.code}`;
};
const END_MS = 5_500;

export const section: SuiteSection = {
  title: "Ends of tokens",
  cases: [
    check("[K8] An expired token is 401 token_expired, and its stream is closed with 4401.", async (t) => {
      const token = await t.capability({ ...scopeOf(t), ttlSeconds: 4 });
      t.is(await statusOf(t, token), "200", "the answer before its end");
      const stream = await t.connect({ token: token.token });
      await pause(4_500);
      t.is(await statusOf(t, token), "401 token_expired", "the answer after its end");
      t.is((await stream.closes(END_MS)).code, 4401, "the close code");
    }),
    check("[K8] An ephemeral key expires the same way.", async (t) => {
      const token = await t.ephemeral({ user: { id: t.id() }, ttlSeconds: 2 });
      t.is(await statusOf(t, token), "200", "the answer before its end");
      await pause(2_500);
      t.is(await statusOf(t, token), "401 token_expired", "the answer after its end");
    }),
    check(
      "[K8] A revoked capability is 401 token_revoked, and its streams are closed with 4401, within 5 s.",
      async (t) => {
        const token = await t.capability(scopeOf(t));
        const streams = [await t.connect({ token: token.token }), await t.connect({ token: token.token })];
        const begun = performance.now();
        const answer = t.answered(await t.remove(`/v1/capabilities/${token.id}`), 200, { deleted: true });
        t.that(Number(answer.body.activeSessionsClosed) <= 2, "at most two sessions to be counted", answer.body);
        for (const stream of streams) t.is((await stream.closes(END_MS)).code, 4401, "the close code");
        while ((await statusOf(t, token)) === "200" && performance.now() - begun < END_MS) await pause(200);
        t.is(await statusOf(t, token), "401 token_revoked", "the answer afterwards");
      },
    ),
    check("[K8] A revoked ephemeral key is 401 token_revoked, and its stream is closed with 4401.", async (t) => {
      const token = await t.ephemeral({ user: { id: t.id() } });
      const stream = await t.connect({ token: token.token });
      t.answered(await t.remove(`/v1/ephemeral_keys/${token.id}`), 200, { deleted: true });
      t.is((await stream.closes(END_MS)).code, 4401, "the close code");
      t.is(await statusOf(t, token), "401 token_revoked", "the answer afterwards");
    }),
    check("[K8] Another token of the same participant stays valid.", async (t) => {
      const scope = { ...scopeOf(t), participantId: t.id() };
      const [one, two] = [await t.capability(scope), await t.capability(scope)];
      const stream = await t.connect({ token: two.token });
      t.answered(await t.remove(`/v1/capabilities/${one.id}`), 200);
      await pause(END_MS);
      t.is(await statusOf(t, two), "200", "the other token's answer");
      t.that(stream.isOpen, "its stream to be open");
    }),
    check(
      "[K8] After a rotation without grace, the old token ends within 5 s; with grace, it works until the grace period ends.",
      async (t) => {
        const [sharp, soft] = [await t.capability(scopeOf(t)), await t.capability(scopeOf(t))];
        for (const [{ id }, body] of [
          [sharp, { graceSeconds: 0 }],
          [soft, { graceSeconds: 30 }],
        ] as const) {
          const next = t.answered(await t.post(`/v1/capabilities/${id}/rotate`, body), 201);
          t.after(() => t.remove(`/v1/capabilities/${next.body.id}`));
        }
        const begun = performance.now();
        while ((await statusOf(t, sharp)) === "200" && performance.now() - begun < END_MS) await pause(200);
        t.that((await statusOf(t, sharp)).startsWith("401"), "401 for the token without grace");
        t.is(await statusOf(t, soft), "200", "the answer to the one with grace");
      },
    ),
    check(
      "[O6] A secret key that is deleted with graceSeconds works until the grace period ends; without it, the key ends within 5 s.",
      async (t) => {
        const admin = t.admin();
        const { organization } = await t.freshTenant(false);
        const key = async () => {
          const { body } = t.answered(
            await t.post("/v1/secret_keys", { organization, livemode: true }, { token: admin }),
            201,
          );
          return { id: String(body.id), token: String(body.token) };
        };
        const [now, later] = [await key(), await key()];
        t.answered(await t.remove(`/v1/secret_keys/${now.id}`, { token: admin }), 200, { deleted: true });
        t.answered(await t.remove(`/v1/secret_keys/${later.id}`, { token: admin, json: { graceSeconds: 60 } }), 200, {
          deleted: true,
        });
        const begun = performance.now();
        while ((await statusOf(t, now)) === "200" && performance.now() - begun < END_MS) await pause(200);
        t.is(await statusOf(t, now), "401 token_revoked", "the key without grace");
        t.is(await statusOf(t, later), "200", "the key with grace");
      },
    ),
  ],
};
