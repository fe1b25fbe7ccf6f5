import { NOTE, ownModels } from "../../models.ts";
import { absent, listOf, someText, time } from "../../pattern.ts";
import { check, checkEach, type SuiteSection } from "../../section.ts";
import { checksum } from "../../token.ts";

const path = "/v1/ephemeral_keys";

export const section: SuiteSection = {
  title: "Ephemeral keys",
  cases: [
    check("Minting is answered 201 with the token, once, and with every documented field.", async (t) => {
      const user = t.id();
      const begun = Date.now();
      const answer = t.answered(await t.post(path, { user: { id: user } }), 201, {
        object: "ephemeral_key",
        id: someText,
        token: /^ek_[0-9A-Za-z]{36}$/,
        participantId: user,
        participantKind: "user",
        operations: listOf(/^[A-Za-z][A-Za-z0-9_]*\.\*$/),
        syncGroups: [`user:${user}`],
        organizationId: await t.organization(),
        livemode: t.environment.key.startsWith("sk_live_"),
        expiresAt: time,
      });
      const { id, token, expiresAt, operations } = answer.body as Record<string, string>;
      t.after(() => t.remove(`${path}/${id}`));
      t.is(token?.slice(-6), checksum(String(token).slice(0, -6)), "the token's checksum");
      const seconds = (Date.parse(String(expiresAt)) - begun) / 1_000;
      t.that(Math.abs(seconds - 900) < 10, "an end in 900 s", seconds);
      const claims = (operations as unknown as string[]).filter((operation) => operation.startsWith("claim."));
      t.is(claims, [], "operations on claims");
      for (const model of Object.keys(ownModels))
        t.that((operations as unknown as string[]).includes(`${model}.*`), `operations to name ${model}.*`, operations);
    }),
    check("The identity of its bearer is the user.", async (t) => {
      const user = t.id();
      const { token } = await t.ephemeral({ user: { id: user } });
      const answer = t.answered(await t.get("/v1/identity", { token }), 200, {
        participantKind: "user",
        syncGroups: [`user:${user}`],
      });
      t.that(
        String(answer.body.participant).includes(user),
        "a participant that names the user",
        answer.body.participant,
      );
    }),
    check("Groups and operations may be named; org: only when asked for.", async (t) => {
      const { group } = t.deck();
      const organization = await t.organization();
      const { path: note } = await t.note();
      const plain = await t.ephemeral({ user: { id: t.id() } });
      t.refused(await t.get(note, { token: plain.token }), "record_not_found");
      const wide = await t.ephemeral({
        user: { id: t.id() },
        syncGroups: [`org:${organization}`],
        operations: [`${NOTE}.read`],
      });
      t.answered(await t.get(note, { token: wide.token }), 200);
      const narrow = await t.ephemeral({ user: { id: t.id() }, syncGroups: [group], operations: [`${NOTE}.read`] });
      t.answered(await t.get("/v1/identity", { token: narrow.token }), 200, {
        syncGroups: [group],
        operations: [`${NOTE}.read`],
      });
    }),
    ...checkEach(
      [
        ["without a user", { user: undefined }],
        ["with a user without an id", { user: {} }],
        ["with a user whose id is a number", { user: { id: 5 } }],
        ["for more than 24 hours", { ttlSeconds: 86_401 }],
        ["with a group outside the grammar", { syncGroups: ["nothing"] }],
        ["with another organization's org: group", { syncGroups: ["org:org_nobody"] }],
        ["with an operation that is none", { operations: ["everything"] }],
        ["with an unknown key", { colour: 1 }],
      ] as const,
      ([what]) => `An ephemeral key ${what} is 400.`,
      async (t, [, change]) =>
        t.answered(await t.post(path, { user: { id: t.id() }, ...change }), 400, { type: "validation_error" }),
    ),
    check("Keys are listed without their tokens.", async (t) => {
      const { id, token } = await t.ephemeral({ user: { id: t.id() } });
      const list = await t.listed(path);
      t.fits(
        list.find((item) => item.id === id),
        { object: "ephemeral_key", token: absent },
        "its item",
      );
      t.that(!JSON.stringify(list).includes(token.slice(3, 30)), "no token in the list");
    }),
    check("Deleting one key ends it; ?user= ends all keys of that person and nobody else's.", async (t) => {
      const [ann, bob] = [t.id(), t.id()];
      const [one, two, other] = [
        await t.ephemeral({ user: { id: ann } }),
        await t.ephemeral({ user: { id: ann } }),
        await t.ephemeral({ user: { id: bob } }),
      ];
      const alive = async (token: string) => (await t.get("/v1/identity", { token })).status;
      t.answered(await t.remove(`${path}/${one.id}`), 200, { deleted: true });
      t.is([await alive(one.token), await alive(two.token)], [401, 200], "the two keys after one was deleted");
      t.answered(await t.remove(`${path}?user=${ann}`), 200);
      t.is(
        [await alive(two.token), await alive(other.token)],
        [401, 200],
        "the person's other key, and somebody else's",
      );
    }),
  ],
};
