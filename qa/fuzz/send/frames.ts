import { closeCodes, STREAM_PATH, STREAM_PROTOCOL } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { WebSocket } from "ws";
import type { Holder } from "../exchange/actors.ts";
import type { Memory } from "../exchange/memory.ts";
import { type Mutation, mutation } from "../generate/mutation.ts";
import { groupName, recordId } from "../generate/payload.ts";
import { nastyText, nastyValue } from "../generate/values.ts";
import type { Judging } from "../judge/judge.ts";
import { createListener } from "../judge/stream-listener.ts";
import { mutate } from "./mutate.ts";

/** The steps of one socket. */
export type Step =
  | { readonly kind: "frame"; readonly frame: object; readonly who: string; readonly mutations: readonly Mutation[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly length: number }
  | { readonly kind: "flood"; readonly count: number }
  | { readonly kind: "pause" };
export type Script = readonly Step[];

export interface Streams {
  readonly sockets: number;
  readonly framesSent: number;
  readonly framesReceived: number;
  readonly closes: ReadonlyMap<number, number>;
}

export function scripts({ schema }: Judging): fc.Arbitrary<Script> {
  const models = fc.subarray(Object.keys(schema.models), { minLength: 1, maxLength: 4 });
  const groups = fc.array(groupName(schema), { minLength: 1, maxLength: 3 });
  const subscription = { models, groups };
  const part = fc.record(
    {
      id: fc.constantFrom("p1", "p2", "p3"),
      model: fc.constantFrom(...Object.keys(schema.models)),
      where: fc.dictionary(fc.constantFrom("id", "title", "deckId"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
      since: fc.option(fc.nat(40)),
    },
    { requiredKeys: ["id", "model"] },
  );
  const parts = fc.array(part, { maxLength: 3 });
  const opening = {
    frame: fc.constant("hello"),
    since: fc.oneof(fc.constant(0), fc.nat(40)),
    clientId: fc.constant("c0"),
  };
  const hello = fc.oneof(
    { weight: 4, arbitrary: fc.record(opening, { requiredKeys: ["frame"] }) },
    {
      weight: 2,
      arbitrary: fc.record({ ...opening, log: fc.constant("log_x"), ...subscription }, { requiredKeys: ["frame"] }),
    },
  );
  const frame = fc.oneof(
    { weight: 3, arbitrary: fc.record({ frame: fc.constant("follow"), ...subscription }, { requiredKeys: ["frame"] }) },
    { weight: 4, arbitrary: fc.record({ frame: fc.constant("subscribe"), parts }) },
    {
      weight: 2,
      arbitrary: fc.record({
        frame: fc.constant("unsubscribe"),
        ids: fc.array(fc.constantFrom("p1", "p2", "p3", "p4"), { maxLength: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ frame: fc.constant("ping"), n: fc.integer() }) },
    { weight: 2, arbitrary: fc.constant({ frame: "auth" }) },
    {
      weight: 3,
      arbitrary: fc.record({
        frame: fc.constant("watch"),
        model: fc.constantFrom(...Object.keys(schema.models)),
        ids: fc.array(recordId, { maxLength: 5 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        frame: fc.constant("presence"),
        room: groupName(schema),
        state: fc.option(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })),
      }),
    },
    { weight: 1, arbitrary: hello },
  );
  const who = fc.constantFrom("live", "live", "narrow", "grouped", "person", "wide", "test", "expired", "unknown");
  const few = fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 2 }) },
  );
  const sent = (frames: fc.Arbitrary<object>, mutations: fc.Arbitrary<readonly Mutation[]>): fc.Arbitrary<Step> =>
    fc.record({ kind: fc.constant("frame" as const), frame: frames, who, mutations });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 12, arbitrary: sent(frame, few) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("text" as const), text: nastyText }) },
    { weight: 1, arbitrary: nastyValue.map((value): Step => ({ kind: "text", text: JSON.stringify(value) ?? "" })) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 100, 70_000).map((length): Step => ({ kind: "bytes", length })) },
    { weight: 1, arbitrary: fc.constantFrom(20, 260).map((count): Step => ({ kind: "flood", count })) },
    { weight: 3, arbitrary: fc.constant<Step>({ kind: "pause" }) },
  );
  return fc.tuple(sent(hello, few), fc.array(step, { maxLength: 6 })).map(([first, rest]) => [first, ...rest]);
}

/** Ours, without "restarting"; the standard's for a normal end, broken frames, text that is none, and too large ones. */
const KNOWN_CODES = new Set<number>([
  ...Object.values(closeCodes).filter((code) => code !== closeCodes.restarting),
  1000,
  1002,
  1005,
  1007,
  1009,
]);
/** The silence after which a script ends, and the time for the first frame. */
const QUIET_MS = 60;
const FIRST_MS = 500;

export interface Played {
  readonly faults: readonly string[];
  readonly sent: number;
  readonly received: number;
  readonly code: number | undefined;
}

/** Plays a script on a separate socket and judges the received frames. */
export async function play(script: Script, memory: Memory, judging: Judging): Promise<Played> {
  const socket = new WebSocket(judging.url.replace("http", "ws") + STREAM_PATH, [STREAM_PROTOCOL]);
  const faults: string[] = [];
  let [sent, received, code] = [0, 0, undefined as number | undefined];
  let lastReceivedAt = performance.now();
  const listener = createListener(judging, (fault) => faults.push(fault));
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) =>
    socket.on("close", (with_) => {
      code = with_;
      resolve();
    }),
  );
  socket.on("message", (data: Buffer) => {
    received += 1;
    lastReceivedAt = performance.now();
    listener.receive(data.toString());
  });
  await Promise.race([new Promise((resolve) => socket.once("open", resolve)), closed]);
  const put = (data: string | Buffer) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send(data);
    sent += 1;
  };
  for (const step of script) {
    switch (step.kind) {
      case "frame": {
        const who = memory.holder(step.who);
        listener.authenticated(who);
        put(spelledFrame(step.frame, who, step.mutations));
        break;
      }
      case "text":
        put(step.text);
        break;
      case "bytes":
        put(Buffer.alloc(step.length, 1));
        break;
      case "flood":
        for (let i = 0; i < step.count; i++) put('{"frame":"ping","n":1}');
        break;
      case "pause":
        await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }
  // Until it is closed, or has been quiet for a while.
  for (const end = performance.now() + 1_500; code === undefined && performance.now() < end; ) {
    if (performance.now() - lastReceivedAt > (received === 0 ? FIRST_MS : QUIET_MS)) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const byThem = code;
  if (code === undefined) socket.terminate();
  await closed;
  if (byThem !== undefined && !KNOWN_CODES.has(byThem)) faults.push(`a socket was closed with ${byThem}`);
  return { faults, sent, received, code: byThem };
}

function spelledFrame(frame: object, { token }: Holder, mutations: readonly Mutation[]): string | Buffer {
  const kind = (frame as { frame: string }).frame;
  const body = kind === "hello" || kind === "auth" ? { ...frame, token: token ?? "" } : frame;
  const blank = { method: "GET", segments: [], query: [], headers: [], bytes: undefined, hangsUp: false };
  const done = mutations.reduce(mutate, { ...blank, body } as Parameters<typeof mutate>[0]);
  return done.bytes ? done.bytes.toString("utf8") : (JSON.stringify(done.body) ?? "");
}

const AT_ONCE = 4;

/** Plays `count` scripts, a few at a time. A violation is returned with its shrunk script. */
export async function playScripts(
  count: number,
  seed: number,
  memory: Memory,
  judging: Judging,
  found: (fault: string, script: Script) => void,
): Promise<Streams> {
  const closes = new Map<number, number>();
  let [sockets, framesSent, framesReceived] = [0, 0, 0];
  const property = fc.asyncProperty(
    fc.array(scripts(judging), { minLength: 1, maxLength: AT_ONCE, size: "max" }),
    async (several) => {
      const played = await Promise.all(several.map((script) => play(script, memory, judging)));
      for (const { sent, received, code } of played) {
        sockets += 1;
        framesSent += sent;
        framesReceived += received;
        if (code !== undefined) closes.set(code, (closes.get(code) ?? 0) + 1);
      }
      const fault = played.flatMap(({ faults }) => faults)[0];
      if (fault !== undefined) throw new Error(fault);
    },
  );
  const result = await fc.check(property, { seed, numRuns: Math.ceil(count / 2.5), interruptAfterTimeLimit: 600_000 });
  if (result.failed && result.counterexample) {
    const fault = result.errorInstance instanceof Error ? result.errorInstance.message : "a stream failed";
    found(fault, result.counterexample[0].flat());
  }
  return { sockets, framesSent, framesReceived, closes };
}
