import { absent, atLeast, exactly, someText, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import {
  agent,
  claim,
  granted,
  listClaims,
  queued,
  readClaim,
  refusedFor,
  release,
  scene,
  write,
} from "../../kit/claim-kit.ts";
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "Claim grants",
  cases: [
    check("[A1] [A24] A claim on a free record is granted with 201, and has every documented field.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const before = Date.now();
      const { body } = t.answered(await claim(t, ann, note), 201, {
        object: "claim",
        id: /^claim_[0-9A-Za-z]{24}$/,
        syncId: atLeast(note.at),
        actor: ann.name,
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
      t.that(left > 45_000 && left < 90_000, "an expiry time in 60 s without a ttl", left);
      t.answered(await t.get(`/v1/claims/${body.id}`, { token: ann.token }), 200, { status: "active" });
    }),
    check("A claim has the action, description, meta and field that the client sent.", async (t) => {
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
      const { body } = t.answered(await claim(t, ann, note, { ...args, clientId: "tab_1" }), 201, pattern);
      t.answered(await readClaim(t, ann, body.id), 200, pattern);
    }),
    check("[A1] POST /v1/claims names the record in the body; a key that is null counts as absent.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const target = { model: NOTE.toLowerCase(), id: note.id, field: "title" };
      const nothing = { action: null, ttl: null, queue: null, description: null, meta: null };
      const { token } = ann;
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
    check(
      "An invalid value in a claim is 400: a description over 1 000 characters, meta over 4 KiB, an unknown key or field.",
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
          const answer = await claim(t, ann, note, json);
          t.answered(answer, 400, { type: "validation_error", param });
        }
        t.refused(await claim(t, ann, note, { field: "colour" }), "unknown_column", { param: "field" });
        t.answered(await claim(t, ann, note, { description: "x".repeat(1_000) }), 201);
      },
    ),
    check(
      "[A1] [A28] Claiming a record that another participant holds is 409 claim_conflict; with queue: true it is 202 with a position and no expiry time.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann, note);
        refusedFor(t, await claim(t, bob, note), "claim_conflict", [held]);
        refusedFor(t, await claim(t, bob, note, { queue: false }), "claim_conflict", [held]);
        const waits = { status: "queued", expiresAt: absent, expiresInMs: absent, fence: absent };
        t.answered(await claim(t, bob, note, { queue: true }), 202, { ...waits, position: 0 });
        t.answered(await claim(t, eve, note, { queue: true }), 202, { ...waits, position: 1 });
      },
    ),
    check(
      "[A3] Claims on different fields do not conflict; a claim on the whole record conflicts with all of them.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const title = await granted(t, ann, note, { field: "title" });
        const body = await granted(t, bob, note, { field: "body" });
        refusedFor(t, await claim(t, eve, note, { field: "title" }), "claim_conflict", [title, body]);
        refusedFor(t, await claim(t, eve, note), "claim_conflict", [title, body]);
        await release(t, ann, title);
        await release(t, bob, body);
        const whole = await granted(t, eve, note);
        refusedFor(t, await claim(t, ann, note, { field: "order" }), "claim_conflict", [whole]);
      },
    ),
    check(
      "[A4] A claim needs <model>.update and a group of the record: 403 without the operation, 404 if the record is missing or outside the caller's groups.",
      async (t) => {
        const [note] = await scene(t, 0);
        const reader = await agent(t, note.group, { operations: [`${NOTE}.read`] });
        t.refused(await claim(t, reader, note), "capability_scope_denied", {
          body: { requiredCapability: { can: "update", model: NOTE, scope: `${NOTE}.update`, syncGroup: someText } },
        });
        const stranger = await agent(t, t.deck().group);
        t.refused(await claim(t, stranger, note), "record_not_found");
        t.refused(await listClaims(t, note, { token: stranger.token }), "record_not_found");
        t.refused(await t.post(`${notes}/a%20b/claim`, {}), "invalid_id");
        t.refused(await t.post(`${notes}/${t.id()}/claim`, {}), "record_not_found");
        t.refused(await t.post(`/v1/models/ConfNothing/${note.id}/claim`, {}), "unknown_model");
        t.answered(await listClaims(t, note), 200, { data: exactly([]) });
        const held = await granted(t, await agent(t, note.group), note);
        t.refused(await readClaim(t, stranger, held), "claim_not_found");
      },
    ),
    check("[A3] [M8] A claim of a field goes with the field when it is renamed.", async (t) => {
      const { name, path, token, push, create } = await schemaTenant(t);
      const shape = (field: string) => ({ fields: { [field]: { type: "string" }, body: { type: "string" } } });
      t.answered(await push(shape("title")), 201);
      const record = await create({ title: "a" });
      const other = await t.post("/v1/capabilities", { participantId: t.id(), wideScope: true }, { token });
      const claim = (field: string, by: string) => t.post(`${record.path}/claim`, { field }, { token: by });
      const held = t.answered(await claim("title", String(other.body.token)), 201).body.id;
      const beside = t.answered(await claim("body", token), 201).body.id;
      t.answered(await push(shape("heading"), { renames: [{ model: name, from: "title", to: "heading" }] }), 201);
      t.answered(await t.get(`/v1/claims?model=${name}&id=${record.id}`, { token }), 200, {
        claims: [
          { id: String(held), target: { field: "heading" } },
          { id: String(beside), target: { field: "body" } },
        ],
      });
      const at = `${path}/${record.id}`;
      t.refused(await t.patch(at, { data: { heading: "b" } }, { token }), "claim_conflict");
      t.refused(await claim("heading", token), "claim_conflict");
      t.answered(await t.patch(at, { data: { body: "b" } }, { token }), 200);
    }),
    check("[A4] A claim belongs to its environment.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const held = await granted(t, ann, note);
      const token = t.otherKey();
      t.refused(await t.post(`${note.path}/claim`, {}, { token }), "record_not_found");
      t.refused(await t.get(`/v1/claims/${held}`, { token }), "claim_not_found");
    }),
    check(
      "[A1] Workers of one participant, told apart by clientId, exclude each other, and all of them may write.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const other = await t.note({ deckId: note.deckId });
        const { token } = ann;
        const [one, two] = [{ clientId: "one" }, { clientId: "two" }];
        const held = await granted(t, ann, note, one);
        t.answered(await claim(t, ann, note, one), 200, { id: held });
        for (const worker of [two, {}]) refusedFor(t, await claim(t, ann, note, worker), "claim_conflict", [held]);
        const waits = await queued(t, ann, note, two);
        t.answered(await claim(t, ann, note, { ...two, queue: true }), 202, { id: waits, position: 0 });
        t.answered(await write(t, ann, note, two), 200);
        // A cycle of workers of one participant counts too.
        await granted(t, ann, other, two);
        t.refused(await claim(t, ann, other, { ...one, queue: true }), "claim_deadlock");
        await release(t, ann, held);
        t.answered(await readClaim(t, ann, waits), 200, { status: "active" });
        t.answered(await t.remove(`${note.path}/claim?client_id=one`, { token }), 200, { released: 0 });
        t.refused(await t.remove(`${note.path}/claim?client_id=a%20b`, { token }), "invalid_value");
        t.answered(await readClaim(t, ann, waits), 200, { status: "active" });
        t.answered(await t.remove(`${note.path}/claim?client_id=two`, { token }), 200, { released: 1 });
      },
    ),
  ],
};
