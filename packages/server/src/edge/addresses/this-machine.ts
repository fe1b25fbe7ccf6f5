import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

/** Headers that show that a local proxy forwarded the request for another client. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "via"];

/** Whether a program on this machine sent the request directly. */
export const isFromThisMachine = ({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): boolean =>
  isLoopback(socket.remoteAddress ?? "") && PASSED_ON.every((name) => headers[name] === undefined);

/** 127.0.0.0/8 and ::1, also in the IPv4-mapped form of a dual-stack socket: ::ffff:127.0.0.1. */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
