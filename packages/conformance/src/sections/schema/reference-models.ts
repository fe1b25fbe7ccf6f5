import { NotApplicable } from "../../assertions/unmet.ts";
import { readModels } from "../../environment/schemas.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { dataOf } from "../../protocol/answers.ts";

type Data = Readonly<Record<string, unknown>>;
const AT = "2024-05-06T07:08:09.123Z";
const texts = (...names: readonly string[]): Data => Object.fromEntries(names.map((name) => [name, `${name}-1`]));

/** The models of the interface, each with a value in every field. */
const MODELS: readonly (readonly [model: string, data: Data])[] = [
  ["document", texts("title", "content", "metadata")],
  [
    "documentchunk",
    {
      ...texts("attachmentId", "sectionName", "content", "contextPrefix", "storageTier"),
      chunkIndex: 0,
      pageStart: 1,
      pageEnd: 2,
      tokenCount: 3,
      tableData: [[1]],
      bboxes: { a: [0.5] },
    },
  ],
  [
    "ingestionjob",
    {
      ...texts("attachmentId", "status", "error"),
      totalChunks: 1,
      processedChunks: 0,
      startedAt: AT,
      completedAt: AT,
      config: { a: null },
    },
  ],
  ["slide", { ...texts("deckId", "title", "templateId", "settings", "notes", "sourceSlideId"), order: 2 }],
  ["mailreadstate", { ...texts("threadId", "userId"), read: true, lastReadAt: AT }],
  [
    "mailmessage",
    {
      ...texts(
        "threadId",
        "mailboxId",
        "direction",
        "fromAddress",
        "status",
        "fromName",
        "subject",
        "snippet",
        "bodyHtml",
        "bodyText",
        "messageIdHeader",
        "inReplyTo",
        "references",
        "providerEmailId",
      ),
      to: ["a@example.org"],
      cc: [],
      bcc: [{ a: 1 }],
      replyTo: [null],
      sentAt: AT,
    },
  ],
  [
    "mailattachment",
    {
      ...texts(
        "messageId",
        "filename",
        "contentType",
        "contentDisposition",
        "contentId",
        "storageKey",
        "providerAttachmentId",
      ),
      inline: false,
      size: 1,
    },
  ],
  [
    "presence",
    {
      ...texts("userId", "userName", "userImage", "status", "customStatus", "timezone", "localTime", "socketId"),
      lastSeen: AT,
    },
  ],
  ["favorite", { ...texts("userId", "model", "recordId"), order: 1 }],
  ["activity", { ...texts("actorId", "verb", "model", "recordId"), at: AT, data: { a: 1 } }],
  ["teammember", texts("userId", "teamId")],
  ["projectteam", texts("projectId", "teamId", "role")],
];

async function present(t: Kit, model: string): Promise<string> {
  const models = await readModels(t.ask, t.environment.key);
  // `favorite` may be the suite's own model, or the tenant's with other fields.
  if (
    !models[model] ||
    Object.keys(models).filter((name) => MODELS.some(([one]) => one === name)).length < MODELS.length
  )
    throw new NotApplicable("the reference schema was not pushed to this tenant");
  return `/v1/models/${model}`;
}

export const section: SuiteSection = {
  title: "The reference models",
  cases: [
    ...checkEach(
      MODELS,
      ([model]) => `${model} keeps every one of its fields: created, read, updated, archived, deleted.`,
      async (t, [model, data]) => {
        const [path, id] = [await present(t, model), t.id()];
        t.answered(await t.post(path, { id, data }), 200, { status: "confirmed" });
        const read = t.answered(await t.get(`${path}/${id}`), 200, { model, id });
        t.is(dataOf(read), { id, ...data }, "the record");
        const [[name, value]] = Object.entries(data) as [[string, unknown]];
        t.answered(await t.patch(`${path}/${id}`, { data: { [name]: `${value}2` } }), 200, { status: "confirmed" });
        t.answered(await t.post(`${path}/${id}/archive`), 200, { status: "confirmed" });
        t.answered(await t.remove(`${path}/${id}`), 200, { status: "confirmed" });
      },
    ),
    check("documentchunk requires attachmentId, chunkIndex, content and tokenCount, and nothing else.", async (t) => {
      const path = await present(t, "documentchunk");
      const required: Data = { attachmentId: "a", chunkIndex: 0, content: "c", tokenCount: 1 };
      for (const name of Object.keys(required)) {
        const { [name]: _, ...rest } = required;
        t.refused(await t.post(path, { id: t.id(), data: rest }), "missing_field", { param: `data.${name}` });
      }
      const id = t.id();
      t.answered(await t.post(path, { id, data: required }), 200, { status: "confirmed" });
      t.answered(await t.get(`${path}/${id}`), 200, { data: { storageTier: "pgvector" } });
      t.answered(await t.remove(`${path}/${id}`), 200);
    }),
    check("slide's order is 0 by default.", async (t) => {
      const [path, id] = [await present(t, "slide"), t.id()];
      t.answered(await t.post(path, { id, data: { deckId: "d", title: "t" } }), 200);
      t.answered(await t.get(`${path}/${id}`), 200, { data: { order: 0 } });
      t.answered(await t.remove(`${path}/${id}`), 200);
    }),
    check("The nullable fields of documentchunk accept null.", async (t) => {
      const [path, id] = [await present(t, "documentchunk"), t.id()];
      const nothing = {
        sectionName: null,
        pageStart: null,
        pageEnd: null,
        contextPrefix: null,
        tableData: null,
        bboxes: null,
      };
      t.answered(
        await t.post(path, { id, data: { attachmentId: "a", chunkIndex: 0, content: "c", tokenCount: 1, ...nothing } }),
        200,
      );
      t.answered(await t.get(`${path}/${id}`), 200, { data: nothing });
      t.answered(await t.remove(`${path}/${id}`), 200);
    }),
  ],
};
