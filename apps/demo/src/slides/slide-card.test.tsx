import { SyncProvider } from "@holdfast/react";
import { createClient } from "@holdfast/sdk/node";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { Deck } from "../deck/deck.tsx";
import { boardSchema } from "../schema.ts";

/** Counts by slide: each card renders one of these, and nothing but the card does. */
const rendered = vi.hoisted(() => new Map<string, number>());
vi.mock("../people/claim-badge.tsx", () => ({
  ClaimBadge: ({ id }: { id: string }) => {
    rendered.set(id, (rendered.get(id) ?? 0) + 1);
    return null;
  },
}));
vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

test("[Y10] of two hundred cards an edit renders the one that it changes", async () => {
  const client = createClient({ schema: boardSchema, url: "http://127.0.0.1:9", getToken: () => "", paused: true });
  const ids = Array.from({ length: 200 }, (_, at) => `s${at}`);
  for (const [order, id] of ids.entries())
    client.models.slide.create({ deckId: "d1", title: id, notes: "", order }, { id });
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  await act(async () =>
    root.render(
      <SyncProvider client={client}>
        <Deck deckId="d1" lookBack={() => {}} />
      </SyncProvider>,
    ),
  );
  expect(rendered.size).toBe(200);
  // What must not render has the time to render.
  const settle = () => act(() => giveTime(50));
  // Claims are loaded beside the first view. When they are there every card is told so, once.
  await act(() => until(() => expect(client.claims.of("slide", "s0").why).toBe("connection")));
  await settle();

  rendered.clear();
  await act(async () => void (await client.models.slide.update("s7", { title: "Changed" }).queued));
  await settle();
  expect([...rendered.keys()]).toEqual(["claim-s7"]);
  expect(document.querySelector<HTMLTextAreaElement>("#slide-s7 textarea")?.value).toBe("Changed");

  rendered.clear();
  await act(async () => void (await client.models.slide.delete("s9").queued));
  await settle();
  // Those behind it have another number now; those before it are as they were.
  expect(rendered.has("claim-s8")).toBe(false);
  expect(rendered.size).toBe(190);
  act(() => root.unmount());
  await client.close();
});
