import { setTimeout as pause } from "node:timers/promises";
import { absent, atLeast, exactly, listOf, type Pattern, someText, time } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit, Made } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { type Answer, type Asking, idsOf, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

interface Agent {
  readonly name: string;
  readonly id: string;
  readonly token: string;
}

/** A note, and so many agents that may write it. */
async function scene(t: Kit, count: number): Promise<[Made, ...Agent[]]> {
  const note = await t.note();
  const agents: Agent[] = [];
  for (let i = 0; i < count; i++) agents.push(await agent(t, note.group));
  return [note, ...agents];
}

async function agent(t: Kit, group: string, more: object = {}): Promise<Agent> {
  const name = t.id();
  const scope = { participantId: name, operations: [`${NOTE}.*`], syncGroups: [group], ...more };
  return { name, ...(await t.capability(scope)) };
}

const claim = (t: Kit, { token }: Pick<Agent, "token">, { path }: Pick<Made, "path">, json: object = {}) =>
  t.post(`${path}/claim`, json, { token });
const renew = (t: Kit, { token }: Pick<Agent, "token">, id: unknown, json?: object) =>
  t.post(`/v1/claims/${id}/renew`, json, { token });
const release = (t: Kit, { token }: Pick<Agent, "token">, id: unknown) => t.remove(`/v1/claims/${id}`, { token });
const read = (t: Kit, { token }: Pick<Agent, "token">, id: unknown, wait = 0) =>
  t.get(`/v1/claims/${id}?wait=${wait}`, { token });
const lineOf = (t: Kit, { id }: Pick<Made, "id">, asking: Asking = {}) =>
  t.get(`/v1/claims?model=${NOTE}&id=${id}`, asking);
const write = (t: Kit, { token }: Pick<Agent, "token">, { path }: Pick<Made, "path">, rest: object = {}) =>
  t.patch(path, { data: { title: t.id() }, ...rest }, { token });

async function granted(t: Kit, who: Agent, note: Made, json: object = {}): Promise<string> {
  return String(t.answered(await claim(t, who, note, json), 201, { status: "active" }).body.id);
}
async function queued(t: Kit, who: Agent, note: Made, json: object = {}): Promise<string> {
  return String(t.answered(await claim(t, who, note, { queue: true, ...json }), 202, { status: "queued" }).body.id);
}
/** A person who may take claims over. */
const person = async (t: Kit, group: string) => {
  const name = t.id();
  const operations = [`${NOTE}.*`, "claim.preempt"];
  return { name, ...(await t.ephemeral({ user: { id: name }, operations, syncGroups: [group] })) };
};

/** The refusal names who holds it: these claims, and no others. */
const refusedFor = (t: Kit, answer: Answer, code: string, holders: readonly string[], param?: Pattern) =>
  t.refused(answer, code, {
    body: { claims: holders.map((id) => ({ object: "claim", id, status: "active" })) },
    ...(param !== undefined && { param }),
  });

const LASTS: readonly (readonly [ttl: string | number, ms: number])[] = [
  [1_000, 1_000],
  ["1000ms", 1_000],
  ["30s", 30_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  [3_600_000, 3_600_000],
];
const BAD_TTLS: readonly unknown[] = [
  0,
  -1,
  "0s",
  "1e9",
  "30",
  " 30s",
  "30S",
  "5y",
  999,
  "999ms",
  1e12,
  "61m",
  "3601s",
  1000.5,
  true,
  "",
  [],
  {},
];

/** Every way in which somebody writes a record. */
const WRITES: readonly (readonly [what: string, write: (t: Kit, note: Made, asking: Asking) => Promise<Answer>])[] = [
  ["an update", (t, { path }, asking) => t.patch(path, { data: { title: "x" } }, asking)],
  [
    "an update with overwrite",
    (t, { path, at }, asking) => t.patch(path, { data: { title: "x" }, readAt: at, onStale: "overwrite" }, asking),
  ],
  [
    "an update with notify",
    (t, { path, at }, asking) => t.patch(path, { data: { title: "x" }, readAt: at, onStale: "notify" }, asking),
  ],
  ["a delete", (t, { path }, asking) => t.remove(path, asking)],
  ["an archive", (t, { path }, asking) => t.post(`${path}/archive`, undefined, asking)],
  [
    "a batch",
    (t, { id }, asking) => t.commit([{ action: "update", model: NOTE, id, data: { title: "x" } }], {}, asking),
  ],
];

export const section: SuiteSection = {
  title: "Claims",
  cases: [
    check("[A1] [A24] A claim on a free record is granted with 201, and has every documented field.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const before = Date.now();
      const { body } = t.answered(await claim(t, ann as Agent, note), 201, {
        object: "claim",
        id: /^claim_[0-9A-Za-z]{24}$/,
        syncId: atLeast(note.at),
        actor: (ann as Agent).name,
        participantKind: "agent",
        action: "edit",
        field: absent,
        status: "active",
        fence: atLeast(1),
        position: absent,
        description: null,
        meta: null,
        createdAt: time,
        expiresAt: time,
        expiresInMs: atLeast(50_000),
        target: { model: NOTE, resource: NOTE, id: note.id, path: absent, field: absent },
      });
      const left = Date.parse(String(body.expiresAt)) - before;
      t.that(left > 45_000 && left < 90_000, "an end in 60 s when no ttl is said", left);
    }),
    check("A claim says what it is for: action, description, meta and field are given back.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const args = {
        action: "translate",
        description: "for the people",
        meta: { tool: { x: [1, null] } },
        field: "title",
      };
      const pattern = {
        ...args,
        meta: exactly(args.meta),
        target: { resource: NOTE, id: note.id, field: "title" },
      };
      const { body } = t.answered(await claim(t, ann as Agent, note, { ...args, clientId: "tab_1" }), 201, pattern);
      t.answered(await read(t, ann as Agent, body.id), 200, pattern);
    }),
    check("[A1] The record may be named in the body instead; keys that are null are as good as absent.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const target = { model: NOTE.toLowerCase(), id: note.id, field: "title" };
      const nothing = { action: null, ttl: null, queue: null, description: null, meta: null };
      const { token } = ann as Agent;
      t.answered(await t.post("/v1/claims", { target, ...nothing }, { token }), 201, {
        field: "title",
        action: "edit",
      });
      t.refused(
        await t.post("/v1/claims", { target: { model: "ConfNothing", id: note.id } }, { token: t.environment.key }),
        "unknown_model",
        { status: 400, param: "target.model" },
      );
      t.refused(await t.post("/v1/claims", { target: { model: NOTE, id: t.id() } }, { token }), "record_not_found", {
        param: "target.id",
      });
    }),
    ...checkEach(
      LASTS,
      ([ttl]) => `[A2] A ttl of ${JSON.stringify(ttl)} lasts as long as it says.`,
      async (t, [ttl, ms]) => {
        const [note, ann] = await scene(t, 1);
        const { body } = t.answered(await claim(t, ann as Agent, note, { ttl }), 201);
        const left = Number(body.expiresInMs);
        t.that(left <= ms && left > ms - 1_000, `an end in ${ms} ms`, left);
        t.is(Date.parse(String(body.expiresAt)) - Date.parse(String(body.createdAt)), ms, "the lease");
      },
    ),
    ...checkEach(
      BAD_TTLS,
      (ttl) => `[A2] A ttl of ${JSON.stringify(ttl)} is 400 invalid_ttl, and nothing is claimed.`,
      async (t, ttl) => {
        const [note, ann] = await scene(t, 1);
        t.refused(await claim(t, ann as Agent, note, { ttl }), "invalid_ttl", { param: "ttl" });
        t.answered(await lineOf(t, note), 200, { data: exactly([]) });
      },
    ),
    check(
      "What is too long or unknown in a claim is 400: description over 1 000, meta over 4 KiB, a key or a field that is not.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        for (const [json, param] of [
          [{ description: "x".repeat(1_001) }, "description"],
          [{ meta: { x: "x".repeat(4_100) } }, "meta"],
          [{ meta: "text" }, "meta"],
          [{ colour: 1 }, "colour"],
          [{ queue: "yes" }, "queue"],
          [{ action: "" }, "action"],
          [{ action: "a\u0000b" }, "action"],
          [{ description: "\ud800" }, "description"],
          [{ meta: { "\u0000": 1 } }, "meta"],
          [{ meta: [] }, "meta"],
          [{ clientId: "a b" }, "clientId"],
        ] as const) {
          const answer = await claim(t, ann as Agent, note, json);
          t.answered(answer, 400, { type: "validation_error", param });
        }
        t.refused(await claim(t, ann as Agent, note, { field: "colour" }), "unknown_column", { param: "field" });
        t.answered(await claim(t, ann as Agent, note, { description: "x".repeat(1_000) }), 201);
      },
    ),
    check(
      "[A1] What another participant holds is 409 claim_conflict without queue, and 202 with a position with it; only the holder has an end.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann as Agent, note);
        refusedFor(t, await claim(t, bob as Agent, note), "claim_conflict", [held]);
        refusedFor(t, await claim(t, bob as Agent, note, { queue: false }), "claim_conflict", [held]);
        const waits = { status: "queued", expiresAt: absent, expiresInMs: absent, fence: absent };
        t.answered(await claim(t, bob as Agent, note, { queue: true }), 202, { ...waits, position: 0 });
        t.answered(await claim(t, eve as Agent, note, { queue: true }), 202, { ...waits, position: 1 });
      },
    ),
    check(
      "[A3] Claims of different fields exist beside each other; one on the whole record conflicts with all.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const title = await granted(t, ann as Agent, note, { field: "title" });
        const body = await granted(t, bob as Agent, note, { field: "body" });
        refusedFor(t, await claim(t, eve as Agent, note, { field: "title" }), "claim_conflict", [title, body]);
        refusedFor(t, await claim(t, eve as Agent, note), "claim_conflict", [title, body]);
        await release(t, ann as Agent, title);
        await release(t, bob as Agent, body);
        const whole = await granted(t, eve as Agent, note);
        refusedFor(t, await claim(t, ann as Agent, note, { field: "order" }), "claim_conflict", [whole]);
      },
    ),
    check(
      "[A1] [A2] Asking again for what one holds renews it: 200, the same claim and fence, the end anew, also an earlier one; what is not said stays.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const said = { description: "for the people", meta: { job: 1 } };
        const first = t.answered(await claim(t, ann as Agent, note, { ttl: "10m", ...said }), 201).body;
        const same = {
          id: String(first.id),
          fence: Number(first.fence),
          createdAt: String(first.createdAt),
          status: "active",
          ...said,
        };
        const again = t.answered(await claim(t, ann as Agent, note, { ttl: "10s" }), 200, same).body;
        t.that(
          Date.parse(String(again.expiresAt)) < Date.parse(String(first.expiresAt)),
          "an earlier end",
          again.expiresAt,
        );
        const later = t.answered(await claim(t, ann as Agent, note, { ttl: "20m" }), 200, same).body;
        t.that(
          Date.parse(String(later.expiresAt)) > Date.parse(String(first.expiresAt)),
          "a later end",
          later.expiresAt,
        );
        const { token } = ann as Agent;
        t.answered(await t.post(`${note.path}/claim`, { action: "translate" }, { token }), 200, {
          ...same,
          action: "translate",
        });
        t.answered(await t.post(`${note.path}/claim`, undefined, { token }), 200, same);
      },
    ),
    check("[A1] A waiter that asks again keeps its place: 202.", async (t) => {
      const [note, ann, bob, eve] = await scene(t, 3);
      await granted(t, ann as Agent, note);
      const first = await queued(t, bob as Agent, note);
      await queued(t, eve as Agent, note);
      t.answered(await claim(t, bob as Agent, note, { queue: true }), 202, { id: first, position: 0 });
    }),
    check(
      "[A4] Claiming needs <model>.update and a group in common: 403 without the operation, 404 for what is missing or out of sight.",
      async (t) => {
        const [note] = await scene(t, 0);
        const reader = await agent(t, note.group, { operations: [`${NOTE}.read`] });
        t.refused(await claim(t, reader, note), "capability_scope_denied", {
          body: { requiredCapability: { can: "update", model: NOTE, scope: `${NOTE}.update`, syncGroup: someText } },
        });
        const stranger = await agent(t, t.deck().group);
        t.refused(await claim(t, stranger, note), "record_not_found");
        t.refused(await lineOf(t, note, { token: stranger.token }), "record_not_found");
        t.refused(await t.post(`${notes}/a%20b/claim`, {}), "invalid_id");
        t.refused(await t.post(`${notes}/${t.id()}/claim`, {}), "record_not_found");
        t.refused(await t.post(`/v1/models/ConfNothing/${note.id}/claim`, {}), "unknown_model");
        t.answered(await lineOf(t, note), 200, { data: exactly([]) });
        const held = await granted(t, await agent(t, note.group), note);
        t.refused(await read(t, stranger, held), "claim_not_found");
      },
    ),
    check("[A4] A claim belongs to its environment.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const held = await granted(t, ann as Agent, note);
      const token = t.otherKey();
      t.refused(await t.post(`${note.path}/claim`, {}, { token }), "record_not_found");
      t.refused(await t.get(`/v1/claims/${held}`, { token }), "claim_not_found");
    }),
    check("[A5] The line is first come, first served, and each grant on a record has a greater fence.", async (t) => {
      const [note, ...agents] = await scene(t, 6);
      const first = t.answered(await claim(t, agents[0] as Agent, note), 201).body;
      const line = [String(first.id)];
      for (const one of agents.slice(1)) line.push(await queued(t, one, note));
      let fence = Number(first.fence);
      for (const [i, one] of agents.entries()) {
        const { claims, queue } = t.answered(await lineOf(t, note), 200).body as {
          claims: { id: string; fence: number }[];
          queue: { id: string }[];
        };
        t.is(
          [claims.map(({ id }) => id), queue.map(({ id }) => id)],
          [[line[i]], line.slice(i + 1)],
          "holder and line",
        );
        if (i > 0) t.that((claims[0]?.fence ?? 0) > fence, `a fence above ${fence}`, claims[0]?.fence);
        fence = Number(claims[0]?.fence);
        await release(t, one, line[i]);
      }
    }),
    check(
      "[A5] A later request does not overtake a waiter that it conflicts with, also for something that is free.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const title = await granted(t, ann as Agent, note, { field: "title" });
        const whole = await queued(t, bob as Agent, note);
        // "body" is free, but bob waits for all of it.
        refusedFor(t, await claim(t, eve as Agent, note, { field: "body" }), "claim_conflict", [title]);
        const behind = await queued(t, eve as Agent, note, { field: "body" });
        await release(t, ann as Agent, title);
        t.answered(await read(t, bob as Agent, whole), 200, { status: "active" });
        t.answered(await read(t, eve as Agent, behind), 200, { status: "queued", position: 0 });
      },
    ),
    check(
      "[A5] [A10] A lease that is over is handed on by itself: the next one has its full ttl, and the one before has lost.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note, { ttl: "1s" });
        const waits = await queued(t, bob as Agent, note, { ttl: "30s" });
        const { body } = t.answered(await read(t, bob as Agent, waits, 10_000), 200, {
          status: "active",
          position: absent,
        });
        t.that(Number(body.expiresInMs) > 20_000, "the whole ttl", body.expiresInMs);
        t.answered(await read(t, ann as Agent, held), 200, { status: "expired", expiresAt: absent });
        refusedFor(t, await write(t, ann as Agent, note, { claim: held }), "claim_lost", [waits], "claim");
        refusedFor(t, await renew(t, ann as Agent, held), "claim_lost", [waits]);
      },
    ),
    check(
      "[A16] wait= answers when the claim is granted or moves up; at once when it does not wait in line; and within its time at the latest.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann as Agent, note);
        const waits = await queued(t, bob as Agent, note);
        const behind = await queued(t, eve as Agent, note);
        const begun = performance.now();
        t.answered(await read(t, ann as Agent, held, 5_000), 200, { status: "active" });
        t.that(performance.now() - begun < 3_000, "an answer at once");
        t.answered(await read(t, bob as Agent, waits, 300), 200, { status: "queued" });
        const polled = performance.now();
        const [answer, moved] = await Promise.all([
          read(t, bob as Agent, waits, 20_000),
          read(t, eve as Agent, behind, 20_000),
          // Both polls have to be there by then: one that comes when the line has moved waits for the next move.
          pause(1_500).then(() => release(t, ann as Agent, held)),
        ]);
        t.answered(answer, 200, { status: "active" });
        t.answered(moved, 200, { status: "queued", position: 0 });
        t.that(performance.now() - polled < 15_000, "answers with the grant and the move");
        for (const wait of ["25001", "-1", "x"])
          t.answered(await t.get(`/v1/claims/${waits}?wait=${wait}`, { token: (bob as Agent).token }), 400, {
            param: "wait",
          });
      },
    ),
    check("[A9] Releasing is told with a count and may be repeated; by record it ends all of one's own.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann as Agent, note);
      t.answered(await release(t, ann as Agent, held), 200, exactly({ object: "claim_release", released: 1 }) as never);
      t.answered(await release(t, ann as Agent, held), 200, { released: 0 });
      t.answered(await read(t, ann as Agent, held), 200, { status: "released", expiresAt: absent });
      for (const field of ["title", "body"]) await granted(t, ann as Agent, note, { field });
      const others = await granted(t, bob as Agent, note, { field: "order" });
      t.answered(await t.remove(`${note.path}/claim`, { token: (ann as Agent).token }), 200, {
        object: "claim_release",
        released: 2,
      });
      t.answered(await t.remove(`${note.path}/claim`, { token: (ann as Agent).token }), 200, { released: 0 });
      t.answered(await read(t, bob as Agent, others), 200, { status: "active" });
    }),
    check(
      "[A9] A stranger's claim is neither released nor renewed: 403 not_claim_holder; one that never was is 404.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note);
        t.refused(await release(t, bob as Agent, held), "not_claim_holder");
        t.refused(await renew(t, bob as Agent, held), "not_claim_holder");
        t.answered(await read(t, bob as Agent, held), 200, { status: "active", actor: (ann as Agent).name });
        for (const answer of [
          await read(t, ann as Agent, "claim_never"),
          await renew(t, ann as Agent, "claim_never"),
          await release(t, ann as Agent, "claim_never"),
        ])
          t.refused(answer, "claim_not_found");
      },
    ),
    check("[A9] Who leaves the line is canceled, and those behind move up.", async (t) => {
      const [note, ann, bob, eve] = await scene(t, 3);
      await granted(t, ann as Agent, note);
      const leaves = await queued(t, bob as Agent, note);
      const behind = await queued(t, eve as Agent, note);
      t.answered(await release(t, bob as Agent, leaves), 200, { released: 1 });
      t.answered(await read(t, bob as Agent, leaves), 200, { status: "canceled", position: absent });
      t.answered(await read(t, eve as Agent, behind), 200, { position: 0 });
    }),
    check(
      "[A2] [A10] Renewing sets the end to now and the ttl, by default the one it was claimed with; of one that waits it is a sign of life.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note, { ttl: "20s" });
        const longer = t.answered(await renew(t, ann as Agent, held, { ttl: "10m" }), 200, {
          id: held,
          status: "active",
        }).body;
        t.that(Number(longer.expiresInMs) > 500_000, "an end in ten minutes", longer.expiresInMs);
        t.answered(await renew(t, ann as Agent, held, { ttl: "20s" }), 200);
        const same = t.answered(await renew(t, ann as Agent, held), 200).body;
        t.that(
          Number(same.expiresInMs) <= 20_000 && Number(same.expiresInMs) > 15_000,
          "an end in 20 s",
          same.expiresInMs,
        );
        t.refused(await renew(t, ann as Agent, held, { ttl: "5y" }), "invalid_ttl", { param: "ttl" });
        const waits = await queued(t, bob as Agent, note);
        t.answered(await renew(t, bob as Agent, waits), 200, { id: waits, status: "queued", position: 0 });
      },
    ),
    check("[A8] A hundred wait for a record; the next one is 429 claim_queue_full.", async (t) => {
      const [note, ann] = await scene(t, 1);
      await granted(t, ann as Agent, note);
      const agents = await Promise.all(Array.from({ length: 101 }, () => agent(t, note.group)));
      for (const one of agents.slice(0, 100)) await queued(t, one, note);
      t.refused(await claim(t, agents[100] as Agent, note, { queue: true }), "claim_queue_full");
      t.that((t.answered(await lineOf(t, note), 200).body.queue as unknown[]).length === 100, "a hundred in the line");
    }),
    check("[A8] Who would wait, in the end, for itself is refused: 409 claim_deadlock.", async (t) => {
      const [one, ann, bob] = await scene(t, 2);
      const other = await t.note({ deckId: one.deckId });
      const held = await granted(t, ann as Agent, one);
      await granted(t, bob as Agent, other);
      await queued(t, ann as Agent, other);
      t.refused(await claim(t, bob as Agent, one, { queue: true }), "claim_deadlock", {
        body: { claims: [{ id: held }] },
      });
      refusedFor(t, await claim(t, bob as Agent, one), "claim_conflict", [held]);
    }),
    check(
      "[A8] So is a circle over three records, and one that is closed by a waiter in the line before.",
      async (t) => {
        const [one, ann, bob, eve] = await scene(t, 3);
        const [two, three] = [await t.note({ deckId: one.deckId }), await t.note({ deckId: one.deckId })];
        for (const [who, note] of [
          [ann, one],
          [bob, two],
          [eve, three],
        ] as const)
          await granted(t, who as Agent, note);
        await queued(t, ann as Agent, two);
        await queued(t, bob as Agent, three);
        t.refused(await claim(t, eve as Agent, one, { queue: true }), "claim_deadlock");
        // No holder waits for fay, but she stands behind ann, who would wait for her.
        const fay = await agent(t, one.group);
        const four = await t.note({ deckId: one.deckId });
        await granted(t, fay, four);
        await queued(t, fay, two);
        t.refused(await claim(t, ann as Agent, four, { queue: true }), "claim_deadlock");
      },
    ),
    check("[A8] An order of the line that would close a circle is 409 claim_deadlock.", async (t) => {
      const [one, ann, bob, dan, fay] = await scene(t, 4);
      const two = await t.note({ deckId: one.deckId });
      await granted(t, ann as Agent, one);
      await granted(t, bob as Agent, two);
      for (const who of [dan, fay]) await queued(t, who as Agent, one);
      const line = [await queued(t, dan as Agent, two), await queued(t, fay as Agent, two)];
      t.refused(await t.post(`${two.path}/claim/reorder`, { order: line.toReversed() }), "claim_deadlock");
      t.answered(await t.post(`${two.path}/claim/reorder`, { order: line }), 200);
    }),
    check(
      "[A1] Workers of one participant exclude each other by their clientId, and all of them may write.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const other = await t.note({ deckId: note.deckId });
        const { token } = ann as Agent;
        const [one, two] = [{ clientId: "one" }, { clientId: "two" }];
        const held = await granted(t, ann as Agent, note, one);
        t.answered(await claim(t, ann as Agent, note, one), 200, { id: held });
        for (const worker of [two, {}])
          refusedFor(t, await claim(t, ann as Agent, note, worker), "claim_conflict", [held]);
        const waits = await queued(t, ann as Agent, note, two);
        t.answered(await claim(t, ann as Agent, note, { ...two, queue: true }), 202, { id: waits, position: 0 });
        t.answered(await write(t, ann as Agent, note, two), 200);
        // A circle of workers is one too.
        await granted(t, ann as Agent, other, two);
        t.refused(await claim(t, ann as Agent, other, { ...one, queue: true }), "claim_deadlock");
        await release(t, ann as Agent, held);
        t.answered(await read(t, ann as Agent, waits), 200, { status: "active" });
        t.answered(await t.remove(`${note.path}/claim?client_id=one`, { token }), 200, { released: 0 });
        t.refused(await t.remove(`${note.path}/claim?client_id=a%20b`, { token }), "invalid_value");
        t.answered(await read(t, ann as Agent, waits), 200, { status: "active" });
        t.answered(await t.remove(`${note.path}/claim?client_id=two`, { token }), 200, { released: 1 });
      },
    ),
    check(
      "[A26] /v1/claims/mine lists what the participant holds and waits for, on all records and devices, in pages, and nothing of others.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const [two, three] = [await t.note({ deckId: note.deckId }), await t.note({ deckId: note.deckId })];
        await granted(t, ann as Agent, note, { field: "body", ttl: "1s" });
        await pause(1_100);
        const mine = [
          await granted(t, ann as Agent, note, { clientId: "one" }),
          await granted(t, ann as Agent, two, { clientId: "two", field: "title" }),
        ];
        const others = await granted(t, bob as Agent, three);
        mine.push(await queued(t, ann as Agent, three));
        const list = (who: Agent | undefined, query = "") =>
          t.get(`/v1/claims/mine${query}`, { token: (who as Agent).token });
        const all = t.answered(await list(ann), 200, { object: "list", has_more: false, next_cursor: null });
        t.is(idsOf(all), [...mine].sort(), "what is listed");
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
        t.is(idsOf(await list(bob)), [others], "what another participant reads");
        t.is(idsOf(await list(eve)), [], "what is told to who has none");
        const paged: unknown[] = [];
        for (let cursor: unknown = ""; cursor !== null && paged.length < 9; ) {
          const page = t.answered(await list(ann, `?limit=1${cursor && `&starting_after=${cursor}`}`), 200);
          paged.push(...idsOf(page));
          cursor = page.body.next_cursor;
        }
        t.is(paged, idsOf(all), "the same in pages of one");
        t.answered(await lineOf(t, note), 200, { claims: [{ id: String(mine[0]), clientId: absent }] });
      },
    ),
    check(
      "[A11] A list of claims has the holders and then the line, as data and as claims and queue; reads and lists show holders only.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann as Agent, note);
        const line = [await queued(t, bob as Agent, note), await queued(t, eve as Agent, note)];
        const answer = t.answered(await lineOf(t, note), 200, {
          object: "list",
          claims: [{ id: held, status: "active", position: absent }],
          queue: line.map((id, position) => ({ id, position, status: "queued" })),
          has_more: false,
          next_cursor: null,
        });
        t.is(rowsOf(answer), [...(answer.body.claims as object[]), ...(answer.body.queue as object[])], "data");
        t.answered(await t.get(note.path), 200, { claims: [{ id: held, actor: (ann as Agent).name }] });
        t.refused(await t.get(`/v1/claims?model=${NOTE}`), "missing_field", { param: "id" });
        t.fits(
          (await t.get("/v1/claims?model=ConfNone&id=a")).body,
          { code: "unknown_model", param: "model" },
          "the error",
        );
        t.is((await t.get("/v1/claims?model=ConfNone&id=a")).status, 400, "the status: it is in no path");
        t.refused(await t.get(`/v1/claims?id=${note.id}`), "missing_field", { param: "model" });
      },
    ),
    ...checkEach(
      WRITES,
      ([what]) =>
        `[A11] ${what[0]?.toUpperCase()}${what.slice(1)} of what another participant has claimed is 409 claim_conflict with the holders, also for a secret key, and changes nothing.`,
      async (t, [, attempt]) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note);
        for (const asking of [{ token: (bob as Agent).token }, {}]) {
          const answer = refusedFor(t, await attempt(t, note, asking), "claim_conflict", [held]);
          t.fits(answer.body.receipt, { status: "rejected", error: { code: "claim_conflict" } }, "the receipt");
        }
        t.answered(await t.get(note.path), 200, { syncId: note.at, archivedAt: null });
      },
    ),
    check(
      "[A11] The holder's writes pass, with and without naming the claim; the log says which claim a write was bound to.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const held = await granted(t, ann as Agent, note);
        t.answered(await write(t, ann as Agent, note), 200, { status: "confirmed" });
        t.answered(await write(t, ann as Agent, note, { claim: held }), 200, { status: "confirmed" });
        const entries = await t.entries(note.at, [note.id]);
        t.is(
          entries.map((entry) => (entry as unknown as { claim: unknown }).claim),
          [null, held],
          "the claims in the log",
        );
      },
    ),
    check(
      "[A3] [A11] A claim on a field refuses writes of that field and of the record as a whole, and no others.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note, { field: "title" });
        const asking = { token: (bob as Agent).token };
        refusedFor(t, await t.patch(note.path, { data: { title: "x", order: 1 } }, asking), "claim_conflict", [held]);
        refusedFor(t, await t.remove(note.path, asking), "claim_conflict", [held]);
        refusedFor(t, await t.post(`${note.path}/archive`, undefined, asking), "claim_conflict", [held]);
        t.answered(await t.patch(note.path, { data: { order: 1 } }, asking), 200, { status: "confirmed" });
      },
    ),
    check(
      "[A11] [C13] A write that names a claim needs it held, its own and on that record: else 409 claim_lost with the holders.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const other = await t.note({ deckId: note.deckId });
        const held = await granted(t, ann as Agent, note);
        const waits = await queued(t, bob as Agent, note);
        refusedFor(t, await write(t, bob as Agent, note, { claim: held }), "claim_lost", [held], "claim");
        refusedFor(t, await write(t, bob as Agent, note, { claim: waits }), "claim_lost", [held], "claim");
        refusedFor(t, await write(t, ann as Agent, other, { claim: held }), "claim_lost", [], "claim");
        await release(t, ann as Agent, held);
        refusedFor(t, await write(t, ann as Agent, note, { claim: held }), "claim_lost", [waits], "claim");
        t.is(await t.entries(note.at, [note.id]), [], "what was written");
      },
    ),
    check(
      "[A11] In a batch and in a bulk the operation is named, the holders are told, and nothing of the commit is written.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note);
        const asking = { token: (bob as Agent).token };
        const beside = { action: "create", model: NOTE, id: t.id(), data: { deckId: note.deckId } };
        const blocked = { action: "update", model: NOTE, id: note.id, data: { title: "x" } };
        const batch = await t.commit([beside, blocked], {}, asking);
        refusedFor(t, batch, "claim_conflict", [held], /^operations\[1\]/);
        refusedFor(
          t,
          await t.commit([beside, { ...blocked, claim: held }], {}, asking),
          "claim_lost",
          [held],
          "operations[1].claim",
        );
        const json = {
          commits: [
            { clientTxId: t.id(), operations: [blocked] },
            { clientTxId: t.id(), operations: [{ ...beside, id: t.id() }] },
          ],
        };
        t.answered(await t.ask("POST", "/v1/commits/bulk", { json, ...asking }), 200, {
          data: [{ httpStatus: 409, code: "claim_conflict", claims: [{ id: held }] }, { httpStatus: 200 }],
        });
        t.refused(await t.get(`${notes}/${beside.id}`), "record_not_found");
      },
    ),
    check(
      "[A23] claimId means claim; fenceToken is the fence of an active claim of one's own; null for either is absence.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const { id, fence } = t.answered(await claim(t, ann as Agent, note), 201, { fence: atLeast(1) }).body;
        const { token } = ann as Agent;
        const commit = (more: object) =>
          t.commit([{ action: "update", model: NOTE, id: note.id, data: { title: t.id() }, ...more }], {}, { token });
        for (const more of [
          { claimId: id, fenceToken: null },
          { claimId: null, fenceToken: null },
          { claimId: id, fenceToken: fence },
          { fenceToken: fence },
        ])
          t.answered(await commit(more), 200, { status: "confirmed" });
        t.answered(await write(t, ann as Agent, note, { fenceToken: fence }), 200);
        t.refused(await commit({ fenceToken: Number(fence) + 1 }), "claim_lost", { param: "operations[0].fenceToken" });
        t.answered(await commit({ fenceToken: String(fence) }), 400, { type: "validation_error" });
        await release(t, ann as Agent, id);
        t.refused(await commit({ fenceToken: fence }), "claim_lost");
        t.refused(await commit({ claimId: id }), "claim_lost", { param: "operations[0].claim" });
        await granted(t, ann as Agent, note);
        const order = [{ claimId: await queued(t, bob as Agent, note), heldBy: "eve" }];
        t.answered(await t.post(`${note.path}/claim/reorder`, { order, heldBy: null }), 200);
      },
    ),
    check("[A13] A person with claim.preempt takes a claim from an agent at once, past the line.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann as Agent, note);
      const waits = await queued(t, bob as Agent, note);
      const eve = await person(t, note.group);
      const { body } = t.answered(await claim(t, eve, note, { preempt: true }), 201, {
        status: "active",
        participantKind: "user",
      });
      t.answered(await read(t, ann as Agent, held), 200, { status: "preempted" });
      t.answered(await read(t, bob as Agent, waits), 200, { status: "queued", position: 0 });
      refusedFor(t, await write(t, ann as Agent, note, { claim: held }), "claim_lost", [String(body.id)]);
    }),
    check(
      "[A13] No participant takes a claim from a person, and agents take none at all: 403 preempt_denied; without claim.preempt it is a matter of scope.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const [eve, dan] = [await person(t, note.group), await person(t, note.group)];
        const held = await granted(t, eve, note);
        t.refused(await claim(t, dan, note, { preempt: true }), "preempt_denied");
        const armed = await agent(t, note.group, { operations: [`${NOTE}.*`, "claim.preempt"] });
        t.refused(await claim(t, armed, note, { preempt: true }), "preempt_denied");
        await release(t, eve, held);
        await granted(t, ann as Agent, note);
        const plain = await t.ephemeral({ user: { id: t.id() }, operations: [`${NOTE}.*`], syncGroups: [note.group] });
        t.refused(await claim(t, plain, note, { preempt: true }), "capability_scope_denied", {
          body: { requiredCapability: { can: "preempt", model: NOTE, scope: "claim.preempt" } },
        });
      },
    ),
    check(
      "[A14] The line is put into another order by who has claim.reorder; those that are not named stay behind.",
      async (t) => {
        const [note, ann, ...rest] = await scene(t, 4);
        await granted(t, ann as Agent, note);
        const line: string[] = [];
        for (const one of rest) line.push(await queued(t, one, note));
        const [first, second, third] = line as [string, string, string];
        const path = `${note.path}/claim/reorder`;
        t.answered(await t.post(path, { order: [third, { claimId: first }] }), 200, {
          object: "list",
          queue: [{ id: third }, { id: first }, { id: second }],
        });
        t.refused(await t.post(path, { order: [first] }, { token: (ann as Agent).token }), "capability_scope_denied", {
          body: { requiredCapability: { scope: "claim.reorder" } },
        });
        t.refused(await t.post(path, { order: ["claim_never"] }), "claim_not_found", { param: /^order\[0\]/ });
        t.refused(await t.post(path, { order: [first, first] }), "invalid_value", { param: "order[1]" });
        t.answered(await t.post(path, { order: [1] }), 400, { type: "validation_error" });
        t.answered(await t.remove(`${note.path}/claim`, { token: (ann as Agent).token }), 200);
        t.answered(await lineOf(t, note), 200, { claims: [{ id: third }] });
      },
    ),
    check("[A15] Claims end with the deletion of their record.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann as Agent, note);
      const waits = await queued(t, bob as Agent, note);
      t.answered(await t.remove(note.path, { token: (ann as Agent).token }), 200);
      t.answered(await read(t, ann as Agent, held), 200, { status: "canceled" });
      t.answered(await read(t, bob as Agent, waits), 200, { status: "canceled" });
    }),
    check(
      "[A15] A claim ends with the revocation of its token, and the next one gets it; not with its rotation.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann as Agent, note);
        const waits = await queued(t, bob as Agent, note);
        const rotated = t.answered(await t.post(`/v1/capabilities/${(ann as Agent).id}/rotate`, {}), 201).body;
        t.after(() => t.environment.ask("DELETE", `/v1/capabilities/${rotated.id}`));
        const fresh = { token: String(rotated.token) };
        // The new token is the same participant's: the claim is its own, and from now on that token's.
        t.answered(await renew(t, fresh, held), 200, { id: held, status: "active" });
        t.answered(await claim(t, fresh, note), 200, { id: held, status: "active" });
        t.answered(await t.remove(`/v1/capabilities/${rotated.id}`), 200);
        t.answered(await read(t, bob as Agent, waits, 10_000), 200, { status: "active" });
      },
    ),
    check(
      "[A7] A waiter whose token was revoked, or whose record has left its groups, is passed over, and canceled.",
      async (t) => {
        const [note, gone, moved] = await scene(t, 2);
        const next = t.deck();
        const ann = await agent(t, note.group, { syncGroups: [note.group, next.group] });
        const held = await granted(t, ann, note);
        const canceled = [await queued(t, gone as Agent, note), await queued(t, moved as Agent, note)];
        const eve = await agent(t, next.group, { syncGroups: [note.group, next.group] });
        const waits = await queued(t, eve, note);
        t.answered(await t.remove(`/v1/capabilities/${(gone as Agent).id}`), 200);
        t.answered(await t.patch(note.path, { data: { deckId: next.deckId } }, { token: ann.token }), 200);
        await release(t, ann, held);
        t.answered(await read(t, eve, waits, 10_000), 200, { status: "active" });
        for (const id of canceled) t.answered(await t.get(`/v1/claims/${id}`), 200, { status: "canceled" });
      },
    ),
    check("[A15] Claims write nothing into the log.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann as Agent, note);
      await queued(t, bob as Agent, note);
      await renew(t, ann as Agent, held);
      await release(t, ann as Agent, held);
      t.is(await t.entries(note.at, [note.id]), [], "the entries of the record");
    }),
    check(
      "[A17] watch is answered with one claims frame for each record, free ones too, and after each change with the whole state.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const free = await t.note();
        const stream = await t.hear();
        stream.send({ frame: "watch", model: NOTE.toLowerCase(), ids: [note.id, free.id, t.id()] });
        for (const { id } of [note, free])
          t.fits(
            await stream.next("claims", { id }),
            { model: NOTE, claims: exactly([]), queue: exactly([]) },
            "the first state",
          );
        const held = await granted(t, ann as Agent, note);
        t.fits(
          await stream.next("claims", { id: note.id }),
          { claims: [{ object: "claim", id: held, status: "active" }], queue: exactly([]) },
          "after the grant",
        );
        const waits = await queued(t, bob as Agent, note);
        t.fits(
          await stream.next("claims", { id: note.id }),
          { claims: [{ id: held }], queue: [{ id: waits, position: 0 }] },
          "after a waiter joined",
        );
        await release(t, ann as Agent, held);
        t.fits(
          await stream.next("claims", { id: note.id, queue: exactly([]) }),
          { claims: [{ id: waits, fence: atLeast(1) }] },
          "after the hand-over",
        );
      },
    ),
    check("[A17] watch replaces what was watched of that model.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const other = await t.note({ deckId: note.deckId });
      const stream = await t.hear();
      stream.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await stream.next("claims", { id: note.id });
      stream.send({ frame: "watch", model: NOTE, ids: [other.id] });
      await stream.next("claims", { id: other.id });
      await granted(t, ann as Agent, note);
      await granted(t, ann as Agent, other);
      await stream.next("claims", { id: other.id, claims: listOf({ status: "active" }) });
      t.is(
        stream.frames.filter(({ frame, id }) => frame === "claims" && id === note.id).length,
        1,
        "frames of what is no longer watched",
      );
    }),
    check(
      "[A17] Each participant hears a claim frame when one of its own claims was granted, renewed, moved in the line or ended; others do not.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const [own, others] = [
          await t.hear({ token: (eve as Agent).token }),
          await t.hear({ token: (ann as Agent).token }),
        ];
        const held = await granted(t, ann as Agent, note);
        const before = await queued(t, bob as Agent, note);
        const id = await queued(t, eve as Agent, note);
        await own.next("claim", { claim: { id, status: "queued", position: 1 } });
        await release(t, bob as Agent, before);
        await own.next("claim", { claim: { id, status: "queued", position: 0 } });
        await release(t, ann as Agent, held);
        t.fits(
          await own.next("claim", { claim: { id, status: "active" } }),
          { claim: { object: "claim", actor: (eve as Agent).name, fence: atLeast(1), expiresAt: time } },
          "the grant",
        );
        await renew(t, eve as Agent, id, { ttl: "10m" });
        await own.next("claim", { claim: { id, status: "active", expiresInMs: atLeast(500_000) } });
        await release(t, eve as Agent, id);
        await own.next("claim", { claim: { id, status: "released" } });
        await others.next("claim", { claim: { id: held, status: "released" } });
        t.that(
          !others.frames.some(({ frame, claim }) => frame === "claim" && (claim as { id: unknown }).id === id),
          "nothing of another's claims",
        );
      },
    ),
    check(
      "[A17] Who watches a model out of its scope gets an error frame that names what is lacking, close 4403, and no claim.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const stream = await t.hear({ token: (ann as Agent).token });
        stream.send({ frame: "watch", model: WHOLE, ids: [t.id()] });
        t.fits(
          await stream.next("error"),
          { code: "capability_scope_denied", requiredCapability: { can: "read", model: WHOLE } },
          "the error frame",
        );
        t.is((await stream.closes()).code, 4403, "the close code");
        t.that(!stream.frames.some(({ frame }) => frame === "claims"), "no claims frame", note.id);
      },
    ),
    check("[A17] What is watched and lies out of the reader's groups is never told.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const stranger = await agent(t, t.deck().group);
      const stream = await t.hear({ token: stranger.token });
      stream.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await granted(t, ann as Agent, note);
      // Told by another stream: then this one would have heard it too.
      const observer = await t.hear();
      observer.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await observer.next("claims", { id: note.id });
      stream.send({ frame: "ping", n: 1 });
      await stream.next("pong", { n: 1 });
      t.that(!stream.frames.some(({ frame }) => frame === "claims"), "no claims frame");
      t.that(stream.isOpen, "the socket to be open");
    }),
    check("[A17] More than 500 ids in a watch are a bad frame: close 4400.", async (t) => {
      const stream = await t.hear();
      stream.send({ frame: "watch", model: NOTE, ids: Array.from({ length: 501 }, (_, i) => `i${i}`) });
      await stream.next("error", { type: "validation_error" });
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
  ],
};
