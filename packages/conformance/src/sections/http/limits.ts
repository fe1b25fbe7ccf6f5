import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;
const MiB = 1024 * 1024;

/** A body that gets its size from spaces at its end, because a record may be smaller than a body. */
const sized = (bytes: number, body: unknown) => JSON.stringify(body).padEnd(bytes);
const single = (t: Kit, bytes: number) => {
  const id = t.id();
  return { id, bytes: sized(bytes, { id, data: { title: "x" } }) };
};
const batch = (t: Kit, bytes: number) => {
  const id = t.id();
  const operation = { action: "create", model: NOTE, id, data: { title: "x" } };
  return { id, bytes: sized(bytes, { operations: [operation] }) };
};

export const section: SuiteSection = {
  title: "Sizes",
  cases: [
    check(
      "[H5] A single write accepts a body of 1 MiB; one byte more is 413 request_too_large and writes nothing.",
      async (t) => {
        const [fits, large] = [single(t, MiB), single(t, MiB + 1)];
        t.answered(await t.ask("POST", notes, fits), 200, { status: "confirmed" });
        t.refused(await t.ask("POST", notes, large), "request_too_large");
        t.refused(await t.get(`${notes}/${large.id}`), "record_not_found");
        t.answered(await t.remove(`${notes}/${fits.id}`), 200);
      },
    ),
    check("[H5] A batch may have 4 MiB, and not one byte more.", async (t) => {
      const [fits, large] = [batch(t, 4 * MiB), batch(t, 4 * MiB + 1)];
      t.answered(await t.ask("POST", "/v1/commits", fits), 200, { status: "confirmed" });
      t.refused(await t.ask("POST", "/v1/commits", large), "request_too_large");
      t.answered(await t.remove(`${notes}/${fits.id}`), 200);
    }),
    check(
      "[C16] A record may have 1 MiB of JSON after a write: a larger one is record_too_large, and nothing is written.",
      async (t) => {
        const [id, other] = [t.id(), t.id()];
        const create = (of: string, title: string) => ({ action: "create", model: NOTE, id: of, data: { title } });
        const grown = await t.note({ title: "x".repeat(900_000) });
        const data = { body: "x".repeat(200_000) };
        for (const tooLarge of [create(other, "x".repeat(MiB)), { action: "update", model: NOTE, id: grown.id, data }])
          t.refused(await t.commit([create(id, "x"), tooLarge]), "record_too_large", { param: "operations[1].data" });
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
        t.refused(await t.patch(grown.path, { data }), "record_too_large", { param: "data" });
        t.is(await t.entries(grown.at, [id, grown.id]), [], "what was written");
        t.answered(await t.remove(grown.path), 200);
      },
    ),
    check("[H5] A schema of more than 1 MiB is 413 request_too_large.", async (t) => {
      const models = { ConfLarge: { fields: { a: { type: "enum", values: ["x".repeat(MiB)] } } } };
      t.refused(await t.post("/v1/schema", { models }), "request_too_large");
    }),
    check("[H5] A body without a content-length is cut off at the limit too.", async (t) => {
      const large = single(t, MiB + 1);
      const answer = await t.ask("POST", notes, { bytes: large.bytes, headers: { "transfer-encoding": "chunked" } });
      t.refused(answer, "request_too_large");
      const { bytes } = single(t, 1_000);
      t.answered(await t.ask("POST", notes, { bytes, headers: { "transfer-encoding": "chunked" } }), 200);
    }),
    check("[H4] A compressed body is 415 unsupported_media_type.", async (t) => {
      const { bytes } = single(t, 100);
      const answer = await t.ask("POST", notes, { bytes, headers: { "content-encoding": "gzip" } });
      t.refused(answer, "unsupported_media_type");
    }),
  ],
};
