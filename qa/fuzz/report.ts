import type { Exchange } from "./exchange/totals.ts";
import { isNoResponse } from "./exchange/wire.ts";
import type { Findings } from "./run.ts";
import type { Violation } from "./send/fire.ts";

/** The run as a table, and every violation with the request that shows it. No token is in it. */
export function report(findings: Findings): string {
  const { totals, streams, violations, seed } = findings;
  const lines: readonly (readonly [string, string | number])[] = [
    ["requests", totals.requests],
    ["  answered with 2xx", totals.of("2")],
    ["  answered with 4xx", totals.of("4")],
    ["  answered with 500", totals.of("500")],
    ["  answered with 503, to come again", totals.of("503")],
    ["  without an answer (hung up, or sent too much)", totals.of("none")],
    ["refused, and the logs seen to stay", findings.refusedQuietly],
    ["log entries, replayed to what is there", findings.entries],
    ["sockets", streams.sockets],
    ["frames sent, heard", `${streams.framesSent}, ${streams.framesReceived}`],
    ["closed by the server", listed(streams.closes)],
    ["longest that the asking program stood still itself", `${findings.ownPauseMs.toFixed(0)} ms`],
    ["process exits", findings.exits],
    ["violations", violations.length],
    ["seconds", Math.round(findings.seconds)],
    ["seed", seed],
  ];
  return [
    "",
    "by route",
    ...[...totals.routes].sort().map(([route, statuses]) => `  ${route.padEnd(22)} ${listed(statuses)}`),
    "",
    "by status and code",
    ...[...totals.codes].sort((a, b) => b[1] - a[1]).map(([code, n]) => `  ${code.padEnd(36)} ${n}`),
    "",
    "slowest",
    ...totals.slowest.map(({ ms, exchange }) => `  ${ms.toFixed(0).padStart(5)} ms  ${oneLine(exchange)}`),
    "",
    ...lines.map(([what, figure]) => `${what.padEnd(52)} ${figure}`),
    ...violations.map(violationText),
    "",
  ].join("\n");
}

const listed = (counts: ReadonlyMap<unknown, number>): string =>
  [...counts]
    .sort(([a], [b]) => String(a).localeCompare(String(b)))
    .map(([what, n]) => `${what}: ${n}`)
    .join("  ");

const oneLine = ({ sent, answer }: Exchange): string =>
  `${sent.wire.method} ${sent.wire.target.slice(0, 100)} (${sent.wire.body?.length ?? 0} bytes) → ${
    isNoResponse(answer) ? answer.silence : answer.status
  }`;

const SHOWN = 2_000;

export function violationText({ fault, exchange, again }: Violation): string {
  if (!exchange) return `\nVIOLATION ${fault.slice(0, SHOWN)}`;
  const { who, wire } = exchange.sent;
  const headers = wire.headers.map(
    ([name, value]) => `    ${name}: ${name === "authorization" ? `<${who.name}>` : value.slice(0, 200)}`,
  );
  const { answer } = exchange;
  return [
    `\nVIOLATION ${fault.slice(0, SHOWN)}`,
    `  ${again ? "the same request alone shows it again" : "the same request alone did not show it again"}`,
    `  ${wire.method} ${wire.target.slice(0, SHOWN)}`,
    ...headers,
    `    ${wire.body?.subarray(0, SHOWN).toString() ?? "(no body)"}`,
    isNoResponse(answer) ? `  no answer: ${answer.silence}` : `  ${answer.status} ${answer.text.slice(0, SHOWN)}`,
  ].join("\n");
}
