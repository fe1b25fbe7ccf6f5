import { setTimeout as pause } from "node:timers/promises";
import { positionOf } from "../../answers.ts";
import type { Kit } from "../../kit.ts";
import { NOTE, WHOLE } from "../../models.ts";
import { absent, atLeast, orNull, someText, time } from "../../pattern.ts";
import { check, checkEach, type SuiteSection } from "../../section.ts";
import { UpgradeRefused } from "../../stream.ts";
import { inventedToken } from "../../token.ts";

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
];

export const section: SuiteSection = {
  title: "The stream",
  cases: [
    check(
      "hello is answered with welcome, which has every documented field; the subprotocol is holdfast.v1.",
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
            session: someText,
            participant: someText,
            protocol: "holdfast.v1",
            resumeFrom: atLeast(at),
            expiresAt: orNull(time),
            schema: { version: Number(schema.version), hash: String(schema.hash) },
          },
          "welcome",
        );
        t.is(stream.protocol, "holdfast.v1", "the subprotocol");
        t.is(stream.frames[0]?.frame, "welcome", "the first frame");
      },
    ),
    check("The stream is under /api too.", async (t) => {
      const stream = await t.stream({ path: "/api/v1/stream" });
      stream.send({ frame: "hello", token: t.environment.key });
      t.fits(await stream.next("welcome"), { stamp: atLeast(0) }, "welcome");
    }),
    check("Without since a client hears what is written from now on, as the feed tells it.", async (t) => {
      await t.note();
      const stream = await t.hear();
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
      "With since it first hears everything after that position, then what is new: every entry once and in order, while others write.",
      async (t) => {
        const since = await t.head();
        const before = await Promise.all(Array.from({ length: 40 }, () => t.note()));
        const [stream, ...meanwhile] = await Promise.all([
          t.hear({ since }),
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
          "every write of this case to be heard",
        );
        t.is(Number(stream.frames[0]?.resumeFrom), since, "resumeFrom");
      },
    ),
    check(
      "models and groups in hello narrow what is heard; positions that are not shown are covered all the same.",
      async (t) => {
        const { deckId, group } = t.deck();
        const stream = await t.hear({ models: [NOTE.toLowerCase()], groups: [group] });
        const own = t.id();
        const at = positionOf(t.answered(await t.post(notes, { id: own, data: { deckId } }), 200));
        await t.note();
        const whole = t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }), 200);
        await stream.reaches(positionOf(whole));
        t.is(
          stream.entries.map(({ syncId }) => syncId),
          [at],
          "the positions heard",
        );
        t.is(stream.faults, [], "gaps and overlaps");
      },
    ),
    check(
      "A record that leaves the groups that are heard is told as deleted with left: true; one that enters comes whole.",
      async (t) => {
        const { id, path, group } = await t.note({ title: "moves" });
        const next = t.deck();
        const [old, fresh] = [await t.hear({ groups: [group] }), await t.hear({ groups: [next.group] })];
        const at = positionOf(t.answered(await t.patch(path, { data: { deckId: next.deckId } }), 200));
        await Promise.all([old.reaches(at), fresh.reaches(at)]);
        t.fits(old.entries, [{ id, verb: "deleted", data: null, left: true }], "what the old group hears");
        t.fits(
          fresh.entries,
          [{ id, verb: "updated", data: { id, title: "moves", deckId: next.deckId }, left: absent }],
          "what the new group hears",
        );
      },
    ),
    check("follow replaces what is heard.", async (t) => {
      const [a, b] = [await t.note(), await t.note()];
      const stream = await t.hear({ groups: [a.group] });
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
        "what is heard",
      );
    }),
    check("ping is answered with pong: its n, and the head of the log.", async (t) => {
      const stream = await t.hear();
      const { at } = await t.note();
      await stream.reaches(at);
      stream.send({ frame: "ping", n: 7 });
      t.fits(await stream.next("pong"), { n: 7, stamp: atLeast(at) }, "pong");
    }),
    check("A client of another log is told to resync, and may then say hello again.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key, log: `log_${"0".repeat(24)}`, since: 0 });
      t.fits(await stream.next("resync"), { reason: "other_log" }, "resync");
      stream.send({ frame: "hello", token: t.environment.key });
      await stream.next("welcome", { resumeFrom: atLeast(1) });
      const { at } = await t.note();
      await stream.reaches(at);
      t.that(stream.isOpen, "the socket to be open");
    }),
    check("A client ahead of the log is told to resync.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key, since: 2 ** 52 });
      t.fits(await stream.next("resync"), { reason: "ahead" }, "resync");
    }),
    check("A client of this very log, at its head, is not told to resync.", async (t) => {
      const { body } = t.answered(await t.get("/v1/log?limit=1"), 200, { logId: someText });
      const stream = await t.hear({ log: body.logId, since: Number(body.stamp) });
      const { at } = await t.note();
      await stream.reaches(at);
      t.that(!stream.frames.some(({ frame }) => frame === "resync"), "no resync frame");
    }),
    ...checkEach(
      BAD_FRAMES,
      ([what]) => `A frame that ${what}: an error frame with the envelope's fields, then close 4400.`,
      async (t, [, frame]) => {
        const stream = await t.hear();
        stream.send(frame);
        t.fits(await stream.next("error"), { ...ENVELOPE, type: "validation_error" }, "the error frame");
        t.is((await stream.closes()).code, 4400, "the close code");
      },
    ),
    check("The first frame has to be hello: another one is answered with an error and close 4400.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "ping", n: 1 });
      t.fits(await stream.next("error"), ENVELOPE, "the error frame");
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
    check("No hello within 5 s: close 4408.", async (t) => {
      const begun = performance.now();
      const stream = await t.stream();
      t.is((await stream.closes(12_000)).code, 4408, "the close code");
      const took = performance.now() - begun;
      t.that(took > 3_000 && took < 10_000, "a close after about 5 s", Math.round(took));
    }),
    check("A token that is none: an error frame with the authentication error, then close 4401.", async (t) => {
      for (const token of ["", "x", inventedToken("sk_live_"), inventedToken("rk_")]) {
        const stream = await t.stream();
        stream.send({ frame: "hello", token });
        t.fits(await stream.next("error"), { ...ENVELOPE, type: "authentication_error" }, "the error frame");
        t.is((await stream.closes()).code, 4401, "the close code");
      }
    }),
    check("A frame of more than 64 KiB ends the socket.", async (t) => {
      const stream = await t.hear();
      stream.send({ frame: "ping", n: 1, extra: "x".repeat(70_000) });
      t.that([1009, 4400].includes((await stream.closes()).code), "close 1009 or 4400");
    }),
    check("More than 50 frames a second and a burst of 200: an error frame, then close 4429.", async (t) => {
      const stream = await t.hear();
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
    check("A token in the address is refused before there is a socket: 400 token_in_query.", async (t) => {
      t.is(await refusal(t, { path: `/v1/stream?token=${t.environment.key}` }), "400 token_in_query", "the refusal");
      t.is(
        await refusal(t, { path: `/v1/stream?x=${t.environment.key}` }),
        "400 token_in_query",
        "the refusal under another name",
      );
    }),
    check("A page of a foreign origin does not get a socket: 403, or close 4403.", async (t) => {
      const got = await refusal(t, { origin: "https://conformance.invalid" });
      t.that(/^403 |^closed with 4403$/.test(got), "403 or close 4403", got);
    }),
    check("An ordinary request to the stream's address is answered with an error, not with a socket.", async (t) => {
      const answer = await t.get("/v1/stream");
      t.that(answer.status >= 400 && answer.status < 500, "a 4xx", answer.status);
    }),
    check(
      "auth with a fresh token of the same participant goes on; of another one it is an error and close 4401.",
      async (t) => {
        const { group } = t.deck();
        const scope = { operations: [`${NOTE}.*`], syncGroups: [group] };
        const participantId = t.id();
        const first = await t.capability({ ...scope, participantId });
        const fresh = await t.capability({ ...scope, participantId });
        const stranger = await t.capability({ ...scope, participantId: t.id() });
        const stream = await t.hear({ token: first.token });
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
    check("expiresAt of welcome is the token's end; null for a secret key.", async (t) => {
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
    check("A write is heard over a stream that was opened before it, by every client that follows.", async (t) => {
      const streams = await Promise.all(Array.from({ length: 10 }, () => t.hear()));
      const { id, at } = await t.note();
      await Promise.all(streams.map((stream) => stream.reaches(at)));
      t.is(
        streams.map(({ entries }) => entries.filter((entry) => entry.id === id).length),
        streams.map(() => 1),
        "how often each heard it",
      );
    }),
  ],
};
