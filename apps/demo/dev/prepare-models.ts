import { readFile } from "node:fs/promises";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import { callServer, Refused } from "./call-server.ts";
import { holdfast } from "./holdfast-command.ts";
import { referenceSchema } from "./project.ts";
import { runSql } from "./run-sql.ts";
import { secretKey } from "./server-secrets.ts";

/** The table whose rows are the slides. Its columns are the fields of the reference schema, none of which can be null. */
const SLIDES = `
  create table if not exists public.slides (
    id text primary key,
    deck_id text not null default '',
    title text not null default '',
    notes text not null default '',
    "order" double precision not null default 0,
    template_id text not null default '',
    settings text not null default '',
    source_slide_id text not null default ''
  )`;

/**
 * Gives the server its models. Slides are rows of a table of our own, as in an app that has one. Slides that an earlier
 * release of the demo has written stay where they are. Does nothing twice.
 */
export async function prepareModels(serverUrl: string): Promise<void> {
  const key = await secretKey();
  const { models: wanted } = JSON.parse(await readFile(referenceSchema, "utf8")) as ModelSchema;
  let { slide } = await models(serverUrl, key);
  if (!slide) {
    await attachSlides();
    ({ slide } = await models(serverUrl, key));
  }
  const groups = wanted.slide?.groups;
  await callServer(serverUrl, key, "POST", "/v1/schema", {
    models: slide?.table ? { ...wanted, slide: { ...slide, ...(groups && { groups }) } } : wanted,
  });
}

async function models(serverUrl: string, key: string): Promise<ModelSchema["models"]> {
  try {
    return (await callServer<ModelSchema>(serverUrl, key, "GET", "/v1/schema")).models;
  } catch (error) {
    // Nothing has been pushed yet.
    if (error instanceof Refused && error.status === 404) return {};
    throw error;
  }
}

async function attachSlides(): Promise<void> {
  await runSql(SLIDES);
  await holdfast("tables", "attach", "public.slides", "--yes");
}
