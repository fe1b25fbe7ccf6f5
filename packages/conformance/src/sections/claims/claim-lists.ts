import { setTimeout as pause } from "node:timers/promises";
import { absent } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { type Agent, granted, listClaims, queued, scene } from "../../kit/claim-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

export const section: SuiteSection = {
  title: "Claim lists",
  cases: [
    check(
      "[A26] /v1/claims/mine lists, in pages, the claims that the participant holds or waits for, on all records and devices, and no other participant's.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const [two, three] = [await t.note({ deckId: note.deckId }), await t.note({ deckId: note.deckId })];
        await granted(t, ann, note, { field: "body", ttl: "1s" });
        await pause(1_100);
        const mine = [
          await granted(t, ann, note, { clientId: "one" }),
          await granted(t, ann, two, { clientId: "two", field: "title" }),
        ];
        const others = await granted(t, bob, three);
        mine.push(await queued(t, ann, three));
        const list = (who: Agent, query = "") => t.get(`/v1/claims/mine${query}`, { token: who.token });
        const all = t.answered(await list(ann), 200, { object: "list", has_more: false, next_cursor: null });
        t.is(idsOf(all), [...mine].sort(), "the listed claims");
        const byId = new Map(rowsOf(all).map((row) => [row.id, row]));
        t.fits(
          mine.map((id) => byId.get(id)),
          [
            { object: "claim", status: "active", clientId: "one", target: { id: note.id } },
            { object: "claim", status: "active", clientId: "two", target: { id: two.id, field: "title" } },
            { object: "claim", status: "queued", position: 0, target: { id: three.id } },
          ],
          "the claims",
        );
        t.is(idsOf(await list(bob)), [others], "the list of another participant");
        t.is(idsOf(await list(eve)), [], "the list of a participant without claims");
        const paged: unknown[] = [];
        for (let cursor: unknown = ""; cursor !== null && paged.length < 9; ) {
          const page = t.answered(await list(ann, `?limit=1${cursor && `&starting_after=${cursor}`}`), 200);
          paged.push(...idsOf(page));
          cursor = page.body.next_cursor;
        }
        t.is(paged, idsOf(all), "the same in pages of one");
        t.answered(await listClaims(t, note), 200, { claims: [{ id: String(mine[0]), clientId: absent }] });
      },
    ),
    check(
      "[A11] [A32] A list of claims has the holders and then the queue, as data and as claims and queue; a read of the record shows the holders only.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann, note);
        const queue = [await queued(t, bob, note), await queued(t, eve, note)];
        const answer = t.answered(await listClaims(t, note), 200, {
          object: "list",
          claims: [{ id: held, status: "active", position: absent }],
          queue: queue.map((id, position) => ({ id, position, status: "queued" })),
          has_more: false,
          next_cursor: null,
        });
        t.is(rowsOf(answer), [...(answer.body.claims as object[]), ...(answer.body.queue as object[])], "data");
        t.answered(await t.get(note.path), 200, { claims: [{ id: held, actor: ann.name }] });
        t.refused(await t.get(`/v1/claims?model=${NOTE}`), "missing_field", { param: "id" });
        t.fits(
          (await t.get("/v1/claims?model=ConfNone&id=a")).body,
          { code: "unknown_model", param: "model" },
          "the error",
        );
        t.is((await t.get("/v1/claims?model=ConfNone&id=a")).status, 400, "the status for an unknown model in a query");
        t.refused(await t.get(`/v1/claims?id=${note.id}`), "missing_field", { param: "model" });
      },
    ),
  ],
};
