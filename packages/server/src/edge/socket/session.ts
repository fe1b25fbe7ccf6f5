import { closeCodes, type FrameUp, limits, type ResyncReason } from "@holdfast/sdk/protocol";
import type { WebSocket } from "ws";
import { newId } from "../../ids.ts";
import type { FollowLog } from "../../kernel/log/flows/follow-log.ts";
import { coveredModels, isSameView, type View, type ViewRequest, viewOfToken } from "../../kernel/log/rules/view.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import type { LiveSchema } from "../../kernel/schema/flows/schema-cache.ts";
import type { SaidSchema } from "../../kernel/schema/rules/client-names.ts";
import { type LogReader, listenToLog, viewOfRequest } from "../../kernel/stream/log-reader.ts";
import { createPageWriter } from "../../kernel/stream/page-writer.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { envelopeOf } from "../envelope/envelope.ts";
import { type Caller, createCalls } from "./calls.ts";
import { askedUnder, currentFor, requestUnder, saidIn } from "./client-schema.ts";
import { startDeadline } from "./deadline.ts";
import { createFrameBudget } from "./frame-budget.ts";
import {
  type AuthenticatedClient,
  handshake,
  type OpenStream,
  openStreamOf,
  type SocketConnection,
} from "./handshake.ts";
import { createPartSubscriptions, type PartSubscriptions } from "./part-subscriptions.ts";
import { mayBeCall } from "./read-call.ts";
import { type Frame, readFrame } from "./read-frame.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SocketModule } from "./socket-module.ts";
import { createSocketWriter } from "./socket-writer.ts";
import { type OpenStreamModules, openStreamModules, type StreamClient } from "./stream-module.ts";
import { resyncReason, tokenFields, welcomeFrame } from "./welcome-frame.ts";

/**
 * The protocol state of one socket:
 *
 *            hello
 * greeting ─────────► welcomed
 *    ▲                    │ the log cannot be continued, or the records have changed without it
 *    └──── resync ────────┘
 *
 * `log-reader.ts` decides which entries a welcomed socket gets, and when.
 */
type Phase =
  | { readonly name: "greeting"; readonly known?: AuthenticatedClient }
  | ({
      readonly name: "welcomed";
      readonly log: FollowLog;
      readonly reader: LogReader;
      /** What the client asks for now. */
      requested(): ViewRequest;
      /** Undefined: its hello names models and conditions instead. */
      readonly parts: PartSubscriptions | undefined;
      /** The schema, and what the client calls its fields. */
      readonly spoken: SpokenSchema;
      readonly modules: OpenStreamModules;
    } & AuthenticatedClient);

export interface Session {
  /** Undefined until the hello. */
  who(): OpenStream | undefined;
  /**
   * Called every few seconds: checks the token, and that the client still reads. Returns a promise only if the token
   * has to be looked up.
   */
  check(): Promise<void> | undefined;
  close(code: number, reason: string): void;
  /** Resolves when no call waits for its answer. */
  idle(): Promise<void>;
  /** Ends the session if it uses this token. Returns whether it did. */
  revoke(tokenId: string): boolean;
}

/** Handles one socket: hello and welcome, catching up from the log, then every new commit. */
export function createSession(socket: WebSocket, deps: SessionDeps, connection: SocketConnection): Session {
  const { followed, welcomes, streamOpened, authenticator, answers, pages, docUrl, recordBytes, now } = deps;
  const calls = createCalls({ streamAnswers: deps.streamAnswers, takeFrame, send: sendAnswer });
  /** What the client has said of its schema. */
  let saidSchema: string | undefined;
  const id = newId("ses_");
  const budget = createFrameBudget();
  const { authenticate, reauthenticate } = handshake(deps, connection);
  let phase: Phase = { name: "greeting" };
  let isOver = false;
  /** The stream begins once the client has named the rest of its parts. */
  let waiting: Waiting | undefined;
  // Frames are handled one after another, in order of arrival. Calls of a welcomed client wait for none of them.
  let handled: Promise<void> = Promise.resolve();
  const cancelHelloDeadline = startDeadline(limits.helloMs, () => close(closeCodes.noHello, "no hello within 5 s"));

  const { send, notify, pass, write, close, fail, closeIfStuck } = createSocketWriter(socket, {
    docUrl,
    now,
    excused: () => modules.reduce((sum, { excusedBytes }) => sum + excusedBytes, 0),
    closing: () => end(),
  });
  const listeners = {
    ...{ send: notify, onSchemaPushed, onRenamed },
    ...createPageWriter({ pages, answers, write, tokenId: () => known()?.principal.tokenId ?? "" }),
  };
  const taking = new Map<string, SocketModule>();
  const modules = deps.modules.map(({ frames, open }) => {
    const opened = open(id, pass);
    for (const frame of frames) taking.set(frame, opened);
    return opened;
  });
  const client: StreamClient = {
    principal: () => (phase.name === "greeting" ? undefined : phase.principal),
    spoken: () => (phase.name === "greeting" ? undefined : phase.spoken),
    notify: (frame) => {
      if (phase.name === "welcomed") phase.reader.tell();
      notify(frame);
    },
  };
  const known = (): AuthenticatedClient | undefined => (phase.name === "greeting" ? phase.known : phase);

  /** Stops the stream. Keeps the identity, and what modules do on the socket. */
  const leave = () => {
    waiting = undefined;
    if (phase.name === "greeting") return;
    const { principal, token, clientId } = phase;
    phase.modules.end();
    phase.reader.end();
    phase = { name: "greeting", known: { principal, token, clientId } };
  };
  const end = () => {
    isOver = true;
    cancelHelloDeadline();
    leave();
    for (const module of modules) module.close();
  };
  const resync = (reason: ResyncReason) => {
    send({ frame: "resync", reason });
    leave();
  };

  async function receive(data: Buffer, isBinary: boolean): Promise<void> {
    if (!isBinary && mayBeCall(data)) {
      if (calls.receive(data, callerOf())) return;
      // It was not counted when it arrived.
      if (budget.isAccepted && !takeFrame()) return;
    }
    const read = readFrame(data, isBinary);
    if ("frame" in read) return await answer(read.frame);
    if ("refusal" in read) fail(read.refusal, read.closeCode);
    else close(read.closeCode, "");
  }

  async function answer(frame: FrameUp): Promise<void> {
    if (frame.frame === "hello") return await greet(frame);
    // The client may have sent these frames before it received the resync.
    const module = known() && taking.get(frame.frame);
    if (module) return take(module, frame);
    if (phase.name === "greeting" && phase.known && OF_PARTS.has(frame.frame)) return;
    if (phase.name === "greeting")
      return fail(refuse("invalid_frame", { message: "The first frame must be hello." }), closeCodes.badFrame);
    if (waiting && frame.frame === "subscribe") return await takeRest(frame, waiting);
    const ofStream = phase.modules.taking(frame.frame);
    if (ofStream) return refused(await ofStream.receive(frame));
    switch (frame.frame) {
      case "auth":
        return await renew(frame.token);
      case "follow":
        return follow(frame);
      case "subscribe":
        if (phase.parts) return phase.parts.subscribe(frame.parts, phase.principal);
        for (const { id } of frame.parts) refusePart(id, NO_PARTS);
        return;
      case "unsubscribe":
        if (phase.parts) return phase.parts.unsubscribe(frame.ids);
        for (const id of frame.ids) refusePart(id, NO_PARTS);
        return;
      case "call":
        // It was read before.
        return;
      case "ping":
        phase.reader.tell();
        return send({ frame: "pong", n: frame.n, stamp: phase.reader.stamp() });
    }
  }

  function take(module: SocketModule, frame: FrameUp): void {
    refused(module.receive(frame));
  }

  function refused(no: ReturnType<SocketModule["receive"]>): void {
    if (no) fail(no.refusal, no.closeCode);
  }

  function sendAnswer(frame: string, sent: () => void): void {
    if (socket.readyState === socket.OPEN) pass(Buffer.from(frame), sent);
    else sent();
  }

  function callerOf(): Caller | undefined {
    const who = known();
    return who && { token: who.token, schema: saidSchema };
  }

  async function greet(hello: Frame<"hello">): Promise<void> {
    cancelHelloDeadline();
    const principal = await authenticate(hello.token);
    if (isRefusal(principal)) return fail(principal, codeOf(principal));
    budget.accept();
    const view = viewOfRequest(principal, hello);
    if ("refusal" in view) return fail(view.refusal, view.closeCode);
    const said = saidIn(hello);
    if (isRefusal(said)) return fail(said, closeCodes.badFrame);
    // Thousands of clients may send hello at once. A few at a time are welcomed, in fair order over tenants.
    waiting = await welcomes.take(principal.tenant, principal.tokenId, () => welcome(hello, principal, said));
    if (!hello.more || !hello.parts) await beginStream();
  }

  async function takeRest({ parts: rest, more }: Frame<"subscribe">, { position }: Waiting): Promise<void> {
    if (phase.name === "greeting") return;
    phase.parts?.begin(rest, phase.principal)(position);
    if (!more) await beginStream();
  }

  async function beginStream(): Promise<void> {
    const begun = waiting;
    waiting = undefined;
    const came = await begun?.readOn();
    if (came === "trimmed") resync("trimmed");
    if (came === "renamed") resync("schema");
    if (came === "live" && phase.name === "welcomed") phase.parts?.catchUp();
  }

  /** Returns how the stream goes on: by reading the log. */
  async function welcome(
    hello: Frame<"hello">,
    principal: Principal,
    said: SaidSchema | undefined,
  ): Promise<Waiting | undefined> {
    const { token, clientId = null, groups } = hello;
    leave();
    const { log, hub, catchUp, clientSchemas, modules: ofDatabase } = await followed(principal);
    const reader = await listenToLog(hub, catchUp, principal.tenant, listeners);
    // Read the head after listening has started, so that no entry between the two is lost.
    const { head, schema, spoken } = await currentFor(said, principal.tenant, log, clientSchemas).catch(
      (error: unknown) => {
        reader.end();
        throw error;
      },
    );
    if (socket.readyState !== socket.OPEN) return void reader.end();
    const { trimmedTo } = head;
    const parts =
      hello.parts && createPartSubscriptions({ reader, groups, trimmedTo, viewOf, send, refuse: refusePart, failed });
    const answerParts = parts?.begin(hello.parts ?? [], principal);
    const asked = askedUnder(spoken, principal, parts?.request() ?? hello);
    if ("refusal" in asked) {
      reader.end();
      return void fail(asked.refusal, asked.closeCode);
    }
    const { view } = asked;
    const requested = parts ? () => requestUnder(asked.spoken, parts.request()) : () => asked.requested;
    const onStream = openStreamModules(ofDatabase, client);
    phase = {
      ...{ name: "welcomed", principal, token, clientId, log, reader, requested, parts, spoken: asked.spoken },
      modules: onStream,
    };
    saidSchema = hello.schema;
    for (const module of modules) module.signIn(principal, clientId);
    const position = hello.since ?? head.syncId;
    const models = shownModels(view, schema);
    send(
      welcomeFrame({
        ...{ session: id, principal, models, head, schema, spoken: asked.spoken, position, recordBytes, now: now() },
      }),
    );
    const reason = resyncReason(hello, head, principal);
    if (reason) return void resync(reason);
    answerParts?.(position);
    await onStream.begin();
    streamOpened(openStreamOf({ principal, token, clientId }));
    const viewNow = () => (parts ? viewOf(parts.request()) : view);
    const readOn = () => reader.begin({ view: viewNow(), after: position, spoken: asked.spoken, clientId });
    return { position, readOn };
  }

  /** A client with parts hears of all models: it may want parts of any. */
  function shownModels(view: View, schema: LiveSchema): readonly string[] {
    return coveredModels(phase.name === "welcomed" && phase.parts ? viewOfToken(phase.principal) : view, schema);
  }

  function onSchemaPushed(schema: LiveSchema, rowsChanged: boolean): void {
    if (phase.name === "greeting" || schema.version === phase.spoken.version) return;
    const { version, hash } = schema;
    // Which names an older schema has for the fields of the new one, the next hello tells.
    if (rowsChanged || phase.spoken.names) return resync("schema");
    phase = { ...phase, spoken: { ...phase.spoken, version } };
    const view = viewOfRequest(phase.principal, phase.requested());
    send({ frame: "schema", version, hash, models: "refusal" in view ? [] : shownModels(view, schema) });
  }

  function onRenamed(): void {
    if (phase.name === "welcomed") resync("schema");
  }

  /** The view of a client's parts. */
  function viewOf(request: ViewRequest): View {
    const asked = phase.name === "welcomed" ? askedUnder(phase.spoken, phase.principal, request) : NOTHING;
    return "refusal" in asked ? NOTHING.view : asked.view;
  }

  function refusePart(id: string, refusal: Refusal): void {
    notify(JSON.stringify({ frame: "refused", id, ...envelopeOf(refusal, newId("req_"), docUrl) }));
  }

  function follow(frame: Frame<"follow">): void {
    if (phase.name === "greeting") return;
    if (phase.parts) return fail(BY_PARTS, closeCodes.badFrame);
    const asked = askedUnder(phase.spoken, phase.principal, frame);
    if ("refusal" in asked) return fail(asked.refusal, asked.closeCode);
    phase.reader.follow(asked.view);
    phase = { ...phase, requested: () => asked.requested };
  }

  async function renew(token: string): Promise<void> {
    if (phase.name === "greeting") return;
    const next = await reauthenticate(phase.principal, token);
    if (isRefusal(next)) return fail(next, codeOf(next));
    const { schema } = await phase.log.current(next.tenant);
    // The phase may have changed during the lookup. Change only the token.
    const current = phase as Phase;
    if (current.name === "greeting") return;
    phase = { ...current, principal: next, token };
    for (const module of modules) module.signIn(next);
    const view = viewOfRequest(next, current.requested());
    if ("refusal" in view) return fail(view.refusal, view.closeCode);
    send({ frame: "renewed", ...tokenFields(next, shownModels(view, schema), now()) });
    // The log has no entries for records that a new scope reveals or hides, so the client has to reload.
    const before = waiting ? viewOfRequest(current.principal, current.requested()) : current.reader.view;
    if ("refusal" in before || !isSameView(view, before)) resync("scope");
  }

  /** Ignores the verdict if the client has replaced the token meanwhile. */
  function judge(token: string, verdict: Principal | Refusal): void {
    const now = known();
    if (now?.token !== token) return;
    if (isRefusal(verdict)) fail(verdict, closeCodes.token);
    else if (verdict.database !== now.principal.database) close(closeCodes.restarting, "the tenant has moved");
  }

  const failed = () => fail(refuse("unavailable"), closeCodes.restarting);

  function takeFrame(): boolean {
    const tooMany = budget.takeFrame();
    if (tooMany) fail(tooMany, closeCodes.tooManyFrames);
    return tooMany === undefined;
  }

  socket.on("message", (message, isBinary) => {
    // Frames arrive until the other side has closed too. Nothing is done for them.
    if (isOver) return;
    const data = message as Buffer;
    const isCall = budget.isAccepted && !isBinary && mayBeCall(data);
    if (!isCall && !takeFrame()) return;
    const tooLong = budget.takeBytes(data.length);
    if (tooLong) return fail(tooLong, closeCodes.badFrame);
    const caller = isCall ? callerOf() : undefined;
    if (caller && calls.receive(data, caller)) return;
    handled = handled.then(() => (isOver ? undefined : receive(data, isBinary))).catch(failed);
  });
  socket.on("close", () => {
    calls.end();
    end();
    connection.permit.leave();
  });
  // For invalid frames the library closes with the standard code. Without this handler Node would throw.
  socket.on("error", () => {});

  return {
    who: () => (phase.name === "greeting" ? undefined : openStreamOf(phase)),
    check() {
      const before = closeIfStuck() ? undefined : known();
      if (!before) return undefined;
      const { token } = before;
      const principal = authenticator.recheck(token);
      if (principal instanceof Promise) return principal.then((later) => judge(token, later));
      judge(token, principal);
      return undefined;
    },
    close,
    idle: calls.idle,
    revoke(tokenId) {
      if (known()?.principal.tokenId !== tokenId) return false;
      fail(refuse("token_revoked"), closeCodes.token);
      return true;
    },
  };
}

interface Waiting {
  readonly position: number;
  readonly readOn: () => ReturnType<LogReader["begin"]>;
}

const NOTHING = { view: { models: new Set<string>(), groups: undefined } };
const OF_PARTS: ReadonlySet<string> = new Set(["subscribe", "unsubscribe"]);
const NO_PARTS = refuse("invalid_frame", {
  message: "This stream was opened without parts. To add parts, send a hello with `parts`, which may be an empty list.",
});
const BY_PARTS = refuse("invalid_frame", { message: "This stream follows parts: add more with `subscribe`." });

const codeOf = ({ code }: Refusal): number => (code === "rate_limited" ? closeCodes.tooManyFrames : closeCodes.token);
