import { absent } from "../../assertions/pattern.ts";
import type { FieldShape, ModelShape } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { type SchemaTenant, schemaTenant } from "../../kit/schema-tenant.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { dataOf, entriesOf } from "../../protocol/answers.ts";

const text: FieldShape = { type: "string", nullable: true };
const shape = (fields: Readonly<Record<string, FieldShape>>): ModelShape => ({ fields: { title: text, ...fields } });
const UNIQUE = shape({ email: { ...text, unique: true }, area: text, slug: { ...text, unique: ["area", "slug"] } });

/** The operations of a case's own model. */
const operations = ({ name: model }: SchemaTenant) => ({
  create: (id: string, data: object) => ({ action: "create", model, id, data }),
  update: (id: string, data: object) => ({ action: "update", model, id, data }),
  remove: (id: string) => ({ action: "delete", model, id }),
});

async function opened(t: Kit, model: (name: string) => ModelShape) {
  const tenant = await schemaTenant(t);
  t.answered(await tenant.push(model(tenant.name)), 201);
  const { token, path } = tenant;
  return {
    tenant,
    path,
    token,
    ...operations(tenant),
    commit: (...list: readonly object[]) => t.commit(list, {}, { token }),
    data: async (id: string) => dataOf(await t.get(`${path}/${id}`, { token })),
  };
}

// The cases push models of their own, whose records the service stores: for a table or a datasource of the caller's,
// neither `unique` nor `onDelete` can be declared.
export const section: SuiteSection = {
  title: "Unique fields and checked references",
  cases: [
    check(
      "[M24] [M44] A value that another record has is 409 not_unique, with the fields and that record.",
      async (t) => {
        const { create, update, remove, commit, path, token, tenant } = await opened(t, () => UNIQUE);
        const [a, b] = [t.id(), t.id()];
        t.answered(await commit(create(a, { email: "x" })), 200, { status: "confirmed" });
        const refused = await t.post(path, { id: b, data: { email: "x" } }, { token });
        t.refused(refused, "not_unique", { param: "data.email" });
        t.answered(refused, 409, { fields: ["email"], records: [{ model: tenant.name, id: a }] });
        t.answered(await t.post(`${path}/${a}/archive`, {}, { token }), 200);
        t.refused(await commit(create(b, { email: "x" })), "not_unique");
        t.answered(await commit(remove(a), create(b, { email: "x" })), 200, { status: "confirmed" });
        t.answered(await commit(update(b, { email: "x", title: "same" })), 200, { status: "confirmed" });
      },
    ),
    check("[M24] [M45] Fields count together; null and absent values never collide.", async (t) => {
      const { create, update, commit } = await opened(t, () => UNIQUE);
      const [a, b, c, d] = [t.id(), t.id(), t.id(), t.id()];
      t.answered(await commit(create(a, { area: "1", slug: "s" }), create(b, { area: "2", slug: "s" })), 200);
      t.answered(await commit(create(c, { slug: "s" }), create(d, { slug: "s", area: null })), 200);
      t.refused(await commit(update(c, { area: "1" })), "not_unique");
      t.refused(await commit(update(b, { area: "1" })), "not_unique");
      t.answered(await commit(update(a, { area: "2" }), update(b, { area: "1" })), 200, { status: "confirmed" });
    }),
    check("[M25] Of writes at once, also in one bulk, one gets a value.", async (t) => {
      const { create, commit, token } = await opened(t, () => UNIQUE);
      const codes = await Promise.all(
        Array.from({ length: 6 }, async () => (await commit(create(t.id(), { email: "x" }))).status),
      );
      t.is(codes.sort(), [200, 409, 409, 409, 409, 409], "the statuses");
      const commits = [t.id(), t.id()].map((id) => ({ clientTxId: id, operations: [create(id, { email: "y" })] }));
      const { body } = t.answered(await t.post("/v1/commits/bulk", { commits }, { token }), 200);
      t.is(
        (body.data as { httpStatus: number }[]).map(({ httpStatus }) => httpStatus),
        [200, 409],
        "the statuses in the bulk",
      );
      const both = await commit(create(t.id(), { email: "z" }), create(t.id(), { email: "z" }));
      t.refused(both, "not_unique", { param: "operations[1].data.email" });
    }),
    check("[M26] A push that makes a field with equal values unique is 409 with the list.", async (t) => {
      const { tenant, create, update, commit } = await opened(t, () => shape({}));
      const [a, b] = [t.id(), t.id()];
      t.answered(await commit(create(a, { title: "x" }), create(b, { title: "x" })), 200);
      const unique = shape({ title: { ...text, unique: true } });
      t.refused(await tenant.push(unique), "schema_incompatible");
      t.refused(await tenant.push(unique, { force: true }), "schema_incompatible");
      t.answered(await commit(update(b, { title: "y" })), 200);
      t.answered(await tenant.push(unique), 201);
      t.refused(await commit(update(b, { title: "x" })), "not_unique");
    }),
    check("[M27] [M46] A checked reference names a record that exists: else 400 invalid_reference.", async (t) => {
      const { create, update, remove, commit, path, token } = await opened(t, (references) =>
        shape({
          parent: { ...text, references, onDelete: "nothing" },
          friends: { type: "array", items: "string", references, onDelete: "nothing" },
        }),
      );
      const [a, b, c] = [t.id(), t.id(), t.id()];
      t.refused(await commit(create(a, {}), update(a, { friends: [a, b] })), "invalid_reference", {
        param: "operations[1].data.friends",
      });
      t.refused(await commit(create(a, { parent: b }), create(b, {}), remove(b)), "invalid_reference");
      t.refused(await t.post(path, { id: a, data: { parent: b } }, { token }), "invalid_reference", {
        param: "data.parent",
      });
      t.answered(await commit(create(a, { parent: b }), create(b, {})), 200, { status: "confirmed" });
      t.answered(await t.post(`${path}/${b}/archive`, {}, { token }), 200);
      t.answered(await commit(create(c, { parent: b })), 200, { status: "confirmed" });
      t.answered(await commit(remove(b)), 200, { status: "confirmed" });
      t.answered(await commit(update(a, { title: "x" })), 200, { status: "confirmed" });
      t.refused(await commit(create(t.id(), { parent: b })), "invalid_reference");
    }),
    check("[M10] References are stored and read, and one to an unknown model is 400 at its field.", async (t) => {
      const { name, path, token, push } = await schemaTenant(t);
      const fields = { parent: { ...text, references: name }, also: { type: "array", references: name.toLowerCase() } };
      t.answered(await push({ fields }), 201);
      const { body } = t.answered(await t.get("/v1/schema", { token }), 200);
      t.is((body.models as Record<string, ModelShape>)[name]?.fields, fields, "the fields");
      const unknown = await push({ fields: { parent: { ...text, references: "ConfNothing" } } });
      t.refused(unknown, "invalid_schema", { param: `models.${name}.fields.parent` });
      t.answered(await t.get(path, { token }), 200);
    }),
    check(
      "[M28] [M47] cascade and setNull act in the commit of the delete, with an entry for each record.",
      async (t) => {
        const { create, update, remove, commit, data, token, path } = await opened(t, (references) =>
          shape({
            parent: { ...text, references, onDelete: "cascade" },
            friend: { ...text, references, onDelete: "setNull" },
            friends: { type: "array", items: "string", references, onDelete: "setNull" },
          }),
        );
        const [root, child, leaf, other] = [t.id(), t.id(), t.id(), t.id()];
        t.answered(
          await commit(
            create(root, {}),
            create(child, { parent: root }),
            create(leaf, { parent: child }),
            update(root, { parent: leaf }),
            create(other, { friend: leaf, friends: [leaf, other] }),
          ),
          200,
        );
        const before = await t.head({ token });
        const { body } = t.answered(await commit(remove(root)), 200, { status: "confirmed" });
        const entries = await t.entries(before, undefined, { token });
        t.is(
          entries.map(({ verb, id }) => `${verb} ${id}`),
          [`deleted ${root}`, `deleted ${child}`, `deleted ${leaf}`, `updated ${other}`],
          "the entries",
        );
        t.is([...new Set(entries.map(({ clientTxId }) => clientTxId))], [body.clientTxId], "their commit");
        t.refused(await t.get(`${path}/${leaf}`, { token }), "record_not_found");
        const left = await data(other);
        t.is([left.friend, left.friends], [null, [other]], "what is left of the references");
        const history = entriesOf(t.answered(await t.get(`${path}/${child}/history`, { token }), 200));
        t.is(history.length, 2, "the entries of the child");
      },
    ),
    check("[M28] [M48] restrict is 409 still_referenced, unless the commit removes the reference.", async (t) => {
      const { create, update, remove, commit, tenant } = await opened(t, (references) =>
        shape({ parent: { ...text, references, onDelete: "restrict" } }),
      );
      const [a, b] = [t.id(), t.id()];
      t.answered(await commit(create(a, {}), create(b, { parent: a })), 200);
      const refused = await commit(remove(a));
      t.refused(refused, "still_referenced");
      t.answered(refused, 409, { records: [{ model: tenant.name, id: b }], fields: absent });
      t.answered(await commit(remove(a), update(b, { parent: null })), 200, { status: "confirmed" });
    }),
    check("[M29] A claim of another participant on a record that would change is 409 claim_conflict.", async (t) => {
      const { create, remove, commit, path, token } = await opened(t, (references) =>
        shape({ parent: { ...text, references, onDelete: "cascade" } }),
      );
      const [a, b] = [t.id(), t.id()];
      t.answered(await commit(create(a, {}), create(b, { parent: a })), 200);
      const made = await t.post("/v1/capabilities", { participantId: t.id(), wideScope: true }, { token });
      const holder = String(made.body.token);
      t.answered(await t.post(`${path}/${b}/claim`, {}, { token: holder }), 201);
      t.refused(await commit(remove(a)), "claim_conflict");
      t.answered(await t.remove(`${path}/${b}/claim`, { token: holder }), 200);
      t.answered(await commit(remove(a)), 200, { status: "confirmed" });
    }),
  ],
};
