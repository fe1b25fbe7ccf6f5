import { NOTE, WHOLE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "Ids and model names",
  cases: [
    check(
      "[H8] An id may have 255 characters of A-Z a-z 0-9 . _ : ~ -, and needs no escaping in a path.",
      async (t) => {
        const start = `${t.id()}AZaz09._:~-`;
        const id = start + "x".repeat(255 - start.length);
        t.answered(await t.post(notes, { id, data: { title: "long" } }), 200, { status: "confirmed" });
        t.answered(await t.get(`${notes}/${id}`), 200, { id, data: { id, title: "long" } });
      },
    ),
    ...checkEach(
      ["", "a b", "a/b", "a?b", "a#b", "a'b", "a\\b", "a%b", "ä", "🙂", ".", "..", "a\nb", "x".repeat(256)],
      (id) => `[H8] ${JSON.stringify(id.length > 20 ? `${id.length} characters` : id)} is not an id: 400 invalid_id.`,
      async ({ post, refused }, id) => refused(await post(notes, { id, data: {} }), "invalid_id", { param: "id" }),
    ),
    ...checkEach(
      ["a%20b", "a%2Fb", "a%22", "a%27", "%5C", "a%3Fb", "a%23b", "%C3%A4", "%F0%9F%98%80", "a%00", "x".repeat(256)],
      (id) => `[H8] An id in a path has the same grammar: ${id.slice(0, 20)} is 400 invalid_id.`,
      async (t, id) => {
        const path = `${notes}/${id}`;
        t.refused(await t.get(path), "invalid_id");
        t.refused(await t.patch(path, { data: { title: "x" } }), "invalid_id");
        t.refused(await t.remove(path), "invalid_id");
        t.refused(await t.post(`${path}/archive`), "invalid_id");
      },
    ),
    check("A percent-encoded id in a path is decoded.", async (t) => {
      const { id } = await t.note();
      const escaped = [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
      t.answered(await t.get(`${notes}/${escaped}`), 200, { id });
    }),
    check("The error of an invalid id in a batch names its place.", async (t) => {
      const good = { action: "create", model: NOTE, id: t.id(), data: {} };
      const answer = await t.commit([good, { ...good, id: "a b" }]);
      t.refused(answer, "invalid_id", { param: /^operations\[1\]/ });
    }),
    check("The same id in two models names two records.", async (t) => {
      const { id, path } = await t.note({ title: "note" });
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id, data: { left: "whole" } }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { model: NOTE, data: { title: "note" } });
      t.answered(await t.get(`/v1/models/${WHOLE}/${id}`), 200, { model: WHOLE, data: { left: "whole" } });
    }),
    check("[M1] A model's name is matched in any case, and answers have the declared name.", async (t) => {
      const id = t.id();
      const [lower, upper] = [`/v1/models/${NOTE.toLowerCase()}`, `/v1/models/${NOTE.toUpperCase()}`];
      const created = await t.post(lower, { id, data: { title: "x" } });
      t.answered(created, 200, { status: "confirmed" });
      t.answered(await t.get(`${upper}/${id}`), 200, { model: NOTE, id });
      t.answered(await t.get(`${upper}?ids=${id}`), 200, { model: NOTE });
      const operations = [{ action: "update", model: NOTE.toUpperCase(), id, data: { title: "y" } }];
      t.answered(await t.commit(operations), 200, { status: "confirmed" });
      const entries = await t.entries(Number(created.body.lastSyncId) - 1, [id]);
      t.is(
        entries.map(({ model, verb }) => [model, verb]),
        [
          [NOTE, "created"],
          [NOTE, "updated"],
        ],
        "the log",
      );
    }),
    check("The same key with the model's name in another case is the same request.", async (t) => {
      const [body, key] = [{ id: t.id(), data: { title: "x" } }, t.id()];
      const first = t.answered(await t.post(notes, body, { key }), 200);
      const again = await t.post(`/v1/models/${NOTE.toLowerCase()}`, body, { key });
      t.answered(again, 200);
      t.is(again.text, first.text, "the second receipt");
    }),
    check("An unknown model is 404 in a path and 400 in a body.", async (t) => {
      const name = "ConfNobodyDeclaredThis";
      t.refused(await t.get(`/v1/models/${name}`), "unknown_model");
      t.refused(await t.get(`/v1/models/${name}/x`), "unknown_model");
      t.refused(await t.post(`/v1/models/${name}`, { id: t.id(), data: {} }), "unknown_model");
      const operation = { action: "create", model: name, id: t.id(), data: {} };
      t.refused(await t.commit([operation]), "unknown_model", { status: 400, param: /^operations\[0\]/ });
    }),
    check("A missing record is 404 record_not_found.", async (t) => {
      t.refused(await t.get(`${notes}/${t.id()}`), "record_not_found");
    }),
  ],
};
