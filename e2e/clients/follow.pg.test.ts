import { createClient } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { schema, startPeople } from "./people.ts";

const { url, request } = await startPeople();

test("[N14] a client follows groups, and other ones after follow(): with a live log, and records that move between groups", async () => {
  const { token } = await request("POST", "/v1/capabilities", {
    ...{ participantId: "reader", operations: ["slide.*"], syncGroups: ["deck:d1", "deck:d2", "deck:d3"] },
  });
  const make = (id: string, deckId: string) => request("POST", "/v1/models/slide", { id, data: { deckId, title: id } });
  for (const [id, deckId] of [["a", "d1"] as const, ["b", "d2"] as const, ["c", "d3"] as const]) await make(id, deckId);
  const client = createClient({ schema, url, getToken: () => String(token), follow: { groups: ["deck:d1"] } });
  const { slide } = client.models;
  const ids = () => slide.list().map(({ id }) => id);
  try {
    await client.ready();
    expect(ids()).toEqual(["a"]);
    await make("a2", "d1");
    await make("b2", "d2");
    await until(() => expect(ids()).toEqual(["a", "a2"]));

    client.follow({ groups: ["deck:d2", "deck:d3"] });
    await until(() => expect(ids()).toEqual(["b", "b2", "c"]));
    // Records that leave the followed groups disappear, and records that enter them appear.
    await slide.update("c", { deckId: "d1" }).receipt;
    await request("PATCH", "/v1/models/slide/a", { data: { deckId: "d2" } });
    await until(() => expect(ids()).toEqual(["a", "b", "b2"]));
    client.follow({});
    await until(() => expect(ids()).toEqual(["a", "a2", "b", "b2", "c"]));
    await until(() => expect(client.status()).toMatchObject({ name: "online", pending: 0 }));
  } finally {
    await client.close();
  }
});
