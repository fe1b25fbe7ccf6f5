import { NOTE } from "../../models.ts";
import { someText } from "../../pattern.ts";
import { check, type SuiteSection } from "../../section.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "One receipt again",
  cases: [
    check("GET /v1/commits/{clientTxId} answers with the receipt of that commit.", async (t) => {
      const clientTxId = t.id();
      const made = t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }), 200);
      const again = t.answered(await t.get(`/v1/commits/${clientTxId}`), 200, { object: "commit_receipt" });
      t.is(again.body, made.body, "the receipt");
    }),
    check("A commit is found under the name that its key or the server gave it.", async (t) => {
      const key = t.id();
      const keyed = t.answered(await t.post(notes, { id: t.id(), data: {} }, { key }), 200);
      t.is((await t.get(`/v1/commits/${key}`)).body, keyed.body, "the receipt under its key");
      const bare = t.answered(await t.post(notes, { id: t.id(), data: {} }), 200, { clientTxId: someText });
      t.is((await t.get(`/v1/commits/${bare.body.clientTxId}`)).body, bare.body, "the receipt under the made name");
    }),
    check("A name may hold every visible ASCII character, escaped in the address.", async (t) => {
      const clientTxId = `${t.id()}/a?b#c%d"e`;
      const made = t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }), 200);
      t.is((await t.get(`/v1/commits/${encodeURIComponent(clientTxId)}`)).body, made.body, "the receipt");
    }),
    check("A held commit is found; its receipt is rejected.", async (t) => {
      const { path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const clientTxId = t.id();
      const held = await t.patch(path, { data: { title: "mine" }, readAt: at, onStale: "notify", clientTxId });
      t.answered(held, 200, { status: "rejected" });
      t.is(t.answered(await t.get(`/v1/commits/${clientTxId}`), 200).body, held.body, "the receipt");
    }),
    check("A name that nobody used, and one whose commit was refused, is 404 commit_not_found.", async (t) => {
      t.refused(await t.get(`/v1/commits/${t.id()}`), "commit_not_found");
      const clientTxId = t.id();
      t.refused(await t.post(notes, { id: t.id(), data: { colour: 1 }, clientTxId }), "unknown_field");
      t.refused(await t.get(`/v1/commits/${clientTxId}`), "commit_not_found");
    }),
    check("A scoped token finds its own commits and nobody else's.", async (t) => {
      const { group, deckId } = t.deck();
      const scope = { operations: [`${NOTE}.*`], syncGroups: [group] };
      const mine = await t.capability({ ...scope, participantId: t.id() });
      const other = await t.capability({ ...scope, participantId: t.id() });
      const [ours, theirs] = [t.id(), t.id()];
      const made = await t.post(notes, { id: t.id(), data: { deckId }, clientTxId: ours }, { token: mine.token });
      t.answered(made, 200);
      t.answered(await t.post(notes, { id: t.id(), data: { deckId }, clientTxId: theirs }), 200);
      t.is((await t.get(`/v1/commits/${ours}`, { token: mine.token })).body, made.body, "its own receipt");
      t.refused(await t.get(`/v1/commits/${ours}`, { token: other.token }), "commit_not_found");
      t.refused(await t.get(`/v1/commits/${theirs}`, { token: mine.token }), "commit_not_found");
    }),
    check("A secret key finds any participant's commit with ?participant=.", async (t) => {
      const { group, deckId } = t.deck();
      const participantId = t.id();
      const { token } = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
      const clientTxId = t.id();
      const made = t.answered(await t.post(notes, { id: t.id(), data: { deckId }, clientTxId }, { token }), 200);
      t.refused(await t.get(`/v1/commits/${clientTxId}`), "commit_not_found");
      const found = await t.get(`/v1/commits/${clientTxId}?participant=agent:${participantId}`);
      t.is(t.answered(found, 200).body, made.body, "the receipt");
    }),
  ],
};
