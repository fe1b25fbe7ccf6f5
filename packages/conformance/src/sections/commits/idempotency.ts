import { atLeast } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { positionOf } from "../../protocol/answers.ts";
import { sendRaw } from "../../transport/raw.ts";

const notes = `/v1/models/${NOTE}`;
const REPLAYED = "idempotent-replayed";

export const section: SuiteSection = {
  title: "Idempotency",
  cases: [
    check(
      "[I1] The same key with the same body gets the same receipt, byte for byte, and idempotent-replayed: true.",
      async (t) => {
        const [body, key] = [{ id: t.id(), data: { title: "once" } }, t.id()];
        const first = t.answered(await t.post(notes, body, { key }), 200, { status: "confirmed" });
        t.is(first.headers[REPLAYED], undefined, "idempotent-replayed of the first answer");
        const again = t.answered(await t.post(notes, body, { key }), 200);
        t.is(again.text, first.text, "the second receipt");
        t.is(again.headers[REPLAYED], "true", "idempotent-replayed");
        t.is((await t.entries(positionOf(first) - 1, [body.id])).length, 1, "entries");
      },
    ),
    check("[I1] Updates, deletes, archives and batches replay their receipts too.", async (t) => {
      const { id, path, at } = await t.note();
      const twice = async (send: (key: string) => ReturnType<typeof t.post>) => {
        const key = t.id();
        const first = t.answered(await send(key), 200, { status: "confirmed" });
        const again = t.answered(await send(key), 200);
        t.is([again.text, again.headers[REPLAYED]], [first.text, "true"], "receipt and header of the second answer");
      };
      await twice((key) => t.patch(path, { data: { title: "two" } }, { key }));
      await twice((key) => t.post(`${path}/archive`, undefined, { key }));
      await twice((key) => t.post(`${path}/unarchive`, undefined, { key }));
      await twice((key) => t.commit([{ action: "update", model: NOTE, id, data: { order: 7 } }], {}, { key }));
      await twice((key) => t.remove(path, { key }));
      const verbs = (await t.entries(at, [id])).map(({ verb }) => verb);
      t.is(verbs, ["updated", "archived", "unarchived", "updated", "deleted"], "the verbs in the log");
    }),
    check("[I1] A replay is the original receipt, even if the record has changed since.", async (t) => {
      const { id, path } = await t.note();
      const key = t.id();
      const first = t.answered(await t.patch(path, { data: { title: "a" } }, { key }), 200);
      t.answered(await t.patch(path, { data: { title: "b" } }), 200);
      t.is((await t.patch(path, { data: { title: "a" } }, { key })).text, first.text, "the receipt");
      t.answered(await t.get(path), 200, { id, data: { title: "b" } });
      t.answered(await t.remove(path), 200);
      t.is((await t.patch(path, { data: { title: "a" } }, { key })).text, first.text, "the receipt after a delete");
      t.refused(await t.get(path), "record_not_found");
    }),
    check(
      "[I1] A hundred concurrent requests with one key write one log entry and get the same receipt, byte for byte.",
      async (t) => {
        const [body, key] = [{ id: t.id(), data: { title: "once" } }, t.id()];
        const answers = await Promise.all(Array.from({ length: 100 }, () => t.post(notes, body, { key })));
        t.is(
          answers.map(({ status }) => status).filter((status) => status !== 200),
          [],
          "answers that are not 200",
        );
        t.is(new Set(answers.map(({ text }) => text)).size, 1, "different receipts");
        const firsts = answers.filter(({ headers }) => headers[REPLAYED] !== "true").length;
        t.is(firsts, 1, "answers that are no replay");
        t.is((await t.entries(positionOf(answers[0] as never) - 1, [body.id])).length, 1, "entries");
      },
    ),
    check("[I2] The same key with another body is 409 idempotency_conflict, and nothing is written.", async (t) => {
      const [id, key] = [t.id(), t.id()];
      t.answered(await t.post(notes, { id, data: { title: "one" } }, { key }), 200);
      t.refused(await t.post(notes, { id, data: { title: "two" } }, { key }), "idempotency_conflict");
      t.refused(await t.post(notes, { id: t.id(), data: { title: "one" } }, { key }), "idempotency_conflict");
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "one" } });
    }),
    check("[I2] The same key at another endpoint, or on another record, is 409 idempotency_conflict.", async (t) => {
      const [a, b, key] = [await t.note(), await t.note(), t.id()];
      t.answered(await t.post(`${a.path}/archive`, undefined, { key }), 200);
      t.refused(await t.post(`${b.path}/archive`, undefined, { key }), "idempotency_conflict");
      t.refused(await t.post(`${a.path}/unarchive`, undefined, { key }), "idempotency_conflict");
      t.refused(await t.remove(a.path, { key }), "idempotency_conflict");
      t.refused(await t.commit([{ action: "archive", model: NOTE, id: a.id }], {}, { key }), "idempotency_conflict");
    }),
    check(
      "[I8] Bodies are compared by their meaning: order of keys, aliases, nulls and the key itself do not count.",
      async (t) => {
        const { path, at } = await t.note();
        const key = t.id();
        const first = await t.patch(
          path,
          { data: { title: "a", order: 1 }, onStale: "overwrite", readAt: at },
          { key },
        );
        t.answered(first, 200);
        const again = {
          intent: null,
          readAt: at,
          onStale: "force",
          data: { order: 1, title: "a" },
          idempotencyKey: key,
        };
        t.is((await t.patch(path, again)).text, first.text, "the receipt");
        const bytes = `{ "readAt":${at}.0, "data": { "order":1e0, "title":"\\u0061" }, "onStale":"force" }`;
        t.is((await t.ask("PATCH", path, { bytes, key })).text, first.text, "the receipt of another spelling");
      },
    ),
    check("[I4] A refused request does not use up its key: the corrected body may have the same key.", async (t) => {
      const [id, key] = [t.id(), t.id()];
      t.refused(await t.post(notes, { id, data: { colour: 1 } }, { key }), "unknown_field");
      t.answered(await t.post(notes, { id, data: { title: "right" } }, { key }), 200, { status: "confirmed" });
      const { path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const stale = t.id();
      t.refused(await t.patch(path, { data: { title: "mine" }, readAt: at }, { key: stale }), "stale_context");
      t.refused(await t.patch(path, { data: { title: "mine" }, claim: "c1" }, { key: stale }), "claim_lost");
      const done = t.answered(await t.patch(path, { data: { title: "mine" } }, { key: stale }), 200);
      t.is(done.headers[REPLAYED], undefined, "idempotent-replayed");
    }),
    check(
      "[I4] A held request uses up its key: the same key gets the held receipt, even if the record could now be written.",
      async (t) => {
        const { path, at } = await t.note();
        const [key, body] = [t.id(), { data: { title: "mine" }, readAt: at, onStale: "notify" }];
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        const held = t.answered(await t.patch(path, body, { key }), 200, { status: "rejected" });
        t.answered(await t.patch(path, { data: { title: "mine" } }), 200);
        const again = t.answered(await t.patch(path, body, { key }), 200);
        t.is(again.text, held.text, "the receipt");
        t.is([again.headers[REPLAYED], again.headers["holdfast-held"]], ["true", "true"], "the headers");
      },
    ),
    check("[I5] Without a key the clientTxId serves as one.", async (t) => {
      const body = { id: t.id(), data: { title: "once" }, clientTxId: t.id() };
      const first = t.answered(await t.post(notes, body), 200);
      const again = t.answered(await t.post(notes, body), 200);
      t.is([again.text, again.headers[REPLAYED]], [first.text, "true"], "receipt and header");
      t.refused(await t.post(notes, { ...body, data: { title: "two" } }), "idempotency_conflict");
    }),
    check(
      "[I5] A clientTxId is unique for its participant: used again under another key it is 409 idempotency_conflict.",
      async (t) => {
        const clientTxId = t.id();
        t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }, { key: t.id() }), 200);
        const another = { id: t.id(), data: {}, clientTxId };
        t.refused(await t.post(notes, another, { key: t.id() }), "idempotency_conflict", { param: "clientTxId" });
        t.refused(await t.get(`${notes}/${another.id}`), "record_not_found");
      },
    ),
    check(
      "[I6] An operation that repeats its own key is skipped and counted; another operation with that key is 409.",
      async (t) => {
        const [first, second] = [t.id(), t.id()];
        const operation = { action: "create", model: NOTE, id: first, data: { title: "once" }, idempotencyKey: t.id() };
        const other = { action: "create", model: NOTE, id: second, data: {} };
        const made = t.answered(await t.commit([operation]), 200, { ops: 1 });
        t.answered(await t.commit([operation, other]), 200, { status: "confirmed", ops: 2, lastSyncId: atLeast(1) });
        t.is((await t.entries(positionOf(made) - 1, [first])).length, 1, "entries of the first record");
        t.answered(await t.get(`${notes}/${second}`), 200);
        const changed = { ...operation, data: { title: "changed" } };
        t.refused(await t.commit([changed]), "idempotency_conflict", { param: /^operations\[0\]/ });
      },
    ),
    check("[I6] An operation with a used key is skipped even after the record was changed or deleted.", async (t) => {
      const { id, path } = await t.note({ title: "one" });
      const operation = { action: "update", model: NOTE, id, data: { title: "two" }, idempotencyKey: t.id() };
      t.answered(await t.commit([operation]), 200);
      t.answered(await t.patch(path, { data: { title: "three" } }), 200);
      t.answered(await t.commit([operation]), 200, { status: "confirmed", ops: 1 });
      t.answered(await t.get(path), 200, { data: { title: "three" } });
    }),
    check("[I6] Keys of operations and keys of commits are independent.", async (t) => {
      const key = t.id();
      const create = () => ({ action: "create", model: NOTE, id: t.id(), data: {} });
      t.answered(await t.commit([{ ...create(), idempotencyKey: key }]), 200, { status: "confirmed" });
      t.answered(await t.commit([create()], {}, { key }), 200, { status: "confirmed" });
    }),
    ...checkEach(
      ["", " ", "a b", "\u00e9", "x".repeat(256), '""'],
      (key) =>
        `[I7] ${JSON.stringify(key.length > 20 ? `${key.length} characters` : key)} is not a key: 400 invalid_idempotency_key.`,
      async ({ post, id, refused }, key) =>
        refused(
          await post(notes, { id: id(), data: {} }, { headers: { "idempotency-key": key } }),
          "invalid_idempotency_key",
        ),
    ),
    check("[I7] Double quotes around a key are not part of it; a key may have 255 characters.", async (t) => {
      const [body, key] = [{ id: t.id(), data: {} }, t.id()];
      const first = t.answered(await t.post(notes, body, { headers: { "idempotency-key": `"${key}"` } }), 200);
      t.is((await t.post(notes, body, { key })).text, first.text, "the receipt");
      t.answered(await t.post(notes, { id: t.id(), data: {} }, { key: t.id().padEnd(255, "!") }), 200);
    }),
    check("[I7] Two Idempotency-Key headers are 400 invalid_idempotency_key.", async (t) => {
      const body = JSON.stringify({ id: t.id(), data: {} });
      const lines = [
        `POST ${notes} HTTP/1.1`,
        "host: x",
        `authorization: Bearer ${t.environment.key}`,
        "content-type: application/json",
        `content-length: ${body.length}`,
        "idempotency-key: a",
        "idempotency-key: b",
        "connection: close",
      ];
      const text = await sendRaw(t.environment.url, `${lines.join("\r\n")}\r\n\r\n${body}`);
      t.fits(text, /^HTTP\/1\.1 400 /, "the first line");
      t.fits(text, /"invalid_idempotency_key"/, "the body");
    }),
    check("[I3] Keys belong to their participant: another participant may use the same key.", async (t) => {
      const { group, deckId } = t.deck();
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [group] });
      const [key, ids] = [t.id(), [t.id(), t.id()]];
      t.answered(await t.post(notes, { id: ids[0], data: { deckId } }, { key }), 200);
      t.answered(await t.post(notes, { id: ids[1], data: { deckId } }, { key, token }), 200, { status: "confirmed" });
    }),
    check("[I3] Keys belong to their organization and environment: another tenant may use the same key.", async (t) => {
      const other = await t.freshTenant();
      const [key, id] = [t.id(), t.id()];
      t.answered(await t.post(notes, { id, data: { title: "ours" } }, { key }), 200);
      for (const token of [other.key, t.otherKey()])
        t.answered(await t.post(notes, { id, data: { title: "theirs" } }, { key, token }), 200, {
          status: "confirmed",
        });
    }),
  ],
};
