import { sameSet, someText, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Identity",
  cases: [
    check("[K9] GET /v1/identity with a secret key has every documented field.", async (t) => {
      t.answered(await t.get("/v1/identity"), 200, {
        object: "identity",
        organization: someText,
        livemode: t.environment.key.startsWith("sk_live_"),
        participant: someText,
        participantKind: "system",
        operations: sameSet("*.*", "claim.preempt", "claim.reorder"),
        syncGroups: [`org:${await t.organization()}`],
        expiresAt: null,
        logId: /^log_[0-9A-Za-z]{24}$/,
      });
    }),
    check("[K9] GET /v1/identity with a scoped token has its scope and its expiry time.", async (t) => {
      const { group } = t.deck();
      const participantId = t.id();
      const { token } = await t.capability({
        participantId,
        operations: [`${NOTE}.read`],
        syncGroups: [group],
        ttlSeconds: 100,
      });
      const own = t.answered(await t.get("/v1/identity"), 200);
      const answer = t.answered(await t.get("/v1/identity", { token }), 200, {
        object: "identity",
        organization: String(own.body.organization),
        participantKind: "agent",
        operations: [`${NOTE}.read`],
        syncGroups: [group],
        expiresAt: time,
        logId: String(own.body.logId),
      });
      t.that(
        String(answer.body.participant).includes(participantId),
        "a participant that names it",
        answer.body.participant,
      );
      const left = (Date.parse(String(answer.body.expiresAt)) - Date.now()) / 1_000;
      t.that(left > 60 && left < 130, "an end in about 100 s", left);
    }),
    check(
      "[K12] Identity, feed, snapshot and welcome name the same owner and view, and say the server's time.",
      async (t) => {
        const [a, b, c] = [t.deck().group, t.deck().group, t.deck().group];
        const user = { id: t.id() };
        const said = async (body: object) => {
          const { token } = await t.ephemeral({ user, ...body });
          const stream = await t.connect({ token });
          const sources = [
            (await t.get("/v1/identity", { token })).body,
            (await t.get("/v1/log?limit=1", { token })).body,
            JSON.parse((await t.get("/v1/snapshot?limit=1", { token })).text.split("\n")[0] ?? "{}"),
            stream.frames[0] ?? {},
          ];
          const [first, ...others] = sources.map(({ owner, viewHash }) => ({ owner, viewHash }));
          for (const other of others) t.is(other, first, "owner and viewHash");
          for (const { serverTime } of sources) {
            const off = Date.parse(String(serverTime)) - Date.now();
            t.that(Math.abs(off) < 60_000, "the server's time, about that of this machine", serverTime);
          }
          return { token, owner: String(first?.owner), viewHash: String(first?.viewHash) };
        };
        const one = await said({ syncGroups: [a, b], operations: [`${NOTE}.read`] });
        const same = await said({ syncGroups: [b, a], operations: [`${NOTE}.*`] });
        const wider = await said({ syncGroups: [a, b, c], operations: [`${NOTE}.read`] });
        const mode = t.environment.key.startsWith("sk_live_") ? "live" : "test";
        t.is(one.owner, `${await t.organization()}/${mode}/user/${user.id}`, "the owner");
        t.is([same.owner, wider.owner], [one.owner, one.owner], "the owner of other tokens of this person");
        t.is(same.viewHash, one.viewHash, "the view of a token that may read the same");
        t.that(wider.viewHash !== one.viewHash, "another viewHash for a wider token");
        const stream = await t.stream();
        stream.send({ frame: "hello", token: wider.token, view: one.viewHash });
        t.fits(await stream.next("resync"), { reason: "scope" }, "the resync for a client with another viewHash");
      },
    ),
  ],
};
