import { NOTE } from "../../models.ts";
import { aList, orNull, someText, time } from "../../pattern.ts";
import { check, type SuiteSection } from "../../section.ts";

export const section: SuiteSection = {
  title: "Who am I",
  cases: [
    check("GET /v1/identity tells a secret key who it is: every documented field.", async (t) => {
      t.answered(await t.get("/v1/identity"), 200, {
        object: "identity",
        organization: someText,
        livemode: t.environment.key.startsWith("sk_live_"),
        participant: someText,
        participantKind: "system",
        operations: aList,
        syncGroups: aList,
        expiresAt: orNull(time),
        logId: /^log_[0-9A-Za-z]{24}$/,
      });
    }),
    check("It tells a scoped token its own scope and its end.", async (t) => {
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
  ],
};
