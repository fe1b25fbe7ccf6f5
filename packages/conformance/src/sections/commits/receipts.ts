import { absent, atLeast, oneOf, type Pattern, someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { positionOf, receiptOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

const CONFIRMED: Pattern = {
  object: "commit_receipt",
  clientTxId: someText,
  serverTxId: /^stx_[0-9A-Za-z]{24}$/,
  success: true,
  status: "confirmed",
  lastSyncId: atLeast(1),
  logId: /^log_[0-9A-Za-z]{24}$/,
  ops: 1,
  missingIds: absent,
  error: absent,
};

export const section: SuiteSection = {
  title: "Receipts",
  cases: [
    check(
      "A create, an update, an archive, an unarchive and a delete are answered 200 with a commit receipt that has every documented field.",
      async (t) => {
        const { path } = await t.note();
        t.answered(await t.post(notes, { id: t.id(), data: { title: "a" } }), 200, CONFIRMED);
        t.answered(await t.patch(path, { data: { title: "b" } }), 200, CONFIRMED);
        t.answered(await t.post(`${path}/archive`), 200, CONFIRMED);
        t.answered(await t.post(`${path}/unarchive`), 200, CONFIRMED);
        t.answered(await t.remove(path), 200, CONFIRMED);
      },
    ),
    check("The receipt is JSON in UTF-8.", async (t) => {
      const answer = await t.post(notes, { id: t.id(), data: {} });
      t.fits(answer.headers["content-type"], /^application\/json\b/, "the content type");
    }),
    check("The receipt has the clientTxId that the client sent.", async (t) => {
      const clientTxId = `mine-${t.id()}`;
      t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }), 200, { clientTxId });
      t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId: `${clientTxId}2` }, { key: t.id() }), 200, {
        clientTxId: `${clientTxId}2`,
      });
    }),
    check("Without a clientTxId, the receipt has the idempotency key in its place.", async (t) => {
      const key = `key-${t.id()}`;
      t.answered(await t.post(notes, { id: t.id(), data: {} }, { key }), 200, { clientTxId: key });
    }),
    check("Without a clientTxId and a key, the server makes a clientTxId: ctx_ and 24 of 0-9A-Za-z.", async (t) => {
      const [a, b] = [await t.post(notes, { id: t.id(), data: {} }), await t.post(notes, { id: t.id(), data: {} })];
      t.answered(a, 200, { clientTxId: /^ctx_[0-9A-Za-z]{24}$/ });
      t.answered(b, 200, { clientTxId: /^ctx_[0-9A-Za-z]{24}$/ });
      t.that(receiptOf(a).clientTxId !== receiptOf(b).clientTxId, "two different names");
      t.that(receiptOf(a).serverTxId !== receiptOf(b).serverTxId, "two different serverTxIds");
    }),
    check("[I7] A clientTxId is 1 to 255 visible ASCII characters, else 400.", async (t) => {
      for (const clientTxId of ["", "a b", "ä", "a\n", "x".repeat(256)])
        t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId }), 400, { param: "clientTxId" });
      const longest = `${t.id()}!~`.padEnd(255, "x");
      t.answered(await t.post(notes, { id: t.id(), data: {}, clientTxId: longest }), 200, { clientTxId: longest });
    }),
    check("A clientId is 1 to 64 of A-Z a-z 0-9 _ -, else 400.", async (t) => {
      for (const clientId of ["a b", "a.b", "ä", "x".repeat(65)])
        t.answered(await t.post(notes, { id: t.id(), data: {}, clientId }), 400, { param: "clientId" });
      t.answered(await t.post(notes, { id: t.id(), data: {}, clientId: "x".repeat(64) }), 200);
    }),
    check("lastSyncId is the position of the last entry written, and the log has it there.", async (t) => {
      const ids = [t.id(), t.id(), t.id()];
      const answer = await t.commit(ids.map((id) => ({ action: "create", model: NOTE, id, data: {} })));
      t.answered(answer, 200, { ops: 3, lastSyncId: atLeast(3) });
      const entries = await t.entries(positionOf(answer) - 3, ids);
      t.is(
        entries.map(({ syncId, id }) => [syncId, id]),
        ids.map((id, i) => [positionOf(answer) - 2 + i, id]),
        "the log",
      );
    }),
    check("If nothing was written, lastSyncId is the head of the log.", async (t) => {
      const { path, at } = await t.note({ title: "same" });
      t.answered(await t.patch(path, { data: { title: "same" } }), 200, {
        status: "confirmed",
        lastSyncId: atLeast(at),
      });
    }),
    check("ops counts all operations of the request, also those that changed nothing.", async (t) => {
      const { id } = await t.note({ title: "same" });
      const update = { action: "update", model: NOTE, id, data: { title: "same" } };
      t.answered(await t.commit([update, update, { action: "delete", model: NOTE, id: t.id() }]), 200, { ops: 3 });
    }),
    check(
      "[H1] A refused write is answered with the error envelope, which carries the rejected receipt.",
      async (t) => {
        const clientTxId = t.id();
        const answer = await t.post(notes, { id: t.id(), data: { colour: 1 }, clientTxId });
        t.refused(answer, "unknown_field", {
          param: "data.colour",
          body: {
            receipt: {
              object: "commit_receipt",
              clientTxId,
              serverTxId: /^stx_/,
              success: false,
              status: "rejected",
              error: { code: "unknown_field", message: someText, field: oneOf("data.colour", "colour") },
            },
          },
        });
      },
    ),
  ],
};
