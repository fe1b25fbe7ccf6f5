import { expect, test } from "vitest";
import { createSocketQuota } from "./socket-quota.ts";

test("[B3] so many sockets of a token are open, and what closes makes room", () => {
  const socketQuota = createSocketQuota(2);
  const [one, two, three, other] = [
    socketQuota.permit(),
    socketQuota.permit(),
    socketQuota.permit(),
    socketQuota.permit(),
  ];
  expect([one.moveTo("a"), two.moveTo("a"), three.moveTo("a"), other.moveTo("b")]).toEqual([true, true, false, true]);
  expect(one.moveTo("a")).toBe(true);
  one.leave();
  one.leave();
  expect([three.moveTo("a"), socketQuota.permit().moveTo("a")]).toEqual([true, false]);
});

test("[B3] a socket with a fresh token moves over; one that is closed sits nowhere", () => {
  const socketQuota = createSocketQuota(1);
  const [one, two] = [socketQuota.permit(), socketQuota.permit()];
  expect([one.moveTo("a"), one.moveTo("b"), two.moveTo("a")]).toEqual([true, true, true]);
  // There is no room: it stays where it was.
  expect([two.moveTo("b"), socketQuota.permit().moveTo("a")]).toEqual([false, false]);
  two.leave();
  expect([two.moveTo("a"), socketQuota.permit().moveTo("a")]).toEqual([false, true]);
});
