import { absent, exactly, type Pattern, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { claim, granted, listClaims, readClaim, refusedFor } from "../../kit/claim-kit.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { eventsOf, hook, hooked } from "../../kit/webhook-kit.ts";
import { entriesOf, positionOf, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const KEYS = ["reason", "run", "onBehalfOf", "meta"] as const;
type Attribution = { readonly [key in (typeof KEYS)[number]]?: unknown };

/** A value with these parts of an attribution, and without the others. */
const attributed = (given: Attribution): Pattern =>
  Object.fromEntries(KEYS.map((key) => [key, given[key] === undefined ? absent : exactly(given[key])]));
/** All four, with names that no other case uses. */
const attribution = (t: Kit) => ({
  reason: "Grün, 1½ “ok” 😀",
  run: t.id(),
  onBehalfOf: `user:${t.id()}`,
  meta: { model: "m1", steps: [1, { n: null }] },
});
const operation = (action: string, id: string, data?: object) => ({ action, model: NOTE, id, ...(data && { data }) });
const historyOf = async (t: Kit, path: string) => entriesOf(t.answered(await t.get(`${path}/history`), 200));
/** The records of the log's entries that a filter leaves. */
const found = async (t: Kit, filter: string, token = t.environment.key) =>
  entriesOf(t.answered(await t.get(`/v1/log?limit=1000&${filter}`, { token }), 200)).map(({ id }) => id);
const ofRun = (t: Kit, run: string, token?: string) => found(t, `run=${encodeURIComponent(run)}`, token);

/** An agent that writes in a deck, for these participants. */
async function writer(t: Kit, onBehalfOf?: readonly string[]) {
  const { deckId, group } = t.deck();
  const name = t.id();
  const scope = { participantId: name, operations: [`${NOTE}.*`], syncGroups: [group] };
  return { name, deckId, group, ...(await t.capability({ ...scope, ...(onBehalfOf && { onBehalfOf }) })) };
}

const REFUSED: readonly (readonly [what: string, param: (typeof KEYS)[number], value: unknown])[] = [
  ["an empty reason", "reason", ""],
  ["a reason of 1 001 characters", "reason", "x".repeat(1_001)],
  ["a reason that is a number", "reason", 7],
  ["an empty run", "run", ""],
  ["a run of 256 characters", "run", "x".repeat(256)],
  ["a run that is a number", "run", 7],
  ["an onBehalfOf without a kind", "onBehalfOf", "ann"],
  ["an onBehalfOf of an unknown kind", "onBehalfOf", "robot:ann"],
  ["an onBehalfOf with a space", "onBehalfOf", "user:a b"],
  ["an onBehalfOf of more than 255 characters", "onBehalfOf", `user:${"x".repeat(256)}`],
  ["a list as meta", "meta", []],
  ["meta that is a text", "meta", "m1"],
  ["meta of more than 4 KiB", "meta", { note: "x".repeat(4_096) }],
];

export const section: SuiteSection = {
  title: "Attribution",
  cases: [
    check(
      "[AT1] What a commit says of itself is in each of its entries, as it was given: in the log, in histories and on streams.",
      async (t) => {
        const given = attribution(t);
        const [a, b, { deckId }] = [t.id(), t.id(), t.deck()];
        const path = `${notes}/${a}`;
        const stream = await t.connect();
        const made = t.answered(await t.post(notes, { id: a, data: { deckId }, ...given }), 200);
        t.answered(await t.patch(path, { data: { title: "two" }, ...given }), 200);
        t.answered(await t.post(`${path}/archive`, { reason: "done" }), 200);
        const operations = [operation("unarchive", a), operation("create", b, { deckId })];
        t.answered(await t.commit(operations, given), 200);
        const last = t.answered(await t.remove(path, { json: given }), 200);
        const entries = await t.entries(positionOf(made) - 1, [a, b]);
        const whole = attributed(given);
        t.fits(entries, [whole, whole, attributed({ reason: "done" }), whole, whole, whole], "the log");
        t.is(
          await historyOf(t, path),
          entries.filter(({ id }) => id === a),
          "the history",
        );
        await stream.reaches(positionOf(last));
        t.is(
          stream.entries.filter(({ id }) => id === a || id === b),
          entries,
          "the entries on the stream",
        );
      },
    ),
    check("[AT1] Each commit of a bulk has its own attribution; what was not given is absent.", async (t) => {
      const given = attribution(t);
      const { id, path, at } = await t.note();
      const commits = [
        { clientTxId: t.id(), operations: [operation("update", id, { title: "a" })], ...given },
        { clientTxId: t.id(), operations: [operation("update", id, { title: "b" })], run: given.run },
        { clientTxId: t.id(), operations: [operation("update", id, { title: "c" })] },
        { clientTxId: t.id(), operations: [operation("update", id, { title: "d" })], meta: {} },
      ];
      t.answered(await t.post("/v1/commits/bulk", { commits }), 200);
      const expected = [given, { run: given.run }, {}, { meta: {} }].map(attributed);
      t.fits(await t.entries(at, [id]), expected, "the entries");
      t.fits((await historyOf(t, path))[0], { ...(attributed({}) as object), attribution: absent }, "the first entry");
    }),
    check("[AT1] Events of webhooks have the attribution of their entries.", async (t) => {
      const { receiver } = await hooked(t);
      const given = attribution(t);
      const { id, path } = await hook(t);
      t.answered(await t.patch(path, { data: { title: "two" }, ...given }), 200);
      const events = await receiver.until("two events", (all) => {
        const own = eventsOf(all, id);
        return own.length >= 2 ? own : undefined;
      });
      t.fits(events, [attributed({}), attributed(given)], "the events");
    }),
    check(
      "[AT2] Headers say the same on the routes of one record and of one commit, percent-encoded where it is not ASCII.",
      async (t) => {
        const given = { reason: "Grün 100%", run: `run ${t.id()}`, onBehalfOf: `user:${t.id()}` };
        const headers = {
          "holdfast-reason": encodeURIComponent(given.reason),
          "holdfast-run": encodeURIComponent(given.run),
          "holdfast-on-behalf-of": given.onBehalfOf,
        };
        const id = t.id();
        const path = `${notes}/${id}`;
        t.answered(await t.post(notes, { id, data: { title: "one" } }, { headers }), 200);
        t.answered(await t.patch(path, { data: { title: "two" } }, { headers }), 200);
        t.answered(await t.post(`${path}/archive`, undefined, { headers }), 200);
        t.answered(await t.commit([operation("unarchive", id)], {}, { headers }), 200);
        t.answered(await t.commit([operation("update", id, { title: "three" })], given, { headers }), 200);
        t.answered(await t.remove(path, { headers }), 200);
        const entries = await historyOf(t, path);
        t.fits(
          entries,
          entries.map(() => attributed(given)),
          "the entries",
        );
        t.is(await ofRun(t, given.run), Array(6).fill(id), "the records of the run's entries");
      },
    ),
    check(
      "[AT2] A header that differs from the body, one that is not encoded, and one that is sent twice are 400.",
      async (t) => {
        const body = { id: t.id(), data: {}, run: t.id(), reason: "why", onBehalfOf: `user:${t.id()}` };
        const send = (headers: Readonly<Record<string, string | readonly string[]>>) =>
          t.post(notes, body, { headers });
        for (const [header, value, param] of [
          ["holdfast-run", "another", "run"],
          ["holdfast-reason", "another", "reason"],
          ["holdfast-on-behalf-of", "user:another", "onBehalfOf"],
        ] as const)
          t.answered(await send({ [header]: value }), 400, { type: "validation_error", param });
        for (const value of ["%zz", "%ff", "%", "Gr\u00fcn"])
          t.answered(await send({ "holdfast-reason": value }), 400, { param: "holdfast-reason" });
        t.refused(await send({ "holdfast-run": [body.run, body.run] }), "duplicate_header");
        t.refused(await t.get(`${notes}/${body.id}`), "record_not_found");
      },
    ),
    ...checkEach(
      ["holdfast-reason", "holdfast-run", "holdfast-on-behalf-of"],
      (header) => `[AT2] ${header} of a bulk is 400, because its commits may differ.`,
      async (t, header) => {
        const id = t.id();
        const commits = [{ clientTxId: t.id(), operations: [operation("create", id, {})] }];
        const answer = await t.post("/v1/commits/bulk", { commits }, { headers: { [header]: "user:ann" } });
        t.answered(answer, 400, { type: "validation_error", param: header });
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      },
    ),
    check("[AT3] A token writes for those in its onBehalfOf, and stays the actor.", async (t) => {
      const [ann, ben] = [`user:${t.id()}`, `user:${t.id()}`];
      const { name, deckId, token } = await writer(t, [ann, ben]);
      const ids = [t.id(), t.id()];
      const made = t.answered(await t.post(notes, { id: ids[0], data: { deckId }, onBehalfOf: ann }, { token }), 200);
      t.answered(
        await t.commit([operation("create", String(ids[1]), { deckId })], { onBehalfOf: ben }, { token }),
        200,
      );
      t.fits(
        await t.entries(positionOf(made) - 1, ids),
        [ann, ben].map((onBehalfOf) => ({ actor: name, participantKind: "agent", onBehalfOf })),
        "the entries",
      );
    }),
    check(
      "[AT3] Everyone else is 403 on_behalf_of_denied, on every route and on the stream, and nothing is written.",
      async (t) => {
        const { deckId, group, token } = await writer(t, [`user:${t.id()}`]);
        const { id, path } = await t.note({ deckId });
        const asked = { onBehalfOf: `user:${t.id()}` };
        const headers = { "holdfast-on-behalf-of": asked.onBehalfOf };
        const create = operation("create", t.id(), { deckId });
        const denied = { param: "onBehalfOf" };
        const ways = [
          () => t.post(notes, { id: create.id, data: { deckId }, ...asked }, { token }),
          () => t.post(notes, { id: create.id, data: { deckId } }, { token, headers }),
          () => t.patch(path, { data: { title: "two" }, ...asked }, { token }),
          () => t.post(`${path}/archive`, asked, { token }),
          () => t.remove(path, { token, json: asked }),
          () => t.commit([create], asked, { token }),
          () => t.post(`${path}/claim`, asked, { token }),
          () => t.post("/v1/claims", { target: { model: NOTE, id }, ...asked }, { token }),
        ];
        for (const send of ways) t.refused(await send(), "on_behalf_of_denied", denied);
        const commits = [{ clientTxId: t.id(), operations: [create], ...asked }];
        const bulk = t.answered(await t.post("/v1/commits/bulk", { commits }, { token }), 200);
        t.fits(rowsOf(bulk), [{ code: "on_behalf_of_denied", httpStatus: 403 }], "the commit of a bulk");
        const stream = await t.connect({ token });
        stream.send({ frame: "call", n: 1, name: "commit", body: commits[0] });
        t.fits(
          await stream.next("answer", { n: 1 }),
          { status: 403, body: { code: "on_behalf_of_denied" } },
          "the commit on a stream",
        );
        const user = t.id();
        const own = await t.ephemeral({ user: { id: user }, operations: [`${NOTE}.*`], syncGroups: [group] });
        const forOneself = { id: create.id, data: { deckId }, onBehalfOf: `user:${user}` };
        t.refused(await t.post(notes, forOneself, { token: own.token }), "on_behalf_of_denied", denied);
        t.refused(await t.get(`${notes}/${create.id}`), "record_not_found");
        t.is((await historyOf(t, path)).length, 1, "entries of the record");
        t.answered(await listClaims(t, { id }), 200, { claims: exactly([]) });
      },
    ),
    check("[AT3] A token with * and a secret key write for everyone.", async (t) => {
      const { deckId, token } = await writer(t, ["*"]);
      for (const by of [token, t.environment.key])
        for (const kind of ["user", "agent", "system"]) {
          const [id, onBehalfOf] = [t.id(), `${kind}:${t.id()}`];
          const made = t.answered(await t.post(notes, { id, data: { deckId }, onBehalfOf }, { token: by }), 200);
          t.fits(await t.entries(positionOf(made) - 1, [id]), [{ onBehalfOf }], "the entry");
        }
    }),
    check("[AT3] A token says for whom it writes, and its successor writes for the same.", async (t) => {
      const onBehalfOf = [`user:${t.id()}`];
      const { id, deckId, token } = await writer(t, onBehalfOf);
      t.answered(await t.get(`/v1/capabilities/${id}`), 200, { onBehalfOf });
      t.answered(await t.get("/v1/identity", { token }), 200, { onBehalfOf });
      const next = t.answered(await t.post(`/v1/capabilities/${id}/rotate`), 201, { onBehalfOf }).body;
      t.after(() => t.remove(`/v1/capabilities/${next.id}`));
      const made = { id: t.id(), data: { deckId }, onBehalfOf: onBehalfOf[0] };
      t.answered(await t.post(notes, made, { token: String(next.token) }), 200);
    }),
    ...checkEach(
      REFUSED,
      ([what]) => `[AT4] ${what} is 400, for one record, in a commit and in a bulk.`,
      async (t, [, param, value]) => {
        const id = t.id();
        const given = { [param]: value };
        const refusal = { type: "validation_error", param };
        t.answered(await t.post(notes, { id, data: {}, ...given }), 400, refusal);
        t.answered(await t.commit([operation("create", id, {})], given), 400, refusal);
        const commits = [{ clientTxId: t.id(), operations: [operation("create", id, {})], ...given }];
        const bulk = t.answered(await t.post("/v1/commits/bulk", { commits }), 200);
        t.fits(rowsOf(bulk), [{ httpStatus: 400, ...refusal }], "the commit of a bulk");
        t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      },
    ),
    check("[AT4] Each may be as long as it may be.", async (t) => {
      const given = {
        reason: "ü".repeat(1_000),
        run: t.id().padEnd(255, "ü"),
        onBehalfOf: `user:${t.id()}`,
        meta: { note: "x".repeat(4_085) },
      };
      const operations = Array.from({ length: 20 }, () => operation("create", t.id(), {}));
      const at = positionOf(t.answered(await t.commit(operations, given), 200));
      const ids = operations.map(({ id }) => id);
      t.fits(
        await t.entries(at - operations.length, ids),
        operations.map(() => attributed(given)),
        "the entries",
      );
      t.is(await ofRun(t, given.run), ids, "the records of the run's entries");
    }),
    check("[AT5] The same key with another attribution is 409 idempotency_conflict.", async (t) => {
      const [given, key, id] = [attribution(t), t.id(), t.id()];
      const send = (more: Attribution) => t.post(notes, { id, data: {}, ...more }, { key });
      const first = t.answered(await send(given), 200);
      t.is((await send(given)).text, first.text, "the receipt of the same");
      const others = { reason: "other", run: t.id(), onBehalfOf: `user:${t.id()}`, meta: { model: "m2" } };
      for (const name of KEYS)
        for (const value of [others[name], undefined])
          t.refused(await send({ ...given, [name]: value }), "idempotency_conflict");
      t.fits(await t.entries(positionOf(first) - 1, [id]), [attributed(given)], "the entry");
    }),
    check("[AT6] A reader who loses sight of a record is not told why, whatever they ask for.", async (t) => {
      const { deckId, group } = await writer(t);
      const { id, path, at } = await t.note({ deckId });
      const { token } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [group] });
      const given = { ...attribution(t), reason: "A secret of the other deck" };
      const stream = await t.connect({ token, since: at, log: String((await t.get("/v1/log?limit=1")).body.logId) });
      const moved = t.answered(await t.patch(path, { data: { deckId: t.deck().deckId }, ...given }), 200);
      const hidden = { left: true, ...(attributed({}) as object) };
      t.fits(await t.entries(at, [id], { token }), [hidden], "the entries in the log");
      const history = t.answered(await t.get(`${path}/history`, { token }), 200);
      t.fits(entriesOf(history).at(-1), hidden, "the last entry of the history");
      await stream.reaches(positionOf(moved));
      t.fits(stream.entries.filter((entry) => entry.id === id).at(-1), hidden, "the entry on the stream");
      t.is(await ofRun(t, given.run, token), [], "what the reader finds of the run");
      t.is(await found(t, `on_behalf_of=${given.onBehalfOf}`, token), [], "what the reader finds of the principal");
      t.is(await ofRun(t, given.run), [id], "what the organization finds of the run");
    }),
    check("[AT7] The log gives only the changes of a run, of an actor, or on behalf of a participant.", async (t) => {
      const [ann, run, other] = [`user:${t.id()}`, t.id(), t.id()];
      const { name, deckId, token } = await writer(t, [ann]);
      const create = async (more: object, by?: string) => {
        const id = t.id();
        t.answered(await t.post(notes, { id, data: { deckId }, ...more }, by === undefined ? {} : { token: by }), 200);
        return id;
      };
      const ids = [
        await create({ run, onBehalfOf: ann }, token),
        await create({ run: other }, token),
        await create({ run }),
        await create({ onBehalfOf: ann }),
      ] as const;
      t.is(await ofRun(t, run), [ids[0], ids[2]], "the run");
      t.is(await found(t, `actor=agent:${name}`), [ids[0], ids[1]], "the actor");
      t.is(await found(t, `on_behalf_of=${ann}`), [ids[0], ids[3]], "the principal");
      t.is(await found(t, `run=${run}&actor=agent:${name}&on_behalf_of=${ann}`), [ids[0]], "all of them");
      t.is(await found(t, `actor=user:${name}`), [], "an actor of another kind");
      t.is(await ofRun(t, `${run}x`), [], "another run");
      const paged: string[] = [];
      for (let after: unknown = 0, more = true; more; ) {
        const page = t.answered(await t.get(`/v1/log?limit=1&after=${after}&actor=agent:${name}`), 200);
        paged.push(...entriesOf(page).map(({ id }) => id));
        [after, more] = [page.body.next_cursor, page.body.has_more === true];
      }
      t.is(paged, [ids[0], ids[1]], "the actor, in pages of one");
    }),
    ...checkEach(
      [
        ...["actor=ann", "actor=", "actor=robot:ann", "on_behalf_of=x:y", "on_behalf_of=user:", "run="],
        `run=${"x".repeat(256)}`,
      ],
      (query) =>
        `[AT7] The log with ${query.length > 40 ? "a run of 256 characters" : query} is 400, and the parameter is named.`,
      async (t, query) =>
        t.answered(await t.get(`/v1/log?${query}`), 400, {
          type: "validation_error",
          param: String(query.split("=")[0]),
        }),
    ),
    check("[AT8] An erasure takes reasons and meta; runs, and on whose behalf, stay.", async (t) => {
      const given = { ...attribution(t), reason: t.id(), meta: { mark: t.id() } };
      const id = t.id();
      const path = `${notes}/${id}`;
      const made = t.answered(await t.post(notes, { id, data: {}, ...given }), 200);
      t.answered(await t.patch(path, { data: { title: "two" }, reason: given.reason }), 200);
      t.answered(await t.remove(path, { json: given }), 200);
      t.answered(await t.remove(`${path}?erase=true`), 200);
      const left = attributed({ run: given.run, onBehalfOf: given.onBehalfOf });
      const log = await t.entries(positionOf(made) - 1, [id]);
      t.fits(log, [left, attributed({}), left, attributed({})], "the entries");
      t.is(await historyOf(t, path), log, "the history");
      t.is(await ofRun(t, given.run), [id, id], "the records of the run's entries");
      const text = JSON.stringify(log);
      t.that(![given.reason, given.meta.mark].some((word) => text.includes(word)), "no word of it in the log", log);
    }),
    check("[AT9] A claim says in which run it is held, and for whom, to all who see it.", async (t) => {
      const ann = `user:${t.id()}`;
      const agent = await writer(t, [ann]);
      const note = { ...(await t.note({ deckId: agent.deckId })), deckId: agent.deckId };
      const given = { run: t.id(), onBehalfOf: ann, description: "Shortens the title" };
      const stream = await t.connect();
      stream.send({ frame: "watch", model: NOTE, ids: [note.id] });
      const held = await granted(t, agent, note, given);
      const shown = { id: held, ...given };
      t.fits(await stream.next("claims", { claims: [{ id: held }] }), { claims: [shown] }, "the claims on the stream");
      t.answered(await readClaim(t, agent, held), 200, shown);
      t.answered(await listClaims(t, note), 200, { claims: [shown] });
      t.answered(await t.get(note.path), 200, { claims: [shown] });
      t.answered(await t.get("/v1/claims/mine", { token: agent.token }), 200, { data: [shown] });
      t.answered(await claim(t, agent, note), 200, { ...shown, expiresAt: time });
      const another = await t.capability({
        participantId: t.id(),
        operations: [`${NOTE}.*`],
        syncGroups: [agent.group],
      });
      const refusal = refusedFor(t, await claim(t, another, note), "claim_conflict", [held]);
      t.fits(refusal.body.claims, [shown], "the holders in the refusal");
    }),
    ...checkEach(
      [
        ["an empty run", "run", ""],
        ["a run of 256 characters", "run", "x".repeat(256)],
        ["an onBehalfOf without a kind", "onBehalfOf", "ann"],
      ] as const,
      ([what]) => `[AT9] A claim with ${what} is 400.`,
      async (t, [, param, value]) => {
        const { id, path } = await t.note();
        t.answered(await t.post(`${path}/claim`, { [param]: value }), 400, { type: "validation_error", param });
        t.answered(await listClaims(t, { id }), 200, { claims: exactly([]) });
      },
    ),
  ],
};
