import { OWNED, RULED } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { type Answer, dataOf, positionOf } from "../../protocol/answers.ts";

/** An agent that writes both models in one deck, and a second one with more groups. */
async function agents(t: Kit, more: readonly string[] = []) {
  const { deckId, group } = t.deck();
  const token = async (groups: readonly string[]) =>
    (
      await t.capability({
        participantId: t.id(),
        operations: [`${RULED}.*`, `${OWNED}.*`],
        syncGroups: [group, ...groups],
      })
    ).token;
  const [creator, other] = [await token([]), await token(more)];
  const create = async (model: string, data: object = {}) => {
    const id = t.id();
    const path = `/v1/models/${model}/${id}`;
    const answer = await t.post(`/v1/models/${model}`, { id, data: { deckId, ...data } }, { token: creator });
    return { id, path, at: positionOf(t.answered(answer, 200, { status: "confirmed" })) };
  };
  return { creator, other, create, deckId };
}

function broken(t: Kit, answer: Answer, rule: string, param: RegExp): void {
  t.refused(answer, "rule_broken", { param });
  t.is((answer.body as { rule?: unknown }).rule, rule, "the rule");
}

export const section: SuiteSection = {
  title: "Rules of records",
  cases: [
    check("[M19] A text matches its field's pattern as a whole, in a create and in an update.", async (t) => {
      const { creator: token, create, deckId } = await agents(t);
      for (const slug of ["", "A", "a-", "a b", "xa-B", "a\n"]) {
        const answer = await t.post(`/v1/models/${RULED}`, { id: t.id(), data: { deckId, slug } }, { token });
        broken(t, answer, "pattern", /^data\.slug$/);
      }
      const { path } = await create(RULED, { slug: "a-b-c" });
      broken(t, await t.patch(path, { data: { slug: "a--b" } }, { token }), "pattern", /^data\.slug$/);
      t.answered(await t.patch(path, { data: { slug: "b" } }, { token }), 200, { status: "confirmed" });
      const long = { data: { slug: "a".repeat(10_001) } };
      broken(t, await t.patch(path, long, { token }), "pattern", /^data\.slug$/);
    }),
    check("[M21] An enum goes only where its transitions lead from the value that is there.", async (t) => {
      const { creator: token, create } = await agents(t);
      const { path } = await create(RULED, {});
      const go = (state: string) => t.patch(path, { data: { state } }, { token });
      broken(t, await go("done"), "transitions", /^data\.state$/);
      for (const state of ["todo", "doing", "doing", "todo", "doing", "done", "done"])
        t.answered(await go(state), 200, { status: "confirmed" });
      broken(t, await go("doing"), "transitions", /^data\.state$/);
      t.is(dataOf(await t.get(path, { token })).state, "done", "the value");
      const { path: late } = await create(RULED, { state: "done" });
      broken(t, await t.patch(late, { data: { state: "todo" } }, { token }), "transitions", /^data\.state$/);
    }),
    check("[C20] Rules compare with what the earlier operations of a commit leave.", async (t) => {
      const { creator: token, create } = await agents(t);
      const { id, path } = await create(RULED, {});
      const to = (state: string) => ({ action: "update", model: RULED, id, data: { state } });
      broken(
        t,
        await t.commit([to("doing"), to("done"), to("todo")], {}, { token }),
        "transitions",
        /^operations\[2\]\.data\.state$/,
      );
      t.is(dataOf(await t.get(path, { token })).state, "todo", "the value");
      t.answered(await t.commit([to("doing"), to("done")], {}, { token }), 200, { status: "confirmed" });
      const made = { action: "create", model: RULED, id: t.id(), data: { deckId: t.deck().deckId } };
      const key = await t.commit([made, { ...to("done"), id: made.id }]);
      broken(t, key, "transitions", /^operations\[1\]\.data\.state$/);
    }),
    check(
      "[M20] [M42] [C31] A field is changed only by whom writableBy names: the creator, a group, else a secret key.",
      async (t) => {
        const { creator, other, create } = await agents(t);
        const { path } = await create(RULED, { own: "a", votes: 1 });
        const set = (data: object, token?: string) => t.patch(path, { data }, token === undefined ? {} : { token });
        broken(t, await set({ own: "b" }, other), "writableBy", /^data\.own$/);
        broken(t, await set({ votes: 2 }, other), "writableBy", /^data\.votes$/);
        broken(
          t,
          await t.patch(path, { changes: { votes: { increment: 1 } } }, { token: other }),
          "writableBy",
          /^changes\.votes$/,
        );
        broken(t, await set({ kept: "b" }, creator), "writableBy", /^data\.kept$/);
        t.answered(await set({ own: "a", votes: 1, slug: "b" }, other), 200, { status: "confirmed" });
        t.answered(await set({ own: "c", votes: 3 }, creator), 200, { status: "confirmed" });
        t.answered(await set({ own: "d", votes: 4, kept: "e" }), 200, { status: "confirmed" });
        t.fits(dataOf(await t.get(path)), { own: "d", votes: 4, kept: "e", slug: "b" }, "the values");
      },
    ),
    check("[M20] A token is a member of the groups that it names.", async (t) => {
      const { other, create } = await agents(t, ["confrole:owner"]);
      const { path } = await create(RULED, { votes: 1 });
      t.answered(await t.patch(path, { changes: { votes: { increment: 1 } } }, { token: other }), 200);
      broken(t, await t.patch(path, { data: { own: "b" } }, { token: other }), "writableBy", /^data\.own$/);
      const { path: owned } = await create(OWNED, { title: "a" });
      t.answered(await t.patch(owned, { data: { title: "b" } }, { token: other }), 200, { status: "confirmed" });
    }),
    check(
      "[M20] [M42] [C31] A record whose model has writableBy is written only by those that it names.",
      async (t) => {
        const { creator, other, create } = await agents(t);
        const { path, id } = await create(OWNED, { title: "a" });
        const token = other;
        broken(t, await t.patch(path, { data: { title: "b" } }, { token }), "writableBy", /^id$/);
        broken(t, await t.remove(path, { token }), "writableBy", /^id$/);
        broken(t, await t.post(`${path}/archive`, undefined, { token }), "writableBy", /^id$/);
        broken(
          t,
          await t.commit([{ action: "delete", model: OWNED, id }], {}, { token }),
          "writableBy",
          /^operations\[0\]\.id$/,
        );
        t.answered(await t.patch(path, { data: { title: "a" } }, { token }), 200, { status: "confirmed" });
        t.answered(await t.patch(path, { data: { title: "c" } }, { token: creator }), 200, { status: "confirmed" });
        t.answered(await t.post(`${path}/archive`, undefined, { token: creator }), 200, { status: "confirmed" });
        t.answered(await t.remove(path), 200, { status: "confirmed" });
      },
    ),
    check("[C21] A create gets its writer and the time of its commit where the defaults say so.", async (t) => {
      const { creator: token, create, deckId } = await agents(t);
      const { path, id } = await create(RULED, { slug: "a" });
      const { createdBy, createdAt, data } = (await t.get(path, { token })).body as Record<string, unknown>;
      const { author, since } = data as Record<string, unknown>;
      t.is(author, createdBy, "the writer");
      // A table has a commit's time before the log has it.
      t.is(Math.abs(Date.parse(String(since)) - Date.parse(String(createdAt))) < 10_000, true, "the time is near");
      const again = await t.post(`/v1/models/${RULED}`, { id, data: { deckId, slug: "a" } }, { token });
      t.answered(again, 200, { status: "confirmed" });
      const { path: given } = await create(RULED, { author: "user:eve", since: "2026-01-02T03:04:05Z" });
      const own = dataOf(await t.get(given, { token }));
      t.is([own.author, Date.parse(String(own.since))], ["user:eve", Date.UTC(2026, 0, 2, 3, 4, 5)], "given values");
      const { path: literal } = await create(RULED, { slug: "b", own: "$participant" });
      t.is(dataOf(await t.get(literal, { token })).own, "$participant", "a value");
    }),
    check("[C20] A stale write that breaks a rule too is stale.", async (t) => {
      const { creator: token, create } = await agents(t);
      const { path, at } = await create(RULED, {});
      t.answered(await t.patch(path, { data: { state: "doing" } }), 200);
      t.answered(await t.patch(path, { data: { state: "done" } }), 200);
      t.refused(await t.patch(path, { data: { state: "todo" }, readAt: at }, { token }), "stale_context");
    }),
  ],
};
