import { absent, exactly, listOf, oneOf, row, someText, time } from "../../assertions/pattern.ts";
import { NOTE, RULED, WHOLE } from "../../environment/models.ts";
import { agent, claim } from "../../kit/claim-kit.ts";
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
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { type Answer, idsOf, rowsOf } from "../../protocol/answers.ts";
import type { Listener } from "../../transport/stream.ts";

const notes = `/v1/models/${NOTE}`;
const secondsOf = ({ body }: Answer) =>
  (Date.parse(String(body.expiresAt)) - Date.parse(String(body.createdAt))) / 1_000;

/** Asks to be told of proposals, and waits until the server has read that. */
async function watchProposals(stream: Listener): Promise<void> {
  stream.send({ frame: "proposals" });
  stream.send({ frame: "ping", n: 1 });
  await stream.next("pong", { n: 1 });
}

export const section: SuiteSection = {
  title: "Proposals",
  cases: [
    check(
      "[PR1] [PR15] A write of a token that may only propose changes nothing: it becomes a proposal, with every documented field.",
      async (t) => {
        const onBehalfOf = `user:${t.id()}`;
        const { id, path, at, group } = await t.note({ title: "one" });
        const author = await proposer(t, group, { onBehalfOf: [onBehalfOf] });
        const why = { reason: "A shorter title", run: t.id(), onBehalfOf, meta: { n: 1 } };
        const body = { data: { title: "two", count: 4 }, clientTxId: t.id(), ...why };
        const receipt = t.answered(await t.patch(path, body, { token: author.token }), 200, {
          object: "commit_receipt",
          status: "proposed",
          success: false,
          proposal: someText,
          ops: 1,
          clientTxId: body.clientTxId,
        });
        t.fits(await recordOf(t, path), { title: "one", count: oneOf(absent, null) }, "the record");
        t.is(await t.entries(at, [id]), [], "the entries after it");
        const answer = t.answered(await readProposal(t, author, String(receipt.body.proposal)), 200, {
          object: "proposal",
          id: String(receipt.body.proposal),
          status: "open",
          author: `agent:${author.name}`,
          clientTxId: body.clientTxId,
          branch: null,
          logId: String(receipt.body.logId),
          createdAt: time,
          expiresAt: time,
          decision: null,
          ...why,
          operations: [{ action: "update", model: NOTE, id, data: exactly(body.data), base: row({ title: "one" }) }],
        });
        t.that(Number(answer.body.readAt) >= at, `a readAt from ${at}`, answer.body.readAt);
        t.is(secondsOf(answer), 30 * 86_400, "the seconds until it expires");
      },
    ),
    check(
      "[PR1] Who may write proposes with propose, on every route, in a commit and in a bulk, also with a secret key.",
      async (t) => {
        const { note, reviewer } = await reviewScene(t);
        const { path, deckId } = note;
        const [id, asked, token] = [t.id(), { propose: true }, reviewer.token];
        const commits = [{ clientTxId: t.id(), operations: [update(note.id, { title: "two" })], ...asked }];
        const bulk = t.answered(await t.post("/v1/commits/bulk", { commits }, { token }), 200);
        const made = [
          proposalOf(t, await t.post(notes, { id, data: { deckId }, ...asked }, { token })),
          await propose(t, reviewer, note, { title: "two" }, asked),
          proposalOf(t, await t.post(`${path}/archive`, asked, { token })),
          proposalOf(t, await t.remove(path, { json: asked, token })),
          proposalOf(t, await t.commit([create(id, deckId), { action: "archive", model: NOTE, id: note.id }], asked)),
        ];
        const first = { httpStatus: 200, status: "proposed", proposal: someText };
        t.fits(rowsOf(bulk), [first], "the commit of a bulk");
        t.answered(await t.get(path), 200, { archivedAt: null, data: { title: "one" } });
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
        const actions = await Promise.all(
          made.map(async (one) => {
            const { body } = t.answered(await readProposal(t, reviewer, one), 200);
            return (body.operations as { action: string }[]).map(({ action }) => action);
          }),
        );
        t.is(actions, [["create"], ["update"], ["archive"], ["delete"], ["create", "archive"]], "the operations");
      },
    ),
    check(
      "[PR15] A token proposes what needs a verb that it lacks, and writes what needs one that it has.",
      async (t) => {
        const note = await t.note();
        const operations = [`${NOTE}.propose`, `${NOTE}.update`];
        const { token } = await agent(t, note.group, { operations });
        t.answered(await t.patch(note.path, { data: { title: "two" } }, { token }), 200, { status: "confirmed" });
        proposalOf(t, await t.post(notes, { id: t.id(), data: { deckId: note.deckId } }, { token }));
        proposalOf(t, await t.remove(note.path, { token }));
        const both = [update(note.id, { title: "three" }), { action: "delete", model: NOTE, id: note.id }];
        proposalOf(t, await t.commit(both, {}, { token }));
        t.fits(await recordOf(t, note.path), { title: "two" }, "the record");
      },
    ),
    check("[PR2] What could not land is refused as a commit is, and nothing is proposed.", async (t) => {
      const { note, author } = await reviewScene(t);
      const { token } = author;
      const { id, path, at, group } = note;
      const reader = await agent(t, group, { operations: [`${NOTE}.read`] });
      const foreign = await t.note();
      const patch = (json: object, by = token, to = path) => t.patch(to, json, { token: by });
      t.refused(await patch({ data: { title: 7 } }), "invalid_type");
      t.refused(await patch({ data: { colour: 1 } }), "unknown_field");
      t.refused(await patch({ data: { deckId: t.deck().deckId } }), "capability_scope_denied");
      t.refused(await patch({ data: { title: "x" } }, token, foreign.path), "capability_scope_denied");
      t.refused(await patch({ data: { title: "x" }, propose: true }, reader.token), "capability_scope_denied", {
        body: { requiredCapability: { can: "update", model: NOTE } },
      });
      t.refused(await patch({ data: { title: "x" }, onBehalfOf: "user:ben" }), "on_behalf_of_denied");
      t.refused(await t.post(notes, { id, data: { deckId: note.deckId } }, { token }), "already_exists");
      const odd = { id: t.id(), data: { slug: "Not A Slug" }, propose: true };
      t.refused(await t.post(`/v1/models/${RULED}`, odd), "rule_broken");
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      t.refused(await patch({ data: { title: "mine" }, readAt: at }), "stale_context");
      t.is(await t.listed(`${PROPOSALS}?model=${NOTE}&id=${id}`), [], "the proposals");
    }),
    check("[PR2] An erasure cannot be proposed.", async (t) => {
      const { note, author } = await reviewScene(t);
      const erase = `${note.path}?erase=true`;
      t.refused(await t.remove(erase, { token: author.token }), "capability_scope_denied");
      t.refused(await t.remove(erase, { json: { propose: true } }), "invalid_value", { param: "propose" });
      t.answered(await t.get(note.path), 200);
    }),
    check("[PR2] A proposal needs no claim, and none stops it.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      t.answered(await claim(t, reviewer, note), 201);
      await propose(t, author, note, { title: "two" });
    }),
    check(
      "[PR8] A proposal is seen only by those who may read all of its records, now, when it was proposed, and where it would put them.",
      async (t) => {
        const [{ note: a, author, reviewer }, { note: b, reviewer: other }] = [
          await reviewScene(t),
          await reviewScene(t),
        ];
        const wide = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [a.group, b.group] });
        const asked = { propose: true };
        const both = proposalOf(
          t,
          await t.commit(
            [a, b].map(({ id }) => update(id, { title: "two" })),
            asked,
          ),
        );
        const move = proposalOf(t, await t.patch(a.path, { data: { deckId: b.deckId }, ...asked }));
        for (const id of [both, move]) {
          for (const one of [reviewer, author, other]) t.refused(await readProposal(t, one, id), "proposal_not_found");
          t.answered(await readProposal(t, wide, id), 200, { id });
        }
        const own = await propose(t, author, a, { title: "two" });
        const listed = async ({ token }: { readonly token: string }) =>
          (await t.listed(`${PROPOSALS}?model=${NOTE}&id=${a.id}`, { token })).map(({ id }) => id);
        t.is(await listed(reviewer), [own], "what the reviewer of one deck sees");
        t.is(await listed(wide), [both, move, own], "what the reader of both decks sees");
        t.answered(await t.patch(a.path, { data: { deckId: b.deckId } }), 200);
        for (const one of [reviewer, author, other]) t.refused(await readProposal(t, one, own), "proposal_not_found");
        t.answered(await readProposal(t, wide, own), 200, { id: own });
      },
    ),
    check("[PR8] It does not exist for those who may not read its model, nor in another tenant.", async (t) => {
      const { note, author } = await reviewScene(t);
      const id = await propose(t, author, note, { title: "two" });
      const ofAnotherModel = await agent(t, note.group, { operations: [`${WHOLE}.*`] });
      const tokens = [ofAnotherModel.token, t.otherKey(), (await t.freshTenant()).key];
      for (const token of tokens) {
        t.refused(await readProposal(t, { token }, id), "proposal_not_found");
        for (const how of ["accept", "reject", "withdraw"] as const)
          t.refused(await decide(t, { token }, id, how), "proposal_not_found");
      }
      t.refused(await t.get(`${PROPOSALS}?model=${NOTE}`, { token: ofAnotherModel.token }), "capability_scope_denied");
    }),
    ...checkEach(
      [
        ["that no proposal has", "prop_unknown"],
        ["of 300 characters", "a".repeat(300)],
        ["with a space", "a%20b"],
      ] as const,
      ([what]) => `[PR8] An id ${what} is 404 proposal_not_found, also for a decision.`,
      async (t, [, id]) => {
        t.refused(await t.get(`${PROPOSALS}/${id}`), "proposal_not_found");
        for (const how of ["accept", "reject", "withdraw"])
          t.refused(await t.post(`${PROPOSALS}/${id}/${how}`, {}), "proposal_not_found");
      },
    ),
    check(
      "[PR9] Lists can be limited to a status, a record, an author, a run and a branch, and have the oldest first, page by page.",
      async (t) => {
        const { note, author, reviewer } = await reviewScene(t);
        const [run, branch] = [t.id(), t.id()];
        const names: string[] = [];
        for (let i = 0; i < 6; i++)
          names.push(
            await propose(t, author, note, { title: `t${i}` }, { run, ...(i > 3 && { propose: { branch } }) }),
          );
        const [first, second, ...open] = names as [string, string, ...string[]];
        t.answered(await decide(t, reviewer, first, "reject"), 200, { status: "rejected" });
        t.answered(await decide(t, author, second, "withdraw"), 200, { status: "withdrawn" });
        const options = { token: reviewer.token };
        const ids = async (query: string) => (await t.listed(`${PROPOSALS}?${query}`, options)).map(({ id }) => id);
        t.is(await ids(`run=${run}`), open, "those that are open, which is the default");
        t.is(await ids(`run=${run}&status=open`), open, "those that are open");
        t.is(await ids(`run=${run}&status=all`), names, "all of them");
        t.is(await ids(`run=${run}&status=rejected`), [first], "those that were rejected");
        t.is(await ids(`run=${run}&status=withdrawn`), [second], "those that were withdrawn");
        t.is(await ids(`run=${run}&status=accepted`), [], "those that were accepted");
        t.is(await ids(`branch=${branch}`), names.slice(4), "those of the branch");
        t.is(await ids(`model=${NOTE}&id=${note.id}&author=agent:${author.name}`), open, "those of record and author");
        t.is(await ids(`author=user:${author.name}`), [], "those of an author of another kind");
        const paged: unknown[] = [];
        for (let cursor: unknown = ""; cursor !== null && paged.length < 9; ) {
          const query = `run=${run}&limit=1${cursor && `&starting_after=${encodeURIComponent(String(cursor))}`}`;
          const page = t.answered(await t.get(`${PROPOSALS}?${query}`, options), 200, { object: "list" });
          t.is(page.body.has_more, page.body.next_cursor !== null, "has_more, by next_cursor");
          paged.push(...idsOf(page));
          cursor = page.body.next_cursor;
        }
        t.is(paged, open, "the same in pages of one");
      },
    ),
    ...checkEach(
      [
        ...["status=new", "author=ann", "id=s1", "limit=0", "limit=101", "starting_after=x", "run=", "colour=1"],
        `run=${"x".repeat(256)}`,
      ],
      (query) => `[PR9] A list with ${query.length > 40 ? "a run of 256 characters" : query} is 400.`,
      async (t, query) => t.answered(await t.get(`${PROPOSALS}?${query}`), 400, { type: "validation_error" }),
    ),
    check("[PR10] A proposal says how long it can be decided: from 60 seconds to 90 days.", async (t) => {
      const { note, author } = await reviewScene(t);
      for (const ttlSeconds of [60, 90 * 86_400]) {
        const id = await propose(t, author, note, { title: "two" }, { propose: { ttlSeconds } });
        t.is(secondsOf(t.answered(await readProposal(t, author, id), 200)), ttlSeconds, "the seconds until it expires");
      }
    }),
    ...checkEach(
      [
        ["false", false],
        ["a text", "yes"],
        ["59 seconds", { ttlSeconds: 59 }],
        ["more than 90 days", { ttlSeconds: 90 * 86_400 + 1 }],
        ["a branch with a space", { branch: "a b" }],
        ["a branch of 256 characters", { branch: "x".repeat(256) }],
        ["an unknown key", { colour: 1 }],
      ] as const,
      ([what]) => `[PR10] propose with ${what} is 400.`,
      async (t, [, propose]) => {
        const { path } = await t.note();
        const answer = await t.patch(path, { data: { title: "two" }, propose });
        t.answered(answer, 400, { type: "validation_error", param: /^propose/ });
        t.fits(await recordOf(t, path), { title: "one" }, "the record");
      },
    ),
    check("[PR11] When a record is erased, its proposals are erased too; a deletion leaves them.", async (t) => {
      const { note, author, reviewer } = await reviewScene(t);
      const other = await t.note({ deckId: note.deckId });
      const erased = await propose(t, author, note, { title: "two" });
      const batch = [update(other.id, { title: "two" }), update(note.id, { title: "three" })];
      const alsoErased = proposalOf(t, await t.commit(batch, {}, { token: author.token }));
      const left = await propose(t, author, other, { title: "three" });
      t.answered(await t.remove(`${note.path}?erase=true`), 200);
      t.answered(await t.remove(other.path), 200);
      for (const id of [erased, alsoErased]) {
        t.answered(await t.get(`${PROPOSALS}/${id}`), 404, { code: "proposal_not_found" });
        t.refused(await decide(t, reviewer, id, "accept"), "proposal_not_found");
      }
      t.answered(await t.get(`${PROPOSALS}/${left}`), 200, { status: "open" });
      t.is(await t.listed(`${PROPOSALS}?model=${NOTE}&id=${note.id}&status=all`), [], "the proposals of the record");
    }),
    check("[PR12] When a field is renamed, it is renamed in open proposals, which can be accepted.", async (t) => {
      const { name, token, push, create } = await schemaTenant(t);
      const shape = (field: string) => ({ fields: { [field]: { type: "string" } } });
      t.answered(await push(shape("title")), 201);
      const { id, path } = await create({ title: "one" });
      const made = await t.patch(path, { data: { title: "two" }, propose: true }, { token });
      const proposal = proposalOf(t, made);
      t.answered(await push(shape("heading"), { renames: [{ model: name, from: "title", to: "heading" }] }), 201);
      t.answered(await readProposal(t, { token }, proposal), 200, {
        operations: [{ id, data: exactly({ heading: "two" }), base: row({ heading: "one" }) }],
      });
      const minted = await t.post("/v1/capabilities", { participantId: t.id(), wideScope: true }, { token });
      const reviewer = { token: String(t.answered(minted, 201).body.token) };
      t.answered(await decide(t, reviewer, proposal, "accept"), 200, { status: "confirmed" });
      t.answered(await t.get(path, { token }), 200, { data: { heading: "two" } });
    }),
    check("[PR14] Proposals are not in the log: its position stays, also when one is rejected.", async (t) => {
      const { key: token } = await t.freshTenant();
      const id = t.id();
      const path = `${notes}/${id}`;
      t.answered(await t.post(notes, { id, data: { title: "one" } }, { token }), 200);
      const at = await t.head({ token });
      const proposal = await propose(t, { token }, { path }, { title: "two" }, { propose: true });
      const minted = await t.post("/v1/capabilities", { participantId: t.id(), wideScope: true }, { token });
      const reviewer = { token: String(t.answered(minted, 201).body.token) };
      t.answered(await decide(t, reviewer, proposal, "reject"), 200, { status: "rejected" });
      t.is(await t.head({ token }), at, "the head of the log");
      t.fits(await t.entries(0, undefined, { token }), listOf({ id, verb: "created" }), "the log");
    }),
    check(
      "[PR17] A stream that sends proposals is told when those that its reader may see are made and decided; others are told nothing.",
      async (t) => {
        const { note, author, reviewer } = await reviewScene(t);
        const elsewhere = await reviewScene(t);
        const [near, far, silent] = [
          await t.connect({ token: reviewer.token }),
          await t.connect({ token: elsewhere.reviewer.token }),
          await t.connect({ token: reviewer.token }),
        ];
        for (const stream of [near, far]) await watchProposals(stream);
        const first = await propose(t, author, note, { title: "two" });
        await near.next("proposals");
        t.answered(await decide(t, reviewer, first, "accept"), 200);
        await near.next("proposals");
        const second = await propose(t, author, note, { title: "three" });
        await near.next("proposals");
        t.answered(await decide(t, author, second, "withdraw"), 200);
        await near.next("proposals");
        await propose(t, elsewhere.author, elsewhere.note, { title: "two" });
        await far.next("proposals");
        const told = ({ frames }: Listener) => frames.filter(({ frame }) => frame === "proposals").length;
        t.is(told(far), 1, "frames about the proposals of another deck");
        t.is(told(silent), 0, "frames on a stream that did not ask");
      },
    ),
  ],
};
