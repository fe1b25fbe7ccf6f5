import { absent, exactly, listOf, someText, time } from "../../assertions/pattern.ts";
import { NOTE, ownModels } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { idsOf } from "../../protocol/answers.ts";
import { checksum } from "../../protocol/token.ts";

const path = "/v1/ephemeral_keys";

export const section: SuiteSection = {
  title: "Ephemeral keys",
  cases: [
    check("[K1] Minting is answered 201 with the token, once, and with every documented field.", async (t) => {
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
    check("[K9] The identity of an ephemeral key is its user.", async (t) => {
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
    check(
      "[K1] A request for a key can name groups and operations; a key has the org: group only if the request names it.",
      async (t) => {
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
      },
    ),
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
        ["with an unknown key of its user", { user: { id: "a", name: "b" } }],
      ] as const,
      ([what]) => `[K1] An ephemeral key ${what} is 400.`,
      async (t, [, change]) =>
        t.answered(await t.post(path, { user: { id: t.id() }, ...change }), 400, { type: "validation_error" }),
    ),
    check("[K1] The list of keys does not show their tokens.", async (t) => {
      const { id, token } = await t.ephemeral({ user: { id: t.id() } });
      const list = await t.listed(path);
      t.fits(
        list.find((item) => item.id === id),
        { object: "ephemeral_key", token: absent },
        "its item",
      );
      t.that(!JSON.stringify(list).includes(token.slice(3, 30)), "no token in the list");
    }),
    check("[K1] ?user= lists only that person's keys, in pages; the cursor belongs to that list.", async (t) => {
      const user = { id: t.id() };
      const mine = [await t.ephemeral({ user }), await t.ephemeral({ user }), await t.ephemeral({ user })];
      const first = t.answered(await t.get(`${path}?user=${user.id}&limit=2`), 200, { has_more: true });
      const cursor = `limit=2&starting_after=${first.body.next_cursor}`;
      const rest = t.answered(await t.get(`${path}?user=${user.id}&${cursor}`), 200, { has_more: false });
      t.is([...idsOf(first), ...idsOf(rest)].sort(), mine.map(({ id }) => id).sort(), "the keys");
      t.refused(await t.get(`${path}?user=other&${cursor}`), "invalid_cursor");
    }),
    check("[K8] A delete ends one key; with ?user= it ends all keys of that person, and no others.", async (t) => {
      const [ann, bob] = [t.id(), t.id()];
      const [one, two, other] = [
        await t.ephemeral({ user: { id: ann } }),
        await t.ephemeral({ user: { id: ann } }),
        await t.ephemeral({ user: { id: bob } }),
      ];
      const alive = async (token: string) => (await t.get("/v1/identity", { token })).status;
      t.answered(await t.remove(`${path}/${one.id}`), 200, { deleted: true });
      t.is([await alive(one.token), await alive(two.token)], [401, 200], "the two keys after one was deleted");
      const stream = await t.connect({ token: two.token });
      t.answered(
        await t.remove(`${path}?user=${ann}`),
        200,
        exactly({ object: "ephemeral_key_revocation", user: ann, deleted: 1, activeSessionsClosed: 1 }) as never,
      );
      t.is((await stream.closes()).code, 4401, "the close code of the key's stream");
      t.refused(await t.remove(path), "missing_field", { param: "user" });
      t.is(
        [await alive(two.token), await alive(other.token)],
        [401, 200],
        "the person's other key, and another person's",
      );
    }),
  ],
};
