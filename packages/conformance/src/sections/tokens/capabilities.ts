import { absent, anObject, exactly, orNull, sameSet, someText, time } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { checksum } from "../../protocol/token.ts";

const path = "/v1/capabilities";
const DAY = 86_400;

const REFUSED: readonly (readonly [what: string, change: object, code: RegExp])[] = [
  ["for a user", { participantKind: "user" }, /^invalid_participant_kind$/],
  ["for an unknown kind of participant", { participantKind: "robot" }, /^invalid_participant_kind$/],
  ["without operations", { operations: undefined }, /^narrow_scope_required$/],
  ["with an empty list of operations", { operations: [] }, /^narrow_scope_required$/],
  ["without sync groups", { syncGroups: undefined }, /^narrow_scope_required$/],
  ["with an empty list of sync groups", { syncGroups: [] }, /^narrow_scope_required$/],
  ["with an operation that is none", { operations: ["ConfNote"] }, /./],
  ["with a verb that is none", { operations: ["ConfNote.archive"] }, /./],
  ["with *.update, which is not offered", { operations: ["*.update"] }, /./],
  ["with a group outside the grammar", { syncGroups: ["Deck:1"] }, /^invalid_sync_group$/],
  ["with a group whose id has a space", { syncGroups: ["deck:a b"] }, /^invalid_sync_group$/],
  ["with another organization's org: group", { syncGroups: ["org:org_nobody"] }, /^invalid_sync_group$/],
  ["for more than 24 hours", { ttlSeconds: DAY + 1 }, /./],
  ["for no time", { ttlSeconds: 0 }, /./],
  ["with a ttlSeconds that is a text", { ttlSeconds: "60" }, /^invalid_type$/],
  ["with an unknown key", { colour: 1 }, /^unknown_field$/],
];

export const section: SuiteSection = {
  title: "Capabilities",
  cases: [
    check("[K1] Minting is answered 201 with the token, once, and with every documented field.", async (t) => {
      const [participantId, { group }] = [t.id(), t.deck()];
      const body = {
        participantId,
        operations: [`${NOTE}.read`, `${WHOLE}.*`],
        syncGroups: [group],
        ttlSeconds: 120,
        label: "conf",
        userMeta: { a: 1 },
      };
      const answer = t.answered(await t.post(path, body), 201, {
        object: "capability",
        id: someText,
        token: /^rk_[0-9A-Za-z]{36}$/,
        participantKind: "agent",
        participantId,
        operations: sameSet(...body.operations),
        syncGroups: [group],
        scope: anObject,
        organizationId: await t.organization(),
        livemode: t.environment.key.startsWith("sk_live_"),
        label: "conf",
        userMeta: exactly({ a: 1 }),
        status: "active",
        issuedAt: time,
        expiresAt: time,
        revokedAt: null,
        lastUsedAt: orNull(time),
      });
      const { id, capabilityId, token, issuedAt, expiresAt } = answer.body as Record<string, string>;
      t.after(() => t.remove(`${path}/${id}`));
      t.is(capabilityId, id, "capabilityId");
      t.is(token?.slice(-6), checksum(String(token).slice(0, -6)), "the token's checksum");
      const seconds = (Date.parse(String(expiresAt)) - Date.parse(String(issuedAt))) / 1_000;
      t.that(Math.abs(seconds - 120) < 3, "an end 120 s after the beginning", seconds);
    }),
    check("[K1] A capability lives 600 s by default, and 24 h at most.", async (t) => {
      const scope = { operations: [`${NOTE}.read`], syncGroups: [t.deck().group] };
      const lifetime = async (more: object) => {
        const { body } = t.answered(await t.post(path, { ...scope, ...more }), 201);
        t.after(() => t.remove(`${path}/${body.id}`));
        return Math.round((Date.parse(String(body.expiresAt)) - Date.parse(String(body.issuedAt))) / 1_000);
      };
      t.is(await lifetime({}), 600, "the default");
      t.is(await lifetime({ ttlSeconds: DAY }), DAY, "the longest");
    }),
    check("[K1] A capability may be for a system participant; the default is an agent.", async (t) => {
      const scope = { operations: [`${NOTE}.read`], syncGroups: [t.deck().group] };
      const system = t.answered(await t.post(path, { ...scope, participantKind: "system" }), 201, {
        participantKind: "system",
      });
      t.after(() => t.remove(`${path}/${system.body.id}`));
      t.answered(await t.get("/v1/identity", { token: String(system.body.token) }), 200, { participantKind: "system" });
    }),
    ...checkEach(
      REFUSED,
      ([what]) => `[K1] A capability ${what} is 400.`,
      async (t, [, change, code]) => {
        const body = { operations: [`${NOTE}.read`], syncGroups: [t.deck().group], ...change };
        t.answered(await t.post(path, body), 400, { type: "validation_error", code });
      },
    ),
    check("[K1] wideScope: true allows a capability without operations and groups.", async (t) => {
      const { token } = await t.capability({ wideScope: true });
      const { path: note } = await t.note();
      t.answered(await t.get(note, { token }), 200);
    }),
    check("[K1] Reads and lists of capabilities do not show the token.", async (t) => {
      const { id, token } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [t.deck().group] });
      const one = t.answered(await t.get(`${path}/${id}`), 200, {
        object: "capability",
        id,
        token: absent,
        status: "active",
      });
      const list = await t.listed(path);
      t.fits(
        list.find((item) => item.id === id),
        { object: "capability", token: absent, status: "active" },
        "its item",
      );
      t.that(!(one.text + JSON.stringify(list)).includes(token.slice(3, 30)), "neither to show the token");
      for (const id of ["cap_nobody", "%00", "a%00b", "%F0%9F%98%80", ".", "a".repeat(300)]) {
        t.refused(await t.get(`${path}/${id}`), "capability_not_found");
        t.refused(await t.remove(`${path}/${id}`), "capability_not_found");
        t.refused(await t.post(`${path}/${id}/rotate`), "capability_not_found");
        t.refused(await t.remove(`/v1/ephemeral_keys/${id}`), "ephemeral_key_not_found");
      }
      t.answered(await t.get("/v1/identity", { token }), 200);
      t.answered(await t.get(`${path}/${id}`), 200, { lastUsedAt: time });
    }),
    check("[K8] Rotating gives a new token of the same participant and scope, and names the old one.", async (t) => {
      const { group, deckId } = t.deck();
      const participantId = t.id();
      const old = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
      const next = t.answered(await t.post(`${path}/${old.id}/rotate`, { graceSeconds: 60, ttlSeconds: 200 }), 201, {
        object: "capability",
        token: /^rk_/,
        participantId,
        operations: [`${NOTE}.*`],
        syncGroups: [group],
        rotatedFrom: { id: old.id, expiresAt: someText },
      });
      t.after(() => t.remove(`${path}/${next.body.id}`));
      for (const token of [old.token, String(next.body.token)])
        t.answered(await t.post(`/v1/models/${NOTE}`, { id: t.id(), data: { deckId } }, { token }), 200);
      t.that(next.body.token !== old.token, "another token");
      const third = t.answered(await t.post(`${path}/${next.body.id}/rotate`), 201).body;
      t.after(() => t.remove(`${path}/${third.id}`));
      t.refused(await t.get("/v1/identity", { token: String(next.body.token) }), "token_revoked");
      t.refused(await t.post(`${path}/${next.body.id}/rotate`), "capability_not_found");
      t.answered(await t.get("/v1/identity", { token: String(third.token) }), 200);
    }),
    check(
      "[K8] If a token is rotated several times at once, one rotation wins: a token has one successor.",
      async (t) => {
        const { id } = await t.capability({ wideScope: true });
        const answers = await Promise.all(Array.from({ length: 4 }, () => t.post(`${path}/${id}/rotate`)));
        for (const { status, body } of answers) if (status === 201) t.after(() => t.remove(`${path}/${body.id}`));
        t.is(answers.map(({ status }) => status).sort(), [201, 404, 404, 404], "the statuses");
      },
    ),
    check("[K8] A delete answers with {object, id, deleted, activeSessionsClosed}.", async (t) => {
      const { id } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [t.deck().group] });
      const answer = t.answered(await t.remove(`${path}/${id}`), 200, { object: "capability", id, deleted: true });
      t.fits(answer.body.activeSessionsClosed, 0, "activeSessionsClosed");
      t.answered(await t.get(`${path}/${id}`), 200, { status: "revoked", revokedAt: time });
    }),
    check(
      "[K10] Only a secret key mints, lists, rotates and revokes: other tokens get 403 secret_key_required.",
      async (t) => {
        const { id, token } = await t.capability({ wideScope: true });
        const scope = { operations: [`${NOTE}.read`], syncGroups: [t.deck().group] };
        t.refused(await t.post(path, scope, { token }), "secret_key_required");
        t.refused(await t.get(path, { token }), "secret_key_required");
        t.refused(await t.get(`${path}/${id}`, { token }), "secret_key_required");
        t.refused(await t.post(`${path}/${id}/rotate`, {}, { token }), "secret_key_required");
        t.refused(await t.remove(`${path}/${id}`, { token }), "secret_key_required");
        t.refused(await t.post("/v1/ephemeral_keys", { user: { id: "u" } }, { token }), "secret_key_required");
        t.refused(await t.get("/v1/ephemeral_keys", { token }), "secret_key_required");
        t.refused(await t.remove("/v1/ephemeral_keys?user=ada", { token }), "secret_key_required");
      },
    ),
    check("[K1] Another organization's capability is 404.", async (t) => {
      const { id } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [t.deck().group] });
      const { key: token } = await t.freshTenant();
      t.refused(await t.get(`${path}/${id}`, { token }), "capability_not_found");
      t.refused(await t.remove(`${path}/${id}`, { token }), "capability_not_found");
    }),
  ],
};
