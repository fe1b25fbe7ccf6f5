import { someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { positionOf, rowsOf } from "../../protocol/answers.ts";

const LARGE = "x".repeat(65 * 1_024);
const DEEP: unknown = JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`);

/** What is no call, and how it is refused. */
const REFUSED: readonly (readonly [what: string, frame: object, status: number, code: string])[] = [
  ["an endpoint that is not on the stream", { name: "pushSchema", body: {} }, 404, "route_not_found"],
  ["an endpoint that makes tokens", { name: "createEphemeralKey", body: {} }, 404, "route_not_found"],
  ["an endpoint of many lines", { name: "readSnapshot", body: {} }, 404, "route_not_found"],
  ["an unknown endpoint", { name: "dance" }, 404, "route_not_found"],
  ["a name that every object has", { name: "__proto__", body: {} }, 404, "route_not_found"],
  ["a key that it cannot have", { name: "listClaims", more: 1 }, 400, "unknown_field"],
  ["a body that is no commit", { name: "commit", body: [] }, 400, "invalid_body"],
  ["NUL in its body", { name: "commit", body: { clientTxId: "\u0000", operations: [] } }, 400, "invalid_value"],
  ["a body of 100 levels", { name: "commit", body: DEEP }, 400, "invalid_value"],
  ["no parts of its path", { name: "acquireClaim" }, 400, "missing_field"],
  ["an empty part of its path", { name: "readCommit", params: { clientTxId: "" } }, 400, "missing_field"],
  ["a part that its path lacks", { name: "listClaims", params: { id: "x" } }, 400, "unknown_field"],
  ["a frame of 65 KiB", { name: "commit", body: { clientTxId: LARGE } }, 413, "request_too_large"],
];

export const section: SuiteSection = {
  title: "Calls on the stream",
  cases: [
    check("[T19] [T33] welcome says how many calls may wait for their answers.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key });
      t.fits(await stream.next("welcome"), { calls: 8 }, "welcome");
    }),
    check("[T19] A commit on the stream has its receipt in the answer and its entry on the same stream.", async (t) => {
      const [stream, id, clientTxId] = [await t.connect(), t.id(), t.id()];
      const data = { deckId: t.deck().deckId, title: "called" };
      const body = { clientTxId, operations: [{ action: "create", model: NOTE, id, data }] };
      stream.send({ frame: "call", n: 1, name: "commit", body });
      const answer = await stream.next("answer", { n: 1 });
      t.fits(answer, { status: 200, body: { success: true, clientTxId } }, "the answer");
      const receipt = answer.body as { readonly lastSyncId: number };
      await stream.reaches(receipt.lastSyncId);
      const again = t.answered(await t.post("/v1/commits", body), 200);
      t.is(again.headers["idempotent-replayed"], "true", "idempotent-replayed over HTTP");
      t.is(positionOf(again), receipt.lastSyncId, "the position");
      const other = { clientTxId: t.id(), operations: [{ action: "create", model: NOTE, id: t.id(), data }] };
      const bulk = { commits: [body, other] };
      stream.send({ frame: "call", n: 2, name: "commitBulk", body: bulk });
      const many = await stream.next("answer", { n: 2 });
      t.fits(many, { status: 200, body: { data: [{ httpStatus: 200 }, { httpStatus: 200 }] } }, "the answer to a bulk");
      const overHttp = t.answered(await t.post("/v1/commits/bulk", bulk), 200);
      t.is(many.body, overHttp.body, "the receipts over HTTP");
      await stream.reaches(Number(rowsOf(overHttp)[1]?.lastSyncId));
      stream.send({ frame: "call", n: 3, name: "readCommit", params: { clientTxId: other.clientTxId } });
      const found = await stream.next("answer", { n: 3 });
      t.fits(found, { status: 200, body: { clientTxId: other.clientTxId } }, "the commit by its name");
    }),
    ...checkEach(
      REFUSED,
      ([what]) => `[T19] [T34] A call with ${what} is refused by its number, and the stream goes on.`,
      async (t, [, frame, status, code]) => {
        const stream = await t.connect();
        stream.send({ frame: "call", n: 7, ...frame });
        t.fits(await stream.next("answer", { n: 7 }), { status, body: { code, request_id: someText } }, "the answer");
        stream.send({ frame: "call", n: 8, name: "listOwnClaims" });
        t.fits(await stream.next("answer", { n: 8 }), { status: 200 }, "the next answer");
      },
    ),
    check("[T19] A call has the rights of the stream's token.", async (t) => {
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [t.deck().group] });
      const stream = await t.connect({ token });
      const operations = [{ action: "create", model: NOTE, id: t.id(), data: { deckId: t.deck().deckId } }];
      stream.send({ frame: "call", n: 1, name: "commit", body: { clientTxId: t.id(), operations } });
      t.fits(
        await stream.next("answer", { n: 1 }),
        { status: 403, body: { code: "capability_scope_denied" } },
        "the answer",
      );
    }),
    check("[T19] [T34] A call before welcome is refused by its number, and a hello still works.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "call", n: 1, name: "listOwnClaims" });
      t.fits(await stream.next("answer", { n: 1 }), { status: 400, body: { code: "invalid_frame" } }, "the answer");
      stream.send({ frame: "hello", token: t.environment.key });
      await stream.next("welcome");
    }),
    check(
      "[T19] [T34] [T33] The ninth call that waits for its answer is 429, a number in use is 400, and the others are answered.",
      async (t) => {
        const stream = await t.connect();
        for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 1])
          stream.send({ frame: "call", n, name: "readCommit", params: { clientTxId: t.id() } });
        t.fits(await stream.next("answer", { n: 9 }), { status: 429, body: { code: "rate_limited" } }, "the ninth");
        await stream.next("answer", { n: 1, status: 400 });
        for (let n = 1; n <= 8; n++) t.fits(await stream.next("answer", { n }), { status: 404 }, `answer ${n}`);
      },
    ),
  ],
};
