import type { Stream, StreamListener } from "../engine/ports.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Part } from "../protocol/stream/part-frames.ts";
import { scopeOfParts } from "./followed-scope.ts";
import type { ModelServer } from "./model-server.ts";
import type { TestConnection } from "./test-connection.ts";

const DENIED = {
  type: "permission_error",
  code: "capability_scope_denied",
  message: "The token's scope does not cover this request.",
  request_id: "req_test",
  doc_url: "http://holdfast.test/docs/errors#capability_scope_denied",
} as const;

const needed = (model: string, syncGroup: string) => ({
  can: "read" as const,
  model,
  syncGroup,
  scope: `${model}.read`,
});

let sessionsMade = 0;

/** The stream between a client and the model server. */
export function testStream(server: ModelServer, connection: TestConnection): Stream {
  const watched = new Map<string, readonly string[]>();
  let hearing: { listener: StreamListener; off: () => void } | undefined;
  let session = "";
  /** Undefined: the client named models and conditions. */
  let parts: Map<string, Part> | undefined;
  /** The client has not named all of its parts yet. */
  let waits = false;
  /** The log up to here has been sent. */
  let at = 0;
  const drop = () => {
    hearing?.off();
    watched.clear();
    server.rooms.gone(session);
    hearing = undefined;
    connection.cut = undefined;
    connection.flush = () => {};
  };
  return {
    open(listener) {
      drop();
      connection.asked.socket += 1;
      const own = { listener, off: () => {} };
      hearing = own;
      connection.cut = (code = 1006) => {
        drop();
        listener.closed(code, "cut");
      };
      queueMicrotask(() => {
        if (hearing !== own) return;
        if (connection.up && connection.socketUp) listener.opened();
        else connection.cut?.();
      });
    },
    send(frame) {
      const own = hearing;
      if (!own) return;
      connection.frames.push(frame);
      if (frame.frame === "subscribe" && parts)
        for (const part of frame.parts) {
          parts.set(part.id, part);
          if (!waits || part.since === null)
            own.listener.frame({ frame: "subscribed", id: part.id, position: at, read: true });
        }
      if (frame.frame === "subscribe" && waits && !frame.more) {
        waits = false;
        connection.flush();
      }
      if (frame.frame === "unsubscribe" && parts) {
        for (const id of frame.ids) parts.delete(id);
        own.listener.frame({ frame: "unsubscribed", ids: [...frame.ids] });
      }
      if (frame.frame === "watch" && connection.forbidden.has(frame.model)) {
        own.listener.frame({ frame: "error", ...DENIED, requiredCapability: needed(frame.model, "org:test") });
        return connection.cut?.(4403);
      }
      if (frame.frame === "watch") {
        const before = watched.get(frame.model) ?? [];
        watched.set(frame.model, frame.ids);
        for (const id of frame.ids)
          if (!before.includes(id))
            own.listener.frame({ frame: "claims", model: frame.model, id, ...server.claims.of(frame.model, id) });
      }
      if (frame.frame === "auth") {
        if (connection.deafToTokens) return;
        if (connection.badTokens.has(frame.token)) return connection.cut?.(4401);
        const introduction = connection.introduction();
        return own.listener.frame({
          frame: "renewed",
          ...introduction,
          expiresAt: null,
          expiresInMs: connection.expiresInMs,
        });
      }
      if (frame.frame !== "presence") return;
      if (connection.forbidden.has(frame.room)) {
        own.listener.frame({ frame: "error", ...DENIED, param: "room", requiredCapability: needed("*", frame.room) });
        return connection.cut?.(4403);
      }
      server.rooms.set(frame.room, session, connection.actor, frame.state as JsonObject | null, (frame) => {
        if (hearing === own) own.listener.frame(frame);
      });
    },
    hello({ token, logId, since, scope, parts: named, more = false }) {
      const own = hearing;
      if (!own) return;
      if (connection.badTokens.has(token)) return connection.cut?.(4401);
      if (logId !== server.logId || since > server.head)
        return own.listener.frame({ frame: "resync", reason: logId === server.logId ? "ahead" : "other_log" });
      at = since;
      waits = more;
      parts = named && new Map(named.map((part) => [part.id, part]));
      const followed = () => (parts ? scopeOfParts(parts.values()) : scope);
      const flush = () => {
        if (hearing !== own || waits || at >= server.head) return;
        const { to, entries } = server.readLog(at);
        const from = at;
        at = to;
        own.listener.frame({ frame: "entries", from, to, entries: connection.shown(entries, followed()) });
      };
      session = `ses_${++sessionsMade}`;
      const offCommit = server.onCommit(() => void (connection.quiet || flush()));
      const offClaims = server.claims.onChange((claim, { model, id }) => {
        if (hearing !== own) return;
        if (claim.actor === connection.actor) own.listener.frame({ frame: "claim", claim });
        if (watched.get(model)?.includes(id))
          own.listener.frame({ frame: "claims", model, id, ...server.claims.of(model, id) });
      });
      own.off = () => {
        offCommit();
        offClaims();
      };
      connection.flush = flush;
      connection.skip = (to) => {
        at = to;
        flush();
      };
      connection.say = (frame) => own.listener.frame(frame);
      own.listener.frame({
        frame: "welcome",
        stamp: server.head,
        logId: server.logId,
        session,
        participant: `user:${connection.actor}`,
        ...connection.introduction(),
        protocol: "holdfast.v1",
        resumeFrom: since,
        expiresAt: null,
        expiresInMs: connection.expiresInMs,
        schema: null,
        rowsVersion: server.rowsVersion,
      });
      for (const { id, since: read } of named ?? [])
        if (read === null) own.listener.frame({ frame: "subscribed", id, position: since, read: true });
      flush();
    },
    close: drop,
  };
}
