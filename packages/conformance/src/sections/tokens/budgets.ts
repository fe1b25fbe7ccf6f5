import { exactly } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { type Answer, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const capabilities = "/v1/capabilities";

/** An agent with a budget, which writes in a deck. */
async function spender(t: Kit, budget: object, operations: readonly string[] = [`${NOTE}.*`]) {
  const { deckId, group } = t.deck();
  const made = await t.capability({ participantId: t.id(), operations, syncGroups: [group], budget });
  const create = () => ({ action: "create", model: NOTE, id: t.id(), data: { deckId } });
  /** Sends one commit of so many new records. */
  const write = (records = 1, more: object = {}, token = made.token) =>
    t.commit(Array.from({ length: records }, create), more, { token });
  return { ...made, deckId, create, write };
}

const confirmed = (t: Kit, answer: Answer) => t.answered(answer, 200, { status: "confirmed" });
const spent = (t: Kit, answer: Answer) => t.refused(answer, "budget_spent");

export const section: SuiteSection = {
  title: "Budgets",
  cases: [
    check(
      "[BU1] A commit beyond the budget is 429 budget_spent, on every route and on the stream, and writes nothing.",
      async (t) => {
        const { deckId, create, token, write } = await spender(t, { commits: 2 });
        confirmed(t, await write());
        const id = t.id();
        const path = `${notes}/${id}`;
        confirmed(t, await t.post(notes, { id, data: { deckId } }, { token }));
        const over = create();
        for (const send of [
          () => t.commit([over], {}, { token }),
          () => t.post(notes, { id: over.id, data: { deckId } }, { token }),
          () => t.patch(path, { data: { title: "x" } }, { token }),
          () => t.post(`${path}/archive`, undefined, { token }),
          () => t.remove(path, { token }),
        ])
          spent(t, await send());
        const commits = [over, create()].map((one) => ({ clientTxId: t.id(), operations: [one] }));
        const bulk = t.answered(await t.post("/v1/commits/bulk", { commits }, { token }), 200);
        const refusal = { code: "budget_spent", httpStatus: 429 };
        t.fits(rowsOf(bulk), [refusal, refusal], "the commits of a bulk");
        const stream = await t.connect({ token });
        stream.send({ frame: "call", n: 1, name: "commit", body: commits[0] });
        const answer = await stream.next("answer", { n: 1 });
        t.fits(answer, { status: 429, body: { code: "budget_spent" } }, "the commit on a stream");
        t.refused(await t.get(`${notes}/${over.id}`, { token }), "record_not_found");
        t.answered(await t.get(path, { token }), 200, { archivedAt: null, data: { id } });
      },
    ),
    check(
      "[BU1] Each commit counts the records that it names; after one that is too large, a smaller one lands.",
      async (t) => {
        const { write } = await spender(t, { records: 5 });
        spent(t, await write(6));
        confirmed(t, await write(4));
        spent(t, await write(2));
        confirmed(t, await write());
        spent(t, await write());
      },
    ),
    ...checkEach(
      [
        ["no commits", { commits: 0 }],
        ["half a record", { records: 1.5 }],
        ["commits that are a text", { commits: "5" }],
        ["another period", { commits: 1, per: "day" }],
        ["an unknown key", { commits: 1, colour: 1 }],
      ] as const,
      ([what]) => `[BU1] A budget of ${what} is 400.`,
      async (t, [, budget]) => {
        const scope = { operations: [`${NOTE}.*`], syncGroups: [t.deck().group], budget };
        t.answered(await t.post(capabilities, scope), 400, { type: "validation_error" });
      },
    ),
    check("[BU2] With per: run, each run has the budget, and commits without a run are one run.", async (t) => {
      const { write } = await spender(t, { commits: 1, per: "run" });
      for (const more of [{ run: t.id() }, { run: t.id() }, {}]) {
        confirmed(t, await write(1, more));
        spent(t, await write(1, more));
      }
    }),
    check("[BU2] Without it, the budget is for all that the token writes.", async (t) => {
      const { write } = await spender(t, { commits: 2 });
      confirmed(t, await write(1, { run: t.id() }));
      confirmed(t, await write(1, { run: t.id() }));
      spent(t, await write(1, { run: t.id() }));
    }),
    check("[BU3] Refused, conflicting and repeated commits are not counted.", async (t) => {
      const { create, token, write } = await spender(t, { commits: 2 });
      const [key, first] = [t.id(), create()];
      const made = confirmed(t, await t.commit([first], {}, { token, key }));
      t.is((await t.commit([first], {}, { token, key })).text, made.text, "the receipt of the same key");
      const path = `${notes}/${first.id}`;
      t.refused(await t.patch(path, { data: { colour: 1 } }, { token }), "unknown_field");
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const late = { data: { title: "mine" }, readAt: Number(made.body.lastSyncId) };
      t.refused(await t.patch(path, { ...late, onStale: "reject" }, { token }), "stale_context");
      t.answered(await t.patch(path, { ...late, onStale: "notify" }, { token }), 200, { status: "rejected" });
      confirmed(t, await write());
      spent(t, await write());
    }),
    check("[BU3] A commit that becomes a proposal is counted.", async (t) => {
      const { write } = await spender(t, { commits: 2 }, [`${NOTE}.propose`]);
      for (let i = 0; i < 2; i++) t.answered(await write(), 200, { status: "proposed" });
      spent(t, await write());
    }),
    check("[BU3] Commits at once are together no more than the budget.", async (t) => {
      const { write } = await spender(t, { commits: 10 });
      const answers = await Promise.all(Array.from({ length: 30 }, () => write()));
      const statuses = answers.map(({ status }) => status).sort();
      t.is(statuses, [...Array(10).fill(200), ...Array(20).fill(429)], "the statuses");
    }),
    check("[BU3] Of a bulk, the first commits land, as many as the budget has.", async (t) => {
      const { create, token } = await spender(t, { commits: 3 });
      const commits = Array.from({ length: 5 }, () => ({ clientTxId: t.id(), operations: [create()] }));
      const bulk = t.answered(await t.post("/v1/commits/bulk", { commits }, { token }), 200);
      const [done, refusal] = [{ status: "confirmed" }, { code: "budget_spent" }];
      t.fits(rowsOf(bulk), [done, done, done, refusal, refusal], "the commits");
    }),
    check("[BU4] A rotated token shares the budget of the token before it.", async (t) => {
      const { id, token, write } = await spender(t, { commits: 2 });
      confirmed(t, await write());
      const next = t.answered(await t.post(`${capabilities}/${id}/rotate`, { graceSeconds: 60 }), 201).body;
      t.after(() => t.remove(`${capabilities}/${next.id}`));
      const second = String(next.token);
      confirmed(t, await write(1, {}, second));
      for (const one of [token, second]) spent(t, await write(1, {}, one));
    }),
    check("[BU4] A budget is in the capability's answers, and in what the token says of itself.", async (t) => {
      const { id, token } = await spender(t, { commits: 3, records: 10, per: "run" });
      const budget = exactly({ commits: 3, records: 10, per: "run" });
      t.answered(await t.get(`${capabilities}/${id}`), 200, { budget });
      t.fits(
        (await t.listed(capabilities)).find((one) => one.id === id),
        { budget },
        "its item in the list",
      );
      t.answered(await t.get("/v1/identity", { token }), 200, { budget });
      const next = t.answered(await t.post(`${capabilities}/${id}/rotate`), 201, { budget }).body;
      t.after(() => t.remove(`${capabilities}/${next.id}`));
      const { id: other } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [t.deck().group] });
      t.answered(await t.get(`${capabilities}/${other}`), 200, { budget: null });
      t.answered(await t.get("/v1/identity"), 200, { budget: null });
    }),
  ],
};
