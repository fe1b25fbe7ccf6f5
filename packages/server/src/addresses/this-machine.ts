import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

/** Each says that somebody else asked, and that a proxy of this machine passed it on. */
const PASSED_ON = ["forwarded", "x-forwarded-for", "via"];

/** Whether a program of this machine asks for itself. */
export const isFromThisMachine = ({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): boolean =>
  isLoopback(socket.remoteAddress ?? "") && PASSED_ON.every((name) => headers[name] === undefined);

/** 127.0.0.0/8 and ::1, also as a socket for both kinds tells the first: ::ffff:127.0.0.1. */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
