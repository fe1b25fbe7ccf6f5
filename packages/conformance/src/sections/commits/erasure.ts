import { absent, exactly } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { entriesOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

const erase = (t: Kit, path: string, options: Parameters<Kit["remove"]>[1] = {}) =>
  t.remove(`${path}?erase=true`, options);
const history = async (t: Kit, path: string) => entriesOf(t.answered(await t.get(`${path}/history`), 200));
const verbs = async (t: Kit, path: string) => (await history(t, path)).map(({ verb }) => verb);

export const section: SuiteSection = {
  title: "Erasing records",
  cases: [
    check(
      "[ER2] Positions and verbs stay: older entries read data: null, erased: true, and one entry says erased.",
      async (t) => {
        const { id, path, at } = await t.note({ title: "to be erased" });
        t.answered(await t.patch(path, { data: { title: "more" } }), 200);
        t.answered(await t.post(`${path}/archive`), 200);
        const before = await history(t, path);
        const clientTxId = t.id();
        const erased = t.answered(await erase(t, path, { json: { clientTxId } }), 200, { status: "confirmed" });
        t.refused(await t.get(path), "record_not_found");
        const after = await history(t, path);
        t.is(
          after.slice(0, 3),
          before.map((entry) => ({ ...entry, data: null, erased: true })),
          "the older entries",
        );
        const last = { verb: "erased", syncId: positionOf(erased), data: null, changedFields: null, erased: absent };
        t.fits(after[3], { ...last, clientTxId }, "the entry of the erasure");
        t.is(await t.entries(at - 1, [id]), after, "the entries in the log");
      },
    ),
    check(
      "[ER3] A record that was deleted is erased too; one that was erased, or never was, is missing.",
      async (t) => {
        const { id, path } = await t.note();
        t.answered(await t.remove(path), 200);
        t.answered(await erase(t, path), 200, { missingIds: absent });
        t.is(await verbs(t, path), ["created", "deleted", "erased"], "the verbs");
        t.answered(await erase(t, path), 200, { status: "confirmed", missingIds: [id] });
        const never = t.id();
        t.answered(await erase(t, `${notes}/${never}`), 200, { status: "confirmed", missingIds: [never] });
        t.answered(await t.post(notes, { id, data: { title: "again" } }), 200);
        t.fits((await history(t, path)).at(-1)?.data, { title: "again" }, "the record that is made again");
        t.answered(await erase(t, path), 200);
        t.is(await verbs(t, path), ["created", "deleted", "erased", "created", "erased"], "the verbs");
      },
    ),
    check(
      "[ER4] An erasure is a write: claims stand against it and end with it, and its key is remembered.",
      async (t) => {
        const { id, path } = await t.note();
        const { token } = await t.capability({ participantId: t.id(), wideScope: true });
        t.answered(await t.post(`${path}/claim`, {}, { token }), 201);
        t.refused(await erase(t, path), "claim_conflict");
        t.answered(await t.remove(`${path}/claim`, { token }), 200);
        const own = t.answered(await t.post(`${path}/claim`, {}), 201).body.id;
        const key = t.id();
        const first = t.answered(await erase(t, path, { key }), 200);
        t.is((await erase(t, path, { key })).text, first.text, "the receipt of the same key");
        t.refused(await t.remove(path, { key }), "idempotency_conflict");
        t.answered(await t.get(`/v1/claims/${own}`), 200, { status: "canceled" });
        t.refused(await t.remove(`${path}?erase=yes`), "invalid_value", { param: "erase" });
        t.refused(await t.remove(`${path}?erased=true`), "unknown_parameter", { param: "erased" });
        t.answered(await t.commit([{ action: "erase", model: NOTE, id }]), 400, { type: "validation_error" });
      },
    ),
    check(
      "[ER5] A token erases if its operations name <model>.erase, which no wildcard covers, and in its groups.",
      async (t) => {
        const { id, path, group } = await t.note();
        const mint = async (operation: string, syncGroup: string) =>
          (await t.capability({ operations: [operation], syncGroups: [syncGroup] })).token;
        const organization = `org:${await t.organization()}`;
        for (const wild of [`${NOTE}.*`, "*.*", `${NOTE}.delete`])
          t.refused(await erase(t, path, { token: await mint(wild, organization) }), "capability_scope_denied", {
            body: { requiredCapability: { can: "erase", scope: `${NOTE}.erase` } },
          });
        const elsewhere = await mint(`${NOTE}.erase`, t.deck().group);
        t.refused(await erase(t, path, { token: elsewhere }), "capability_scope_denied");
        t.answered(await t.remove(path), 200);
        t.answered(await erase(t, path, { token: elsewhere }), 200, { missingIds: exactly([id]) });
        t.that((await history(t, path))[0]?.data !== null, "the values to be there still");
        const token = await mint(`${NOTE}.erase`, group);
        t.answered(await erase(t, path, { token }), 200, { missingIds: absent });
      },
    ),
  ],
};
