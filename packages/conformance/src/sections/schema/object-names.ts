import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { dataOf, entriesOf, idsOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const NAMES = Object.getOwnPropertyNames(Object.prototype);
const DECLARABLE = NAMES.filter((name) => /^[A-Za-z]/.test(name));

/** A tenant whose models, fields and groups all have such names. */
async function declared(t: Kit) {
  const { key: token } = await t.freshTenant(false);
  const text = { type: "string", nullable: true };
  const fields = {
    ...Object.fromEntries(DECLARABLE.map((name) => [name, text])),
    n: { type: "number" },
    l: { type: "array" },
  };
  const models = Object.fromEntries(
    DECLARABLE.map((name) => [name, { fields, groups: [{ kind: "deck", from: name }] }]),
  );
  t.answered(await t.post("/v1/schema", { models }, { token }), 201);
  return { token, models, fields };
}

export const section: SuiteSection = {
  title: "Names that every object of JavaScript has",
  cases: [
    check("[H15] A model of such a name is unknown until it is declared, and so is a field.", async (t) => {
      for (const name of NAMES) {
        const own = `/v1/models/${name}`;
        for (const answer of [await t.get(own), await t.get(`${own}/a`), await t.post(own, { id: "a", data: {} })])
          t.refused(answer, "unknown_model");
        const bytes = `{"id":"${t.id()}","data":{"${name}":1}}`;
        t.answered(await t.ask("POST", notes, { bytes }), 400, { type: "validation_error" });
        for (const query of [`order_by=${name}`, `filter[${name}]=1`, `${name}=1`])
          t.refused(await t.get(`${notes}?${query}`), "unknown_column");
        for (const model of [name, name.toUpperCase()]) {
          t.answered(await t.commit([{ action: "delete", model, id: "a" }]), 400);
          t.answered(await t.post("/v1/claims", { target: { model, id: "a" } }), 400);
        }
      }
    }),
    check("[H15] [M2] Models, fields, ids and groups of such names are as any other.", async (t) => {
      const { token, models, fields } = await declared(t);
      const to = { token };
      for (const model of DECLARABLE) {
        const path = `/v1/models/${model.toUpperCase()}`;
        for (const id of NAMES) {
          const data = Object.fromEntries(DECLARABLE.filter((name) => name !== id).map((name) => [name, id]));
          const readAt = positionOf(t.answered(await t.post(path, { id, data }, to), 200));
          t.is(dataOf(await t.get(`${path}/${id}`, to)), { id, ...data }, "the record");
          const changes = { n: { increment: 1 }, l: { add: [id] } };
          t.answered(await t.patch(`${path}/${id}`, { data: { [model]: "new" }, changes, readAt }, to), 200);
          t.refused(await t.patch(`${path}/${id}`, { data: { [model]: "other" }, readAt }, to), "stale_context");
          t.is(
            entriesOf(await t.get(`${path}/${id}/history`, to)).map((entry) => entry.model),
            [model, model],
            "its entries",
          );
        }
        const sorted = [...NAMES].sort();
        const list = await t.get(`${path}?order_by=${model}&filter[${model}]=new`, to);
        t.is([...idsOf(list)].sort(), sorted, "the records that a filter finds");
        t.is(idsOf(await t.get(`${path}?filter[${model}][null]=true`, to)), [], "the records without a value");
        t.answered(await t.post(`${path}/${NAMES[0]}/claim`, { field: model }, to), 201);
        for (const id of NAMES) t.answered(await t.post(`${path}/${id}/archive`, {}, to), 200);
        const { archived } = t.answered(await t.get(`${path}?state=archived`, to), 200).body;
        t.is(Object.keys(archived as object).sort(), sorted, "the ids with a time of archiving");
      }
      const snapshot = t
        .answered(await t.get("/v1/snapshot", to), 200)
        .text.trim()
        .split("\n");
      t.is(snapshot.length, DECLARABLE.length * NAMES.length + 2, "lines of the snapshot");
      const { n, ...rest } = fields;
      const renamed = { ...models, constructor: { fields: { ...rest, m: n } } };
      const renames = [{ model: "constructor", from: "n", to: "m" }];
      t.answered(await t.post("/v1/schema", { models: renamed, renames, force: true }, to), 201);
      t.answered(await t.get("/v1/models/constructor/toString", to), 200, { data: { m: 1 } });
    }),
    check("[H15] A presence room and a state of such names reach its members.", async (t) => {
      const stream = await t.connect();
      for (const name of NAMES.filter((one) => one !== "__proto__")) {
        stream.send({ frame: "presence", room: `confdeck:${name}`, state: { [name]: name } });
        const told = JSON.stringify(await stream.next("presence", { room: `confdeck:${name}` }));
        t.that(told.includes(`{"${name}":"${name}"}`), "the state", told);
      }
    }),
  ],
};
