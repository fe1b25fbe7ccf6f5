import assert from "node:assert/strict";
import { test } from "node:test";
import { HydrationBoundary, SyncProvider } from "@holdfast/react";
import { dehydrate } from "@holdfast/react/server";
import { createTestServer } from "@holdfast/sdk/testing";
import { renderToString } from "react-dom/server";
import { Deck } from "../app/deck";
import { schema } from "../lib/schema";

// A server in memory: no database, no network. More: the page "Test your app" of the documentation.
test("the page that the server renders has the slides of the deck, in their order", async () => {
  const { client } = createTestServer(schema);
  const ann = client({ actor: "ann" });
  await ann.client.ready();
  const { slide } = ann.client.models;
  await slide.create({ deckId: "d1", title: "Second", order: 2 }).receipt;
  await slide.create({ deckId: "d1", title: "First", order: 1 }).receipt;
  await slide.create({ deckId: "d2", title: "Another deck", order: 0 }).receipt;

  const state = await dehydrate(ann.client, [["slide", { where: { deckId: "d1" }, orderBy: "order" }]]);
  const html = renderToString(
    <SyncProvider client={undefined}>
      <HydrationBoundary state={state}>
        <Deck />
      </HydrationBoundary>
    </SyncProvider>,
  );
  assert.deepEqual(
    [...html.matchAll(/ value="(.*?)"/g)].map(([, title]) => title),
    ["First", "Second"],
  );

  await ann.client.close();
});
