import type { Found } from "../support/report.ts";
import { isNoResponse } from "./exchange/wire.ts";
import type { Findings } from "./run.ts";
import type { Violation } from "./send/fire.ts";

/** What a run found, and every violation with the request that shows it. No token is in it. */
export function report({ totals, streams, violations, ...findings }: Findings): Found {
  return {
    above: [
      "by route",
      ...[...totals.routes].sort().map(([route, statuses]) => `  ${route.padEnd(22)} ${listed(statuses)}`),
      "by status and code",
      ...[...totals.codes].sort((a, b) => b[1] - a[1]).map(([code, n]) => `  ${code.padEnd(36)} ${n}`),
    ].join("\n"),
    lines: [
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
      ["process exits", findings.exits],
      ["seconds", Math.round(findings.seconds)],
      ["seed", findings.seed],
    ],
    violations: violations.map(violationText),
  };
}

const listed = (counts: ReadonlyMap<unknown, number>): string =>
  [...counts]
    .sort(([a], [b]) => String(a).localeCompare(String(b)))
    .map(([what, n]) => `${what}: ${n}`)
    .join("  ");

const SHOWN = 2_000;

export function violationText({ fault, exchange, again }: Violation): string {
  if (!exchange) return fault.slice(0, SHOWN);
  const { who, wire } = exchange.sent;
  const headers = wire.headers.map(
    ([name, value]) => `    ${name}: ${name === "authorization" ? `<${who.name}>` : value.slice(0, 200)}`,
  );
  const { answer } = exchange;
  return [
    fault.slice(0, SHOWN),
    `  ${again ? "the same request alone shows it again" : "the same request alone did not show it again"}`,
    `  ${wire.method} ${wire.target.slice(0, SHOWN)}`,
    ...headers,
    `    ${wire.body?.subarray(0, SHOWN).toString() ?? "(no body)"}`,
    isNoResponse(answer) ? `  no answer: ${answer.silence}` : `  ${answer.status} ${answer.text.slice(0, SHOWN)}`,
  ].join("\n");
}
