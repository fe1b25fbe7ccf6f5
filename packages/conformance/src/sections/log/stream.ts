import { setTimeout as pause } from "node:timers/promises";
import { absent, atLeast, sameSet, someText, time } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { positionOf } from "../../protocol/answers.ts";
import { inventedToken } from "../../protocol/token.ts";
import { sendRaw } from "../../transport/raw.ts";
import { UpgradeRefused } from "../../transport/stream.ts";

const notes = `/v1/models/${NOTE}`;
const ENVELOPE = {
  frame: "error",
  type: someText,
  message: someText,
  code: someText,
  request_id: /^req_[0-9A-Za-z]{24}$/,
};

/** How the server refuses to open a socket: an HTTP status, or the code of a socket that it closes at once. */
async function refusal(t: Kit, options: Parameters<Kit["stream"]>[0]): Promise<string> {
  try {
    const stream = await t.stream(options);
    stream.send({ frame: "hello", token: t.environment.key });
    return `closed with ${(await stream.closes()).code}`;
  } catch (error) {
    if (error instanceof UpgradeRefused) return `${error.status} ${JSON.parse(error.text || "{}").code}`;
    throw error;
  }
}

const BAD_FRAMES: readonly (readonly [what: string, frame: object | string | Buffer])[] = [
  ["is no JSON", "hello"],
  ["is cut off", '{"frame":"ping"'],
  ["is binary", Buffer.from('{"frame":"ping","n":1}')],
  ["is a list", "[]"],
  ["has no tag", { n: 1 }],
  ["has an unknown tag", { frame: "dance" }],
  ["has an unknown field", { frame: "ping", n: 1, extra: true }],
  ["has a field of the wrong type", { frame: "ping", n: "1" }],
  ["has NUL in it", { frame: "hello", token: "sk_live_x", clientId: "\u0000" }],
  ["has too long a clientId", { frame: "hello", token: "sk_live_x", clientId: "x".repeat(65) }],
  ["names a group that is none", { frame: "follow", groups: ["deck"] }],
  ["is too deep", "[".repeat(30_000) + "]".repeat(30_000)],
];

export const section: SuiteSection = {
  title: "The stream",
  cases: [
    check(
      "[T1] hello is answered with welcome, which has every documented field; the subprotocol is holdfast.v1.",
      async (t) => {
        const { at } = await t.note();
        const stream = await t.stream();
        stream.send({ frame: "hello", token: t.environment.key, clientId: "conf_tab" });
        const welcome = await stream.next("welcome");
        const { body: schema } = t.answered(await t.get("/v1/schema"), 200);
        t.fits(
          welcome,
          {
            stamp: atLeast(at),
            logId: /^log_[0-9A-Za-z]{24}$/,
            session: /^ses_/,
            participant: /^system:key_/,
            owner: /^org_\w+\/(live|test)\/system\/key_/,
            viewHash: someText,
            models: sameSet(...Object.keys(schema.models as object)),
            protocol: "holdfast.v1",
            resumeFrom: atLeast(at),
            expiresAt: null,
            expiresInMs: null,
            rowsVersion: atLeast(0),
            schema: { version: Number(schema.version), hash: String(schema.hash) },
          },
          "welcome",
        );
        t.is(stream.protocol, "holdfast.v1", "the subprotocol");
        t.is(stream.frames[0]?.frame, "welcome", "the first frame");
      },
    ),
    check("[T1] The stream works under /api too.", async (t) => {
      const stream = await t.stream({ path: "/api/v1/stream" });
      stream.send({ frame: "hello", token: t.environment.key });
      t.fits(await stream.next("welcome"), { stamp: atLeast(0) }, "welcome");
    }),
    check("[T2] Without since, a client gets all new entries, as the feed has them.", async (t) => {
      await t.note();
      const stream = await t.connect();
      const { id, at } = await t.note({ title: "news" });
      await stream.reaches(at);
      t.is(
        stream.entries.filter((entry) => entry.id === id),
        await t.entries(at - 1, [id]),
        "the entries",
      );
      t.that(
        stream.entries.every(({ syncId }) => syncId >= at - 1 || syncId > Number(stream.frames[0]?.resumeFrom)),
        "nothing from before",
      );
    }),
    check(
      "[T2] With since, a client first gets the entries after that position, then new ones: each once and in order, while others write.",
      async (t) => {
        const since = await t.head();
        const before = await Promise.all(Array.from({ length: 40 }, () => t.note()));
        const [stream, ...meanwhile] = await Promise.all([
          t.connect({ since }),
          ...Array.from({ length: 40 }, () => t.note()),
        ]);
        const last = await t.note();
        await stream.reaches(last.at);
        t.is(stream.faults, [], "gaps and overlaps");
        const heard = stream.entries.map(({ syncId }) => syncId);
        t.is(
          heard,
          [...new Set(heard)].sort((a, b) => a - b),
          "the positions, each once and in order",
        );
        const own = [...before, ...meanwhile, last].map(({ at }) => at);
        t.that(
          own.every((at) => heard.includes(at)),
          "every write of this case to arrive",
        );
        t.is(Number(stream.frames[0]?.resumeFrom), since, "resumeFrom");
      },
    ),
    check(
      "[T4] models and groups in hello filter the entries; the frames cover the positions of the other entries too.",
      async (t) => {
        const { deckId, group } = t.deck();
        const stream = await t.connect({ models: [NOTE.toLowerCase()], groups: [group] });
        const own = t.id();
        const at = positionOf(t.answered(await t.post(notes, { id: own, data: { deckId } }), 200));
        await t.note();
        const whole = t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }), 200);
        await stream.reaches(positionOf(whole));
        t.is(
          stream.entries.map(({ syncId }) => syncId),
          [at],
          "the positions that arrived",
        );
        t.is(stream.faults, [], "gaps and overlaps");
      },
    ),
    check(
      "[T7] A record that leaves the requested groups appears as deleted with left: true, one that enters them appears whole, and a deletion appears without left: live, and during catch-up.",
      async (t) => {
        const since = await t.head();
        const { deckId, group } = t.deck();
        const live = await t.connect({ groups: [group] });
        const { path } = await t.note({ deckId, title: "one" });
        for (const data of [{ deckId: t.deck().deckId }, { title: "unseen" }, { deckId }])
          t.answered(await t.patch(path, { data }), 200);
        const last = positionOf(t.answered(await t.remove(path), 200));
        const late = await t.connect({ groups: [group], since });
        await Promise.all([live.reaches(last), late.reaches(last)]);
        t.fits(
          live.entries,
          [
            { verb: "created", data: { title: "one" }, left: absent },
            { verb: "deleted", data: null, changedFields: null, left: true },
            { verb: "updated", data: { title: "unseen" }, changedFields: ["deckId"], left: absent },
            { verb: "deleted", data: null, left: absent },
          ],
          "the entries of the live stream",
        );
        t.is(late.entries, live.entries, "the entries of the stream that catches up");
      },
    ),
    check("[T4] follow replaces the filter of hello.", async (t) => {
      const [a, b] = [await t.note(), await t.note()];
      const stream = await t.connect({ groups: [a.group] });
      t.answered(await t.patch(a.path, { data: { order: 1 } }), 200);
      const second = t.answered(await t.patch(b.path, { data: { order: 1 } }), 200);
      await stream.reaches(positionOf(second));
      stream.send({ frame: "follow", groups: [b.group], models: [NOTE] });
      stream.send({ frame: "ping", n: 1 });
      await stream.next("pong", { n: 1 });
      t.answered(await t.patch(a.path, { data: { order: 2 } }), 200);
      const last = t.answered(await t.patch(b.path, { data: { order: 2 } }), 200);
      await stream.reaches(positionOf(last));
      t.is(
        stream.entries.map(({ id, data }) => [id, data?.order]),
        [
          [a.id, 1],
          [b.id, 2],
        ],
        "the entries of the stream",
      );
      for (const [n, models] of [
        [2, [WHOLE]],
        [3, undefined],
      ] as const) {
        stream.send({ frame: "follow", ...(models && { models }) });
        stream.send({ frame: "ping", n });
        await stream.next("pong", { n });
        await stream.reaches(positionOf(t.answered(await t.patch(a.path, { data: { order: n + 10 } }), 200)));
      }
      const own = stream.entries.filter(({ id }) => id === a.id).map(({ data }) => data?.order);
      t.is(own, [1, 13], "the values of the first note: none while the stream follows another model");
      t.is(stream.faults, [], "gaps and overlaps");
    }),
    check("[T4] ping is answered with pong: its n, and the head of the log.", async (t) => {
      const stream = await t.connect();
      const { at } = await t.note();
      await stream.reaches(at);
      stream.send({ frame: "ping", n: 7 });
      t.fits(await stream.next("pong"), { n: 7, stamp: atLeast(at) }, "pong");
    }),
    check("[T3] A client of another log gets a resync, and can then send hello again.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key, log: `log_${"0".repeat(24)}`, since: 0 });
      t.fits(await stream.next("resync"), { reason: "other_log" }, "resync");
      stream.send({ frame: "hello", token: t.environment.key });
      await stream.next("welcome", { resumeFrom: atLeast(1) });
      const { at } = await t.note();
      await stream.reaches(at);
      t.that(stream.isOpen, "the socket to be open");
    }),
    check("[T3] A client ahead of the log gets a resync.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key, since: 2 ** 52 });
      t.fits(await stream.next("resync"), { reason: "ahead" }, "resync");
    }),
    check("[T3] A client at the head of this log gets no resync.", async (t) => {
      const { body } = t.answered(await t.get("/v1/log?limit=1"), 200, { logId: someText });
      const stream = await t.connect({ log: body.logId, since: Number(body.stamp) });
      const { at } = await t.note();
      await stream.reaches(at);
      t.that(!stream.frames.some(({ frame }) => frame === "resync"), "no resync frame");
    }),
    ...checkEach(
      BAD_FRAMES,
      ([what]) => `[T5] A frame that ${what}: an error frame with the envelope's fields, then close 4400.`,
      async (t, [, frame]) => {
        const stream = await t.connect();
        stream.send(frame);
        t.fits(await stream.next("error"), { ...ENVELOPE, type: "validation_error" }, "the error frame");
        t.is((await stream.closes()).code, 4400, "the close code");
      },
    ),
    check("[T5] The first frame has to be hello: another one is answered with an error and close 4400.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "ping", n: 1 });
      t.fits(await stream.next("error"), ENVELOPE, "the error frame");
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
    check("[T16] Until the token is accepted, frames have up to 8 KiB together: then close 4400.", async (t) => {
      const hello = { frame: "hello", token: t.environment.key };
      const stream = await t.stream();
      stream.send(JSON.stringify(hello).padEnd(9_000));
      t.fits(await stream.next("error"), ENVELOPE, "the error frame");
      t.is((await stream.closes()).code, 4400, "the close code");
      const fits = await t.stream();
      fits.send(JSON.stringify(hello).padEnd(8_192));
      await fits.next("welcome");
    }),
    check("[T16] A frame with more than 5 000 JSON values: an error frame, then close 4400.", async (t) => {
      const stream = await t.connect();
      stream.send(`[${"[],".repeat(10_000)}[]]`);
      t.fits(await stream.next("error"), { ...ENVELOPE, code: "too_many_values" }, "the error frame");
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
    check("[T5] No hello within 5 s: close 4408.", async (t) => {
      const begun = performance.now();
      const stream = await t.stream();
      t.is((await stream.closes(30_000)).code, 4408, "the close code");
      const took = performance.now() - begun;
      t.that(took > 3_000 && took < 25_000, "a close after about 5 s", Math.round(took));
    }),
    check("[T5] An invalid token: an error frame with the authentication error, then close 4401.", async (t) => {
      for (const token of ["", "x", inventedToken("sk_live_"), inventedToken("rk_")]) {
        const stream = await t.stream();
        stream.send({ frame: "hello", token });
        t.fits(await stream.next("error"), { ...ENVELOPE, type: "authentication_error" }, "the error frame");
        t.is((await stream.closes()).code, 4401, "the close code");
      }
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.admin() });
      t.is((await stream.closes()).code, 4401, "the close code for the operator's token");
    }),
    check("[T5] A frame of more than 64 KiB ends the socket.", async (t) => {
      const stream = await t.connect();
      stream.send({ frame: "ping", n: 1, extra: "x".repeat(70_000) });
      t.is((await stream.closes()).code, 1009, "the close code");
      const fits = await t.connect();
      fits.send(JSON.stringify({ frame: "ping", n: 1 }).padEnd(64 * 1024));
      await fits.next("pong", { n: 1 });
    }),
    check("[T5] More than 50 frames a second and a burst of 200: an error frame, then close 4429.", async (t) => {
      const stream = await t.connect();
      for (let n = 0; n < 150; n++) stream.send({ frame: "ping", n });
      await stream.next("pong", { n: 149 });
      for (let n = 150; n < 700; n++) stream.send({ frame: "ping", n });
      t.fits(
        await stream.next("error"),
        { ...ENVELOPE, type: "rate_limit_error", code: "rate_limited" },
        "the error frame",
      );
      t.is((await stream.closes()).code, 4429, "the close code");
    }),
    check("[T5] A token in the address is refused before there is a socket: 400 token_in_query.", async (t) => {
      t.is(await refusal(t, { path: `/v1/stream?token=${t.environment.key}` }), "400 token_in_query", "the refusal");
      t.is(
        await refusal(t, { path: `/v1/stream?x=${t.environment.key}` }),
        "400 token_in_query",
        "the refusal under another name",
      );
    }),
    check("[T5] A page of a foreign origin does not get a socket: 403, or close 4403.", async (t) => {
      const got = await refusal(t, { origin: "https://conformance.invalid" });
      t.that(/^403 |^closed with 4403$/.test(got), "403 or close 4403", got);
    }),
    check("[T12] An upgrade that does not offer holdfast.v1 is 400, and the error names holdfast.v1.", async (t) => {
      const upgrade =
        "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
      for (const offered of ["", "sec-websocket-protocol: other.v1\r\n"]) {
        const text = await sendRaw(t.environment.url, `GET /v1/stream HTTP/1.1\r\nhost: x\r\n${upgrade}${offered}\r\n`);
        t.fits(text, /^HTTP\/1\.1 400 /, "the first line");
        const error = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4) || "null");
        t.fits(error, { code: "invalid_value", param: "Sec-WebSocket-Protocol", message: /holdfast\.v1/ }, "the body");
      }
    }),
    check("[T5] An upgrade at another path is 404.", async (t) => {
      t.fits(await refusal(t, { path: "/v1/elsewhere" }), /^404 /, "the refusal");
    }),
    check("[K11] auth with another scope is answered with renewed, and resync for the scope.", async (t) => {
      const [one, two] = [t.deck(), t.deck()];
      const participantId = t.id();
      const mint = (syncGroups: readonly string[]) =>
        t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups, ttlSeconds: 600 });
      const [first, same, other] = [
        await mint([one.group]),
        await mint([one.group, one.group]),
        await mint([one.group, two.group]),
      ];
      const stream = await t.connect({ token: first.token });
      stream.send({ frame: "auth", token: same.token });
      const a = await t.note({ deckId: one.deckId });
      await stream.reaches(a.at);
      await stream.next("renewed");
      t.that(!stream.frames.some(({ frame }) => frame === "resync"), "no resync for the same scope");
      stream.send({ frame: "auth", token: other.token });
      t.fits(
        await stream.next("renewed"),
        { owner: new RegExp(`/agent/${participantId}$`), models: [NOTE], expiresInMs: atLeast(500_000) },
        "renewed",
      );
      t.fits(await stream.next("resync"), { reason: "scope" }, "resync");
      stream.send({ frame: "hello", token: other.token, since: a.at });
      const b = await t.note({ deckId: two.deckId });
      await stream.reaches(b.at);
      t.is(
        stream.entries.map(({ id }) => id),
        [a.id, b.id],
        "the entries of the stream",
      );
    }),
    check(
      "[T5] An ordinary request to the stream's address is answered with an error, not with a socket.",
      async (t) => {
        const answer = await t.get("/v1/stream");
        t.that(answer.status >= 400 && answer.status < 500, "a 4xx", answer.status);
      },
    ),
    check(
      "[K11] auth with a new token of the same participant continues the stream; a token of another one is an error and close 4401.",
      async (t) => {
        const { group } = t.deck();
        const scope = { operations: [`${NOTE}.*`], syncGroups: [group] };
        const participantId = t.id();
        const first = await t.capability({ ...scope, participantId });
        const fresh = await t.capability({ ...scope, participantId });
        const stranger = await t.capability({ ...scope, participantId: t.id() });
        const stream = await t.connect({ token: first.token });
        stream.send({ frame: "auth", token: fresh.token });
        stream.send({ frame: "ping", n: 1 });
        await stream.next("pong", { n: 1 });
        t.answered(await t.remove(`/v1/capabilities/${first.id}`), 200);
        await pause(5_500);
        t.that(stream.isOpen, "the socket to outlive the revoked first token");
        stream.send({ frame: "auth", token: stranger.token });
        t.fits(await stream.next("error"), { ...ENVELOPE, type: "authentication_error" }, "the error frame");
        t.is((await stream.closes()).code, 4401, "the close code");
      },
    ),
    check("[T1] expiresAt of welcome is the token's end; null for a secret key.", async (t) => {
      const { token } = await t.capability({
        operations: [`${NOTE}.read`],
        syncGroups: [t.deck().group],
        ttlSeconds: 120,
      });
      const scoped = await t.stream();
      scoped.send({ frame: "hello", token });
      const { expiresAt } = await scoped.next("welcome", { expiresAt: time });
      const left = Date.parse(String(expiresAt)) - Date.now();
      t.that(left > 30_000 && left < 240_000, "an end in about 120 s", expiresAt);
      const own = await t.stream();
      own.send({ frame: "hello", token: t.environment.key });
      t.is((await own.next("welcome")).expiresAt, null, "expiresAt of a secret key");
    }),
    check("[T2] Every client whose stream was open before a write gets the write.", async (t) => {
      const streams = await Promise.all(Array.from({ length: 10 }, () => t.connect()));
      const { id, at } = await t.note();
      await Promise.all(streams.map((stream) => stream.reaches(at)));
      t.is(
        streams.map(({ entries }) => entries.filter((entry) => entry.id === id).length),
        streams.map(() => 1),
        "the number of entries that each client got",
      );
    }),
  ],
};
