import { anObject, someText } from "../../assertions/pattern.ts";
import { FAVORITE, NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Answer } from "../../protocol/answers.ts";
import { positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** An agent with these operations in one deck. */
async function agent(t: Kit, operations: readonly string[] = [`${NOTE}.*`]) {
  const { deckId, group } = t.deck();
  const participantId = t.id();
  const { token } = await t.capability({ participantId, operations, syncGroups: [group] });
  return { deckId, group, participantId, token };
}

/** 403 with the missing scope, in the envelope and in the receipt. */
function denied(t: Kit, answer: Answer, can: string, model = NOTE): void {
  const requiredCapability = { can, model, scope: `${model}.${can}`, syncGroup: someText };
  t.refused(answer, "capability_scope_denied", {
    body: {
      requiredCapability,
      receipt: { status: "rejected", success: false, error: { code: "capability_scope_denied", requiredCapability } },
    },
  });
}

const VERBS: readonly (readonly [can: string, write: (t: Kit, path: string, token: string) => Promise<Answer>])[] = [
  ["update", (t, path, token) => t.patch(path, { data: { title: "x" } }, { token })],
  ["delete", (t, path, token) => t.remove(path, { token })],
  ["update", (t, path, token) => t.post(`${path}/archive`, undefined, { token })],
  ["update", (t, path, token) => t.post(`${path}/unarchive`, undefined, { token })],
];
const NAMES = ["an update", "a delete", "an archive", "an unarchive"];

export const section: SuiteSection = {
  title: "Scopes of writes",
  cases: [
    check(
      "[K2] [K3] A token writes what its operations and groups cover: create, update, archive, unarchive, delete.",
      async (t) => {
        const { deckId, token } = await agent(t);
        const id = t.id();
        t.answered(await t.post(notes, { id, data: { deckId } }, { token }), 200, { status: "confirmed" });
        t.answered(await t.patch(`${notes}/${id}`, { data: { title: "x" } }, { token }), 200, { status: "confirmed" });
        t.answered(await t.post(`${notes}/${id}/archive`, undefined, { token }), 200, { status: "confirmed" });
        t.answered(await t.post(`${notes}/${id}/unarchive`, undefined, { token }), 200, { status: "confirmed" });
        t.answered(await t.remove(`${notes}/${id}`, { token }), 200, { status: "confirmed" });
      },
    ),
    check(
      "[K3] [K4] [K13] A create in a group that the token does not have is 403, names the missing scope in the error and the receipt, and writes nothing.",
      async (t) => {
        const { token } = await agent(t);
        const { deckId, group } = t.deck();
        const id = t.id();
        const answer = await t.post(notes, { id, data: { deckId } }, { token });
        denied(t, answer, "create");
        t.fits(answer.body.requiredCapability, { syncGroup: group }, "requiredCapability");
        t.is(answer.body.message, `The token's scope does not cover ${NOTE}.create in ${group}.`, "the message");
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      },
    ),
    check(
      "[K13] [K17] A create without the field that names its group is 400 missing_field, and the error names the field.",
      async (t) => {
        const { token } = await agent(t);
        const create = { action: "create", model: NOTE, id: t.id(), data: {} };
        t.refused(await t.post(notes, { id: t.id(), data: { title: "x" } }, { token }), "missing_field", {
          param: "data.deckId",
        });
        t.refused(await t.commit([create], {}, { token }), "missing_field", { param: "operations[0].data.deckId" });
        denied(t, await t.commit([create], {}, { token: (await agent(t, [`${NOTE}.read`])).token }), "create");
      },
    ),
    check("[K4] A create of a model that the token's operations do not name is 403.", async (t) => {
      const { token } = await agent(t);
      denied(t, await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }, { token }), "create", WHOLE);
    }),
    ...checkEach(
      VERBS.map((verb, i) => [NAMES[i] as string, ...verb] as const),
      ([what]) =>
        `[K3] [K4] ${what[0]?.toUpperCase()}${what.slice(1)} of a record outside the caller's groups is 403, and the record stays as it is.`,
      async (t, [, can, write]) => {
        const { token } = await agent(t);
        const { path, at } = await t.note({ title: "theirs" });
        denied(t, await write(t, path, token), can);
        t.answered(await t.get(path), 200, { data: { title: "theirs" }, syncId: at, archivedAt: null });
      },
    ),
    ...checkEach(
      VERBS.map((verb, i) => [NAMES[i] as string, ...verb] as const),
      ([what]) =>
        `[K2] ${what[0]?.toUpperCase()}${what.slice(1)} needs its operation: a token that may only create gets 403.`,
      async (t, [, can, write]) => {
        const { deckId, token } = await agent(t, [`${NOTE}.create`]);
        const id = t.id();
        t.answered(await t.post(notes, { id, data: { deckId } }, { token }), 200, { status: "confirmed" });
        denied(t, await write(t, `${notes}/${id}`, token), can);
      },
    ),
    check("[K2] Write implies read: a token that may update a model may read its records.", async (t) => {
      const { deckId, token } = await agent(t, [`${NOTE}.update`]);
      const { path } = await t.note({ deckId });
      t.answered(await t.get(path, { token }), 200);
      denied(t, await t.post(notes, { id: t.id(), data: { deckId } }, { token }), "create");
    }),
    check("[K2] A token that may only read may not write.", async (t) => {
      const { deckId, token } = await agent(t, [`${NOTE}.read`]);
      const { path } = await t.note({ deckId });
      t.answered(await t.get(path, { token }), 200);
      denied(t, await t.patch(path, { data: { title: "x" } }, { token }), "update");
    }),
    check("[K2] *.read reads every model and writes none; *.* writes every model.", async (t) => {
      const reader = await agent(t, ["*.read"]);
      const { path } = await t.note({ deckId: reader.deckId });
      t.answered(await t.get(path, { token: reader.token }), 200);
      denied(t, await t.patch(path, { data: { title: "x" } }, { token: reader.token }), "update");
      const writer = await agent(t, ["*.*"]);
      t.answered(await t.post(notes, { id: t.id(), data: { deckId: writer.deckId } }, { token: writer.token }), 200);
    }),
    check("[K3] An update may not take a record into a group that the token does not have.", async (t) => {
      const { deckId, token } = await agent(t);
      const { path } = await t.note({ deckId });
      const { deckId: foreign, group } = t.deck();
      const answer = await t.patch(path, { data: { deckId: foreign } }, { token });
      denied(t, answer, "update");
      t.fits(answer.body.requiredCapability, { syncGroup: group }, "requiredCapability");
      t.answered(await t.get(path), 200, { data: { deckId } });
    }),
    check("[K3] An update may take a record from one of the caller's groups to another.", async (t) => {
      const [from, to] = [t.deck(), t.deck()];
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [from.group, to.group] });
      const { path } = await t.note({ deckId: from.deckId });
      t.answered(await t.patch(path, { data: { deckId: to.deckId } }, { token }), 200, { status: "confirmed" });
    }),
    check("[K3] org:<organization> covers every record, also one that is in no other group.", async (t) => {
      const organization = await t.organization();
      const { token } = await t.capability({
        operations: [`${NOTE}.*`, `${WHOLE}.*`],
        syncGroups: [`org:${organization}`],
      });
      const { path } = await t.note();
      t.answered(await t.patch(path, { data: { title: "x" } }, { token }), 200, { status: "confirmed" });
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }, { token }), 200, {
        status: "confirmed",
      });
    }),
    check(
      "[K4] If one of ten operations is out of scope, the batch is 403 with the place of that operation, and nothing is written.",
      async (t) => {
        const { deckId, token } = await agent(t);
        const { id: foreign, path } = await t.note({ title: "theirs" });
        const operations: object[] = Array.from({ length: 9 }, () => ({
          action: "create",
          model: NOTE,
          id: t.id(),
          data: { deckId },
        }));
        const ids = operations.map((one) => (one as { id: string }).id);
        operations.splice(6, 0, { action: "update", model: NOTE, id: foreign, data: { title: "mine" } });
        const answer = await t.commit(operations, {}, { token });
        denied(t, answer, "update");
        t.fits(answer.body.param, /^operations\[6\]/, "param");
        t.answered(await t.get(`${notes}?ids=${ids.join(",")}`), 200, { data: [] });
        t.answered(await t.get(path), 200, { data: { title: "theirs" } });
      },
    ),
    check("[K5] The server checks scope before payload, existence and staleness.", async (t) => {
      const { token } = await agent(t);
      const { id, path, at } = await t.note({ title: "one" });
      t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      denied(t, await t.patch(path, { data: { colour: 1 } }, { token }), "update");
      const stale = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at, onStale: "notify" };
      const answer = await t.commit([stale], {}, { token });
      denied(t, answer, "update");
      t.that(!answer.text.includes("two"), "an answer without the record's values", answer.text);
      const { deckId } = t.deck();
      denied(t, await t.post(notes, { id, data: { deckId } }, { token }), "create");
    }),
    check(
      "[K5] A premise on a record that the caller could not read is 403, also of a model out of its scope.",
      async (t) => {
        const { deckId, token } = await agent(t);
        const { id, at } = await t.note({ title: "theirs" });
        const create = () => ({ action: "create", model: NOTE, id: t.id(), data: { deckId } });
        const answer = await t.commit(
          [create()],
          { reads: [{ model: NOTE, id, readAt: at, onStale: "notify" }] },
          { token },
        );
        t.refused(answer, "capability_scope_denied", { body: { requiredCapability: anObject } });
        const whole = t.id();
        const made = t.answered(await t.post(`/v1/models/${WHOLE}`, { id: whole, data: { left: "secret" } }), 200);
        const reads = [{ model: WHOLE, id: whole, readAt: positionOf(made) }];
        t.refused(await t.commit([create()], { reads }, { token }), "capability_scope_denied");
      },
    ),
    check("[K5] A premise on a group that the caller does not have is 403.", async (t) => {
      const { deckId, token } = await agent(t);
      const { group, at } = await t.note();
      const create = { action: "create", model: NOTE, id: t.id(), data: { deckId } };
      const answer = await t.commit([create], { reads: [{ group, readAt: at }] }, { token });
      t.refused(answer, "capability_scope_denied", { body: { requiredCapability: anObject } });
    }),
    check(
      "[K4] In a bulk the server checks each commit on its own: one out of scope is 403 in its place.",
      async (t) => {
        const { deckId, token } = await agent(t);
        const commit = (deck: string) => ({
          operations: [{ action: "create", model: NOTE, id: t.id(), data: { deckId: deck } }],
          clientTxId: t.id(),
        });
        const json = { commits: [commit(deckId), commit(t.deck().deckId), commit(deckId)] };
        const answer = await t.ask("POST", "/v1/commits/bulk", { json, token });
        t.answered(answer, 200, {
          data: [
            { httpStatus: 200 },
            { httpStatus: 403, code: "capability_scope_denied", requiredCapability: anObject },
            { httpStatus: 200 },
          ],
        });
      },
    ),
    check("[K5] The same key gets the same receipt even if the present scope would refuse the write.", async (t) => {
      const participantId = t.id();
      const { deckId, group } = t.deck();
      const wide = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
      const narrow = await t.capability({
        participantId,
        operations: [`${NOTE}.read`],
        syncGroups: [t.deck().group],
      });
      const [body, key] = [{ id: t.id(), data: { deckId } }, t.id()];
      const first = t.answered(await t.post(notes, body, { key, token: wide.token }), 200);
      const again = t.answered(await t.post(notes, body, { key, token: narrow.token }), 200);
      t.is([again.text, again.headers["idempotent-replayed"]], [first.text, "true"], "receipt and header");
    }),
    check(
      "[K5] [I4] A refusal for scope does not use up the key: it works with a wider token of the same participant.",
      async (t) => {
        const participantId = t.id();
        const { deckId, group } = t.deck();
        const narrow = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [group] });
        const wide = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
        const [body, key] = [{ id: t.id(), data: { deckId } }, t.id()];
        denied(t, await t.post(notes, body, { key, token: narrow.token }), "create");
        t.answered(await t.post(notes, body, { key, token: wide.token }), 200, { status: "confirmed" });
      },
    ),
    check(
      "[K4] The 403 of a favorite also has scope, constraints {model, syncGroup}, issuer, ttlSeconds and nonce.",
      async (t) => {
        const user = t.id();
        const { token } = await t.ephemeral({ user: { id: user }, operations: [`${NOTE}.read`] });
        const answer = await t.patch(`/v1/models/${FAVORITE}/${t.id()}`, { data: { order: 1 } }, { token });
        t.refused(answer, "capability_scope_denied", {
          body: {
            requiredCapability: {
              can: "update",
              model: FAVORITE,
              syncGroup: `user:${user}`,
              scope: `${FAVORITE}.update`,
              constraints: { model: FAVORITE, syncGroup: `user:${user}` },
              issuer: await t.organization(),
              ttlSeconds: 600,
              nonce: /^stx_/,
            },
          },
        });
      },
    ),
    check("[L3] actor and updatedBy name the agent that wrote, and a person's key writes as a user.", async (t) => {
      const { deckId, group, participantId, token } = await agent(t);
      const id = t.id();
      const at = positionOf(t.answered(await t.post(notes, { id, data: { deckId } }, { token }), 200));
      const user = t.id();
      const person = await t.ephemeral({ user: { id: user }, syncGroups: [group] });
      t.answered(await t.patch(`${notes}/${id}`, { data: { title: "x" } }, { token: person.token }), 200);
      const entries = await t.entries(at - 1, [id]);
      t.is(
        entries.map(({ actor, participantKind }) => [actor, participantKind]),
        [
          [participantId, "agent"],
          [user, "user"],
        ],
        "the writers in the log",
      );
      const read = t.answered(await t.get(`${notes}/${id}`), 200);
      t.that(String(read.body.updatedBy).includes(user), "updatedBy to name the person", read.body.updatedBy);
    }),
  ],
};
