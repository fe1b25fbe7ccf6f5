import type { Scope } from "../core/log/rows.ts";
import type { Reply } from "../core/queue/outcome.ts";
import type { Asked, LogPage, Server, Snapshot } from "../engine/ports.ts";
import type { Claim, ClaimBody } from "../protocol/claims/claim.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import { errorCodes } from "../protocol/errors/error-codes.ts";
import { errorSentences } from "../protocol/errors/error-sentences.ts";
import { followedLimits as limits } from "../protocol/log/followed-limits.ts";
import { withoutToken } from "../transport/token.ts";
import type { FakeClock } from "./fake-clock.ts";
import type { Answer } from "./model-claims.ts";
import type { ModelServer } from "./model-server.ts";
import type { TestConnection } from "./test-connection.ts";

const SILENCE: Reply = { kind: "silence", timedOut: false, reason: "The client is offline." };
const TIMED_OUT: Reply = { kind: "silence", timedOut: true, reason: "The page did not arrive in time." };
const REFUSED: Reply = {
  kind: "answer",
  status: 401,
  body: { type: "authentication_error", code: "token_expired", message: "The token has expired." },
};

const INVALID_CURSOR = {
  type: "validation_error",
  code: "invalid_cursor",
  message: "The cursor belongs to another list.",
};

const TOO_LONG: Reply = {
  kind: "answer",
  status: 400,
  body: { type: "validation_error", code: "invalid_value", message: "The conditions do not fit into an address." },
};

/** What a server refuses of conditions, which are a part of the address. */
const fitsAddress = ({ where = {} }: Scope = {}): boolean =>
  JSON.stringify(where).length <= limits.followedLength &&
  Object.values(where).every((wanted) => [wanted].flat().length <= limits.followedAlternatives);

/** Passes a client's requests to the model server. */
export function testTransport(
  server: ModelServer,
  clock: FakeClock,
  connection: TestConnection,
  token: () => Promise<string>,
): Server {
  /** The reply to a request that does not reach the server. */
  async function obstacle(): Promise<Reply | undefined> {
    let given: string;
    try {
      given = await token();
    } catch (error) {
      return withoutToken(error);
    }
    if (!connection.up) return SILENCE;
    return connection.badTokens.has(given) ? REFUSED : undefined;
  }

  const reach = async <T>(work: () => T | Promise<T>): Promise<T | Reply> => (await obstacle()) ?? work();

  /** The server's response, or the one that the test has planned. */
  async function answerTo(
    respond: () => Reply | Promise<Reply>,
    planned: Reply | "lost" | "held back" | undefined,
    signal: AbortSignal,
  ): Promise<Reply> {
    if (planned === undefined) return respond();
    if (planned === "lost") {
      await respond();
      return { kind: "silence", timedOut: false, reason: "The response was lost." };
    }
    if (planned !== "held back") return planned;
    return new Promise((resolve) => {
      connection.holdBack(() => resolve(respond()));
      signal.addEventListener("abort", () => resolve(SILENCE));
    });
  }

  return {
    send: (body, signal) =>
      reach(() => {
        connection.sent.push(body);
        const respond = (): Reply => ({ kind: "answer", status: 200, body: server.bulk(body, connection.actor) });
        return answerTo(respond, connection.answers.shift(), signal);
      }),
    request: (name, asked, signal) => {
      if (name === "readIdentity")
        return reach((): Reply => {
          connection.identities += 1;
          const { logId } = server;
          return { kind: "answer", status: 200, body: { object: "identity", ...connection.introduction(), logId } };
        });
      connection.requests.push({ name, asked });
      const respond = () =>
        name === "readCommit"
          ? receiptReply(server, connection.actor, asked)
          : claimRequest(server, clock, connection.actor, name, asked, signal);
      return reach(() => answerTo(respond, connection.replies.shift(), signal));
    },
    readLog: (after, _, scope, limit = 0) =>
      reach((): LogPage | Reply => {
        connection.asked.log += 1;
        connection.limits.push(limit);
        if (limit > connection.largestPage) return TIMED_OUT;
        if (!fitsAddress(scope)) return TOO_LONG;
        const { entries, ...page } = server.readLog(after);
        return { kind: "log", ...page, ...connection.introduction(), entries: connection.shown(entries, scope) };
      }),
    readSnapshot: (cursor, _, scope, limit = 0) =>
      reach((): Snapshot | Reply => {
        connection.asked.snapshot += 1;
        connection.limits.push(limit);
        if (limit > connection.largestPage) return TIMED_OUT;
        const { refused } = connection;
        if (refused) return refused;
        if (!fitsAddress(scope)) return TOO_LONG;
        if (cursor !== null && connection.cursorsRefused > 0) {
          connection.cursorsRefused -= 1;
          return { kind: "answer", status: 400, body: INVALID_CURSOR };
        }
        const { lines, ...page } = server.snapshotPage(cursor, connection.snapshotPage);
        const shown = connection.shown(lines, scope);
        connection.rowsRead.push(...shown.map(({ id }) => id));
        return { kind: "snapshot", ...page, ...connection.introduction(), lines: shown };
      }),
  };
}

function receiptReply(server: ModelServer, actor: string, { params: { clientTxId = "" } = {} }: Asked): Reply {
  const receipt = server.receiptOf(actor, clientTxId);
  if (receipt) return { kind: "answer", status: 200, body: receipt };
  const { type, status } = errorCodes.commit_not_found;
  return { kind: "answer", status, body: { type, code: "commit_not_found", message: errorSentences.commit_not_found } };
}

async function claimRequest(
  { claims }: ModelServer,
  clock: FakeClock,
  actor: string,
  name: ClientEndpointName,
  { params: { model = "", id = "" } = {}, query, body }: Asked,
  signal: AbortSignal,
): Promise<Reply> {
  const answer = (): Answer | undefined => {
    if (name === "acquireClaim") return claims.acquire(actor, model, id, body as ClaimBody | undefined);
    if (name === "renewClaim") return claims.renew(actor, id);
    if (name === "readClaim") return claims.read(id);
    if (name === "releaseClaim") return claims.release(actor, id);
    if (name === "releaseRecord") return claims.releaseRecord(actor, model, id);
    return undefined;
  };
  const now = answer() ?? { status: 404, body: undefined };
  if (name !== "readClaim" || (now.body as Claim).status !== "queued") return { kind: "answer", ...now };
  return new Promise((resolve) => {
    const end = () => {
      off();
      late();
      signal.removeEventListener("abort", end);
      resolve(signal.aborted ? SILENCE : { kind: "answer", status: 200, body: claims.read(id).body });
    };
    const off = claims.onChange((claim) => claim.id === id && end());
    const late = clock.wait(Number(query?.wait ?? 0), end);
    signal.addEventListener("abort", end);
  });
}
