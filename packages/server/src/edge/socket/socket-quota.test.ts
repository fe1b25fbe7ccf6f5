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
  expect(one.moveTo("a")).toBe(true);
  expect(two.moveTo("a")).toBe(true);
  expect(three.moveTo("a")).toBe(false);
  expect(other.moveTo("b")).toBe(true);
  expect(one.moveTo("a")).toBe(true);
  one.leave();
  one.leave();
  expect(three.moveTo("a")).toBe(true);
  expect(socketQuota.permit().moveTo("a")).toBe(false);
});

test("[B3] a socket with a fresh token moves over; one that is closed sits nowhere", () => {
  const socketQuota = createSocketQuota(1);
  const [one, two] = [socketQuota.permit(), socketQuota.permit()];
  expect(one.moveTo("a")).toBe(true);
  expect(one.moveTo("b")).toBe(true);
  expect(two.moveTo("a")).toBe(true);
  // There is no room: it stays where it was.
  expect(two.moveTo("b")).toBe(false);
  expect(socketQuota.permit().moveTo("a")).toBe(false);
  two.leave();
  expect(two.moveTo("a")).toBe(false);
  expect(socketQuota.permit().moveTo("a")).toBe(true);
});
