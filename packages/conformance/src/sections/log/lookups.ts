import { someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "Commit lookups",
  cases: [
    check("[I10] GET /v1/commits/{clientTxId} answers with the receipt of that commit.", async (t) => {
      const clientTxId = t.id();
      const made = t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }), 200);
      const again = t.answered(await t.get(`/v1/commits/${clientTxId}`), 200, { object: "commit_receipt" });
      t.is(again.text, made.text, "the receipt, byte for byte");
      t.is(again.headers["content-type"], made.headers["content-type"], "the content type");
      t.is(again.headers["idempotent-replayed"], undefined, "idempotent-replayed: nothing is sent again");
      t.is((await t.get(`/api/v1/commits/${clientTxId}`)).text, made.text, "the receipt under /api");
    }),
    check("[I10] A commit is found under the name that its key or the server gave it.", async (t) => {
      const [key, clientTxId] = [t.id(), t.id()];
      const keyed = t.answered(await t.post(notes, { id: t.id(), data: {} }, { key }), 200);
      t.is((await t.get(`/v1/commits/${key}`)).text, keyed.text, "the receipt under its key");
      const both = t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }, { key: `${key}2` }), 200);
      for (const name of [clientTxId, `${key}2`])
        t.is((await t.get(`/v1/commits/${name}`)).text, both.text, "the receipt under either of its names");
      const bare = t.answered(await t.post(notes, { id: t.id(), data: {} }), 200, { clientTxId: someText });
      t.is((await t.get(`/v1/commits/${bare.body.clientTxId}`)).text, bare.text, "the receipt under the made name");
    }),
    check("[I10] A commit of a bulk is found; an operation's own key does not find its commit.", async (t) => {
      const [clientTxId, idempotencyKey] = [t.id(), t.id()];
      const operations = [{ action: "create", model: NOTE, id: t.id(), data: {}, idempotencyKey }];
      const bulk = t.answered(await t.post("/v1/commits/bulk", { commits: [{ clientTxId, operations }] }), 200);
      const { httpStatus: _, ...receipt } = rowsOf(bulk)[0] ?? {};
      t.is((await t.get(`/v1/commits/${clientTxId}`)).body, receipt, "the receipt");
      for (const name of [idempotencyKey, `operation%20${idempotencyKey}`, `%20${idempotencyKey}`, "bulk"])
        t.refused(await t.get(`/v1/commits/${name}`), "commit_not_found");
    }),
    check("[I10] [H7] A name may have every visible ASCII character, percent-encoded in the path.", async (t) => {
      // Names belong to their participant: a new participant may use them all.
      const { deckId, group } = t.deck();
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [group] });
      const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join("");
      for (const name of [visible, "%".repeat(255), "/".repeat(255), "..", "a/b?c#d", '"quoted"', "%2F", "\\"]) {
        const made = await t.post(notes, { id: t.id(), data: { deckId }, clientTxId: name }, { token });
        t.answered(made, 200);
        t.is(
          (await t.get(`/v1/commits/${encodeURIComponent(name)}`, { token })).text,
          made.text,
          `the receipt of ${name}`,
        );
      }
    }),
    check("[I10] A held commit is found; its receipt is rejected.", async (t) => {
      const { path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const clientTxId = t.id();
      const held = await t.patch(path, { data: { title: "mine" }, readAt: at, onStale: "notify", clientTxId });
      t.answered(held, 200, { status: "rejected" });
      const again = t.answered(await t.get(`/v1/commits/${clientTxId}`), 200);
      t.is([again.text, again.headers["holdfast-held"]], [held.text, "true"], "the receipt, and holdfast-held");
    }),
    check("[I10] An unused name, and one whose commit was refused, is 404 commit_not_found.", async (t) => {
      t.refused(await t.get(`/v1/commits/${t.id()}`), "commit_not_found");
      const clientTxId = t.id();
      t.refused(await t.post(notes, { id: t.id(), data: { colour: 1 }, clientTxId }), "unknown_field");
      t.refused(await t.get(`/v1/commits/${clientTxId}`), "commit_not_found");
    }),
    check("[I10] A scoped token finds its own commits only.", async (t) => {
      const { group, deckId } = t.deck();
      const scope = { operations: [`${NOTE}.*`], syncGroups: [group] };
      const participantId = t.id();
      const mine = { participantId, ...(await t.capability({ ...scope, participantId })) };
      const other = await t.capability({ ...scope, participantId: t.id() });
      const [ours, theirs] = [t.id(), t.id()];
      const made = await t.post(notes, { id: t.id(), data: { deckId }, clientTxId: ours }, { token: mine.token });
      t.answered(made, 200);
      t.answered(await t.post(notes, { id: t.id(), data: { deckId }, clientTxId: theirs }), 200);
      t.is((await t.get(`/v1/commits/${ours}`, { token: mine.token })).body, made.body, "its own receipt");
      t.refused(await t.get(`/v1/commits/${ours}`, { token: other.token }), "commit_not_found");
      t.refused(await t.get(`/v1/commits/${theirs}`, { token: mine.token }), "commit_not_found");
      const self = `?participant=agent:${mine.participantId}`;
      t.is((await t.get(`/v1/commits/${ours}${self}`, { token: mine.token })).text, made.text, "its own, by its name");
      for (const query of [self, "?participant=nonsense"])
        t.refused(await t.get(`/v1/commits/${ours}${query}`, { token: other.token }), "secret_key_required", {
          param: "participant",
        });
    }),
    check("[I10] A secret key finds any participant's commit with ?participant=.", async (t) => {
      const { group, deckId } = t.deck();
      const participantId = t.id();
      const { token } = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
      const clientTxId = t.id();
      const made = t.answered(await t.post(notes, { id: t.id(), data: { deckId }, clientTxId }, { token }), 200);
      t.refused(await t.get(`/v1/commits/${clientTxId}`), "commit_not_found");
      const found = await t.get(`/v1/commits/${clientTxId}?participant=agent:${participantId}`);
      t.is(t.answered(found, 200).text, made.text, "the receipt");
      const path = `/v1/commits/${clientTxId}?participant=`;
      t.refused(await t.get(`${path}user:nobody`), "commit_not_found");
      t.refused(await t.get(`${path}agent:${participantId}`, { token: t.otherKey() }), "commit_not_found");
      for (const wrong of ["", "ann", "robot:ann", "user:", "user:a%00", "user:a%20b", "__proto__:a"])
        t.refused(await t.get(path + wrong), "invalid_value", { param: "participant" });
      t.refused(await t.get(`/v1/commits/${clientTxId}?who=me`), "unknown_parameter", { param: "who" });
    }),
  ],
};
