import { type Model, schemaFingerprint } from "@holdfast/sdk/protocol";
import { expect } from "vitest";
import type { App } from "./app.ts";

type Models = Readonly<Record<string, Model>>;

/** What a page knows that is open while a field of its model gets another name. */
const text = { type: "string" } as const;
export const OLDER: Models = { Slide: { fields: { title: text, note: text } } };
export const NEWER: Models = { Slide: { fields: { heading: text, note: text } } };
/** A new field has the name that the older page knows for another one. */
export const LATEST: Models = { Slide: { fields: { heading: text, note: text, title: text } } };
export const RENAME = { renames: [{ model: "slide", from: "title", to: "heading" }] };

/** A tenant of its own with the older schema. */
export async function olderTenant({ call, newOrganization, sql }: App) {
  const { organization, token } = await newOrganization();
  const push = async (models: Models, rest: object = {}, by = call) => {
    const answer = await by("POST", "/v1/schema", { token, json: { models, ...rest } });
    expect(answer.text).toContain('"version"');
  };
  await push(OLDER);
  return {
    token,
    push,
    /** How a page with this schema asks. */
    page:
      (models: Models | string = OLDER, by = call) =>
      (method: string, path: string, json?: unknown) =>
        by(method, path, {
          token,
          headers: { "holdfast-schema": typeof models === "string" ? models : schemaFingerprint(models) },
          ...(json !== undefined && { json }),
        }),
    /** As if each push had been so many days ago. */
    age: (days: number) =>
      sql(
        `update holdfast.model_schema set created_at = created_at - interval '${days} days'
         where tenant in (select id from holdfast.tenant where organization = $1)`,
        [organization],
      ),
  };
}
