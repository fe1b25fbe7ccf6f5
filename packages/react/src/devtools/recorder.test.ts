import type { AttentionItem, Conflict, PendingMutation } from "@holdfast/sdk";
import { beforeEach, expect, test } from "vitest";
import type { BoardSchema } from "../testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "../testing/memory-client.ts";
import { createRecorder, EVENTS_KEPT, type Recorder } from "./recorder.ts";
import { readRecording, recordingOf } from "./recording.ts";

let memory: MemoryClient<BoardSchema>;
let recorder: Recorder;
let now: number;
beforeEach(() => {
  memory = createMemoryClient<BoardSchema>(["slide"]);
  now = 1_000;
  recorder = createRecorder(memory.client, () => now);
});

const write = (phase: PendingMutation["phase"], attempts = 0): PendingMutation => ({
  clientTxId: "t1",
  phase,
  operations: [{ action: "update", model: "slide", id: "s1", data: { title: "New", order: 2 } }],
  createdAt: 1,
  attempts,
});
const says = () => recorder.events().map((event) => event.says);

test("[V22] the recorder describes each step of a write, the connection and the log in sentences", () => {
  const stop = recorder.start();
  memory.set({ pending: [write("saving")] });
  memory.set({ pending: [write("queued")] });
  memory.set({ status: { ...memory.client.status(), name: "offline", reason: "no route" } });
  memory.set({ status: { ...memory.client.status(), name: "online", live: false, reason: undefined } });
  memory.set({ status: { ...memory.client.status(), live: true } });
  memory.set({ pending: [write("sending")] });
  memory.set({ pending: [write("queued", 1)] });
  memory.set({ pending: [write("confirmed", 2)] });
  memory.set({ pending: [], status: { ...memory.client.status(), syncId: 7 } });
  expect(says()).toEqual([
    "The recording starts.",
    "Update slide s1 (title, order) was written.",
    "Update slide s1 (title, order) is stored and waits to be sent.",
    "Offline: there is no network.",
    "Reason: no route",
    "Connected without a socket: updates every few seconds.",
    "Connected.",
    "Update slide s1 (title, order) is being sent.",
    "Update slide s1 (title, order) waits to be sent again, after one attempt.",
    "Update slide s1 (title, order) was confirmed by the server.",
    "Update slide s1 (title, order) is settled: the log has it.",
    "The log was read up to 7.",
  ]);
  stop();
  expect(memory.listeners()).toBe(0);
});

test("[V22] the recorder describes conflicts and refusals when they appear and when they are decided", () => {
  recorder.start();
  memory.set({ pending: [write("sending")] });
  const { operations } = write("sending");
  const conflict = {
    clientTxId: "t1",
    reason: "stale",
    model: "slide",
    id: "s1",
    fields: ["title"],
    writtenBy: "agent:a",
  };
  memory.set({ pending: [], conflicts: [conflict as unknown as Conflict] });
  const refused = { clientTxId: "t2", code: "invalid_value", error: new Error("Too long."), operations, createdAt: 1 };
  memory.set({ conflicts: [], attention: [refused as unknown as AttentionItem] });
  memory.set({ attention: [] });
  expect(says().slice(2)).toEqual([
    "Conflict: agent:a changed title of slide s1 meanwhile.",
    "The conflict about slide s1 was resolved.",
    "Update slide s1 (title, order) was refused (invalid_value): Too long.",
    "The refused update slide s1 (title, order) was retried, edited or discarded.",
  ]);
});

test("[V22] the last 200 are kept, the list keeps its identity while nothing happens, and each has its view", () => {
  recorder.start();
  for (let syncId = 1; syncId <= EVENTS_KEPT + 50; syncId += 1) {
    now += 1;
    memory.reach(syncId);
  }
  const events = recorder.events();
  memory.put("slide", { id: "s1" });
  expect(recorder.events()).toBe(events);
  expect(events).toHaveLength(EVENTS_KEPT);
  expect(events.at(-1)).toMatchObject({ number: 251, at: 1_250, view: { status: { syncId: 250 } } });
  expect(events[0]?.number).toBe(52);
});

test("[V22] an exported list is read back as it was", () => {
  recorder.start();
  memory.set({ pending: [write("saving")] });
  const exported = JSON.parse(JSON.stringify(recordingOf(recorder.events())));
  const read = readRecording(JSON.stringify(exported));
  expect(read).toEqual(exported);
  expect(exported.events[1].view.pending).toEqual([write("saving")]);
});

test.each([
  ["no JSON", "hello", "not a list of events"],
  ["null", "null", "not a list of events"],
  ["another export", '{"object":"holdfast_pending","version":1,"writes":[]}', "not a list of events"],
  ["a later version", '{"object":"holdfast_events","version":2,"events":[]}', "not a list of events"],
  ["no events", '{"object":"holdfast_events","version":1,"events":[]}', "no events"],
  [
    "an odd event",
    '{"object":"holdfast_events","version":1,"events":[{"number":1,"at":1,"says":"x","view":null}]}',
    "is malformed",
  ],
  [
    "an odd write",
    '{"object":"holdfast_events","version":1,"events":[{"number":1,"at":1,"says":"x","view":{"status":{},"pending":[1],"conflicts":[],"attention":[]}}]}',
    "is malformed",
  ],
])("[V22] what is no list of events is refused with a sentence: %s", (_, text, says) => {
  expect(readRecording(text)).toContain(says);
});

test("[ER10] [ER16] the recorder drops the values of an erased record from the events that it keeps", () => {
  const stop = recorder.start();
  const values = { mine: { title: "secret" }, base: { title: "secret" }, theirs: { title: "secret" } };
  const conflict = { clientTxId: "t1", reason: "stale", model: "slide", id: "s1", fields: ["title"], ...values };
  memory.set({ pending: [write("sending")], conflicts: [conflict as unknown as Conflict] });
  expect(JSON.stringify(recorder.events())).toContain("secret");
  const other = recorder.events()[0];
  memory.erase({ model: "slide", id: "s1" });
  expect(JSON.stringify(recorder.events())).not.toContain("secret");
  expect(recorder.events()[0]).toEqual(other);
  stop();
});
