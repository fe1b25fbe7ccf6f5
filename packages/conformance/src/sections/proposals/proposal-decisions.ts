import { absent, exactly, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { agent, claim } from "../../kit/claim-kit.ts";
import type { Kit } from "../../kit/kit.ts";
import {
  create,
  decide,
  PROPOSALS,
  proposalOf,
  propose,
  proposer,
  readProposal,
  recordOf,
  reviewScene,
  update,
} from "../../kit/proposal-kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { positionOf, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** A proposal of an update and a create. */
async function proposed(t: Kit) {
  const { note, author, reviewer } = await reviewScene(t, { body: "-" });
  const added = t.id();
  const operations = [update(note.id, { title: "two", body: "new" }), create(added, note.deckId)];
  const id = proposalOf(t, await t.commit(operations, {}, { token: author.token }));
  return { note, author, reviewer, added, id };
}

const REFUSED: readonly (readonly [what: string, body: object, param: string])[] = [
  ["an operation that it lacks", { take: [{ operation: 2 }] }, "take[0].operation"],
  ["an operation twice", { take: [{ operation: 0 }, { operation: 0 }] }, "take[1].operation"],
  ["a field that it lacks", { take: [{ operation: 0, fields: ["order"] }] }, "take[0].fields"],
  ["no operation", { take: [] }, "take"],
  ["an unknown onStale", { onStale: "never" }, "onStale"],
  ["an unknown key", { colour: 1 }, "colour"],
];

export const section: SuiteSection = {
  title: "Decisions on proposals",
  cases: [
    check(
      "[PR3] To accept is a commit by the reviewer, whose entries say why it was proposed, by whom, and the proposal's id.",
      async (t) => {
        const note = await t.note();
        const author = await proposer(t, note.group);
        const user = t.id();
        const scope = { operations: [`${NOTE}.*`], syncGroups: [note.group] };
        const reviewer = await t.ephemeral({ user: { id: user }, ...scope });
        const why = { reason: "Shorter", run: t.id(), meta: { n: 1 } };
        const added = t.id();
        const operations = [update(note.id, { title: "two" }), create(added, note.deckId)];
        const id = proposalOf(t, await t.commit(operations, why, { token: author.token }));
        const receipt = t.answered(await decide(t, reviewer, id, "accept", { reason: "Good" }), 200, {
          object: "commit_receipt",
          status: "confirmed",
          success: true,
          ops: 2,
        });
        t.fits(await recordOf(t, note.path), { title: "two" }, "the record");
        const entry = {
          actor: user,
          participantKind: "user",
          ...why,
          proposal: id,
          proposedBy: `agent:${author.name}`,
        };
        t.fits(
          await t.entries(note.at, [note.id, added]),
          [
            { id: note.id, verb: "updated", ...entry },
            { id: added, verb: "created", ...entry, syncId: positionOf(receipt) },
          ],
          "the entries",
        );
        t.answered(await readProposal(t, author, id), 200, {
          status: "accepted",
          decision: { by: `user:${user}`, at: time, reason: "Good", syncId: positionOf(receipt), take: absent },
        });
      },
    ),
    check("[PR4] Accepted by operation: what is not taken is dropped.", async (t) => {
      const { note, reviewer, added, id } = await proposed(t);
      const take = [{ operation: 1 }];
      t.answered(await decide(t, reviewer, id, "accept", { take }), 200, { status: "confirmed", ops: 1 });
      t.fits(await recordOf(t, note.path), { title: "one", body: "-" }, "the record that was not taken");
      t.answered(await t.get(`${notes}/${added}`), 200);
      t.answered(await readProposal(t, reviewer, id), 200, { status: "accepted", decision: { take: exactly(take) } });
      t.refused(await decide(t, reviewer, id, "accept"), "proposal_ended");
    }),
    check("[PR4] Accepted by field: only these fields are written.", async (t) => {
      const { note, reviewer, added, id } = await proposed(t);
      const take = [{ operation: 0, fields: ["title"] }];
      t.answered(await decide(t, reviewer, id, "accept", { take }), 200, { status: "confirmed" });
      t.fits(await recordOf(t, note.path), { title: "two", body: "-" }, "the record");
      t.refused(await t.get(`${notes}/${added}`), "record_not_found");
      t.answered(await readProposal(t, reviewer, id), 200, { status: "accepted", decision: { take: exactly(take) } });
    }),
    ...checkEach(
      REFUSED,
      ([what]) => `[PR4] An acceptance with ${what} is 400, and the proposal stays open.`,
      async (t, [, body, param]) => {
        const { note, reviewer, id } = await proposed(t);
        t.answered(await decide(t, reviewer, id, "accept", body), 400, { type: "validation_error", param });
        t.answered(await readProposal(t, reviewer, id), 200, { status: "open", decision: null });
        t.fits(await recordOf(t, note.path), { title: "one" }, "the record");
      },
    ),
    ...checkEach(
      ["the reviewer", "another participant"],
      (who) =>
        `[PR5] If ${who} has changed the same field since, nothing is written, and the receipt has what they wrote.`,
      async (t, who) => {
        const { note, author, reviewer } = await reviewScene(t, { body: "-" });
        const id = await propose(t, author, note, { title: "two", body: "new" });
        const by = who === "the reviewer" ? reviewer : await agent(t, note.group);
        t.answered(await t.patch(note.path, { data: { title: "theirs" } }, { token: by.token }), 200);
        const asked = t.answered(await decide(t, reviewer, id, "accept"), 200, {
          status: "rejected",
          success: false,
          notifications: [
            {
              id: note.id,
              conflictingFields: ["title"],
              currentValues: { title: "theirs" },
              writtenBy: `agent:${by.name}`,
            },
          ],
        });
        t.refused(await decide(t, reviewer, id, "accept", { onStale: "reject" }), "stale_context");
        t.answered(await readProposal(t, reviewer, id), 200, { status: "open" });
        t.fits(await recordOf(t, note.path), { title: "theirs", body: "-" }, "the record");
        const seen = { readAt: positionOf(asked) };
        t.answered(await decide(t, reviewer, id, "accept", seen), 200, { status: "confirmed" });
        t.fits(await recordOf(t, note.path), { title: "two", body: "new" }, "the record after it was seen");
      },
    ),
    check("[PR5] Other fields that were changed since, and fields that are not taken, are no conflict.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t, { body: "-" });
      const id = await propose(t, author, note, { title: "two", body: "new" });
      t.answered(await t.patch(note.path, { data: { title: "theirs", order: 7 } }), 200);
      const take = [{ operation: 0, fields: ["body"] }];
      t.answered(await decide(t, reviewer, id, "accept", { take }), 200, { status: "confirmed" });
      t.fits(await recordOf(t, note.path), { title: "theirs", order: 7, body: "new" }, "the record");
    }),
    check(
      "[PR6] Of decisions at once, one is made: all others are 409 proposal_ended, and the record is as it was decided.",
      async (t) => {
        const { note, author, reviewer } = await reviewScene(t);
        const second = await agent(t, note.group);
        const ways = [
          ...([reviewer, second] as const).flatMap((who) => [
            [who, "accept"] as const,
            [who, "reject"] as const,
            [who, "accept"] as const,
          ]),
          [author, "withdraw"] as const,
        ];
        for (let round = 0; round < 5; round++) {
          const title = `round ${round}`;
          const id = await propose(t, author, note, { title });
          const answers = await Promise.all(ways.map(([who, how]) => decide(t, who, id, how)));
          t.is(answers.filter(({ status }) => status === 200).length, 1, "decisions that were made");
          for (const answer of answers) if (answer.status !== 200) t.refused(answer, "proposal_ended");
          const { body } = t.answered(await readProposal(t, reviewer, id), 200);
          const written = (await recordOf(t, note.path)).title === title;
          t.is(written, body.status === "accepted", "whether it was written, by how it ended");
        }
      },
    ),
    check("[PR6] An acceptance that is repeated with its key is answered as before, and written once.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const id = await propose(t, author, note, { title: "two" });
      const [key, token] = [t.id(), reviewer.token];
      const accept = () => t.post(`${PROPOSALS}/${id}/accept`, {}, { token, key });
      const first = t.answered(await accept(), 200, { status: "confirmed" });
      const again = t.answered(await accept(), 200);
      t.is([again.text, again.headers["idempotent-replayed"]], [first.text, "true"], "the answer and its header");
      t.is((await t.entries(note.at, [note.id])).length, 1, "entries");
      t.refused(await t.post(`${PROPOSALS}/${id}/accept`, {}, { token, key: t.id() }), "proposal_ended");
    }),
    check("[PR1] A write that is proposed again with its key is one proposal.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const options = { token: author.token, key: t.id() };
      const send = () => t.patch(note.path, { data: { title: "two" } }, options);
      const first = t.answered(await send(), 200, { status: "proposed" });
      t.is((await send()).text, first.text, "the receipt");
      const list = `${PROPOSALS}?model=${NOTE}&id=${note.id}`;
      t.is((await t.listed(list, { token: reviewer.token })).length, 1, "proposals");
    }),
    check("[PR7] The author neither accepts nor rejects: 403 own_proposal, also if they may write.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const own = await propose(t, reviewer, note, { title: "two" }, { propose: true });
      const byAuthor = await propose(t, author, note, { title: "three" });
      for (const [who, id] of [
        [reviewer, own],
        [author, byAuthor],
      ] as const) {
        for (const how of ["accept", "reject"] as const) t.refused(await decide(t, who, id, how), "own_proposal");
        const commit = { decide: { proposal: id, how: "accept" } };
        const operations = [update(note.id, { title: who === author ? "three" : "two" })];
        t.refused(await t.commit(operations, commit, { token: who.token }), "own_proposal");
        t.answered(await readProposal(t, who, id), 200, { status: "open" });
      }
      t.fits(await recordOf(t, note.path), { title: "one" }, "the record");
    }),
    check("[PR7] Only its author withdraws it, and then it is not decided.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const id = await propose(t, author, note, { title: "two" });
      t.refused(await decide(t, reviewer, id, "withdraw"), "not_proposal_author");
      t.answered(await decide(t, author, id, "withdraw", { reason: "Not yet" }), 200, {
        object: "proposal",
        status: "withdrawn",
        decision: { by: `agent:${author.name}`, at: time, reason: "Not yet" },
      });
      for (const how of ["accept", "reject"] as const) t.refused(await decide(t, reviewer, id, how), "proposal_ended");
      t.refused(await decide(t, author, id, "withdraw"), "proposal_ended");
    }),
    check("[PR7] Those decide who may write all of it; a token that may only propose never does.", async (t) => {
      const { note, author, id } = await proposed(t);
      const { group } = note;
      const decided = [update(note.id, { title: "two", body: "new" }), create(t.id(), note.deckId)];
      for (const operations of [
        [`${NOTE}.propose`],
        [`${NOTE}.read`],
        [`${NOTE}.read`, `${NOTE}.update`],
        [`${NOTE}.propose`, `${NOTE}.update`],
      ]) {
        const who = await agent(t, group, { operations });
        for (const how of ["accept", "reject"] as const) {
          t.refused(await decide(t, who, id, how), "capability_scope_denied");
          const commit = { decide: { proposal: id, how } };
          t.refused(await t.commit(decided, commit, { token: who.token }), "capability_scope_denied");
        }
      }
      t.answered(await readProposal(t, author, id), 200, { status: "open" });
      t.fits(await recordOf(t, note.path), { title: "one" }, "the record");
    }),
    check("[PR7] A rejection writes nothing, and says by whom and why.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const id = await propose(t, author, note, { title: "two" });
      t.answered(await decide(t, reviewer, id, "reject", { reason: "Too short" }), 200, {
        object: "proposal",
        id,
        status: "rejected",
        decision: { by: `agent:${reviewer.name}`, at: time, reason: "Too short", syncId: absent },
      });
      t.is(await t.entries(note.at, [note.id]), [], "the entries after it");
      t.refused(await decide(t, reviewer, id, "accept"), "proposal_ended");
    }),
    check(
      "[PR16] A commit with decide accepts a proposal, in a bulk too, with some of its fields and corrected values.",
      async (t) => {
        const { note, author, reviewer } = await reviewScene(t, { body: "-" });
        const run = t.id();
        const id = await propose(t, author, note, { title: "Teh", body: "new" }, { run });
        const commit = {
          clientTxId: t.id(),
          clientId: "conf_tab",
          operations: [update(note.id, { title: "The" })],
          decide: { proposal: id, how: "accept", reason: "Spelling" },
        };
        const { token } = reviewer;
        const send = (more: object = {}) =>
          t.post("/v1/commits/bulk", { commits: [{ ...commit, ...more }] }, { token });
        const done = [{ status: "confirmed", httpStatus: 200 }];
        t.fits(rowsOf(t.answered(await send(), 200)), done, "the commit");
        t.fits(rowsOf(t.answered(await send(), 200)), done, "the same commit again");
        t.fits(rowsOf(await send({ clientTxId: t.id() })), [{ code: "proposal_ended", httpStatus: 409 }], "another");
        t.fits(await recordOf(t, note.path), { title: "The", body: "-" }, "the record");
        t.fits(
          await t.entries(note.at, [note.id]),
          [{ run, proposal: id, proposedBy: `agent:${author.name}`, clientId: "conf_tab", actor: reviewer.name }],
          "the entries",
        );
        t.answered(await readProposal(t, author, id), 200, {
          status: "accepted",
          decision: { take: [{ operation: 0, fields: ["title"] }], edited: true, reason: "Spelling" },
        });
      },
    ),
    check("[PR16] What was not proposed is 400 not_proposed, and the proposal stays open.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const other = await t.note({ deckId: note.deckId });
      const id = await propose(t, author, note, { title: "two" });
      const accept = { decide: { proposal: id, how: "accept" } };
      const { token } = reviewer;
      for (const operation of [
        update(note.id, { order: 2 }),
        update(note.id, { title: "two", order: 2 }),
        update(other.id, { title: "two" }),
        { action: "delete", model: NOTE, id: note.id },
      ])
        t.refused(await t.commit([operation], accept, { token }), "not_proposed", { param: "operations[0]" });
      const same = [update(note.id, { title: "two" })];
      t.answered(await t.commit(same, { ...accept, propose: true }, { token }), 400, { param: "propose" });
      t.answered(await t.commit(same, { decide: { proposal: id, how: "perhaps" } }, { token }), 400);
      const none = { decide: { proposal: t.id(), how: "accept" } };
      t.refused(await t.commit(same, none, { token }), "proposal_not_found");
      t.answered(await readProposal(t, author, id), 200, { status: "open" });
      t.fits(await recordOf(t, note.path), { title: "one" }, "the record");
    }),
    check(
      "[PR16] A commit with decide rejects a proposal and writes nothing, also if another participant holds the record.",
      async (t) => {
        const { note, author, reviewer } = await reviewScene(t);
        const id = await propose(t, author, note, { title: "two" });
        t.answered(await claim(t, await agent(t, note.group), note), 201);
        const reject = { decide: { proposal: id, how: "reject", reason: "No" } };
        const operations = [update(note.id, { title: "two" })];
        t.answered(await t.commit(operations, reject, { token: reviewer.token }), 200, { status: "confirmed" });
        t.answered(await readProposal(t, author, id), 200, { status: "rejected", decision: { reason: "No" } });
        t.is(await t.entries(note.at, [note.id]), [], "the entries after it");
      },
    ),
  ],
};
