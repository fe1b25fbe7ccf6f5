import { type ErrorCode, errorCodes } from "../../packages/sdk/src/protocol/errors/error-codes.ts";
import {
  errorSentences,
  remedySentences,
  statusesInBodies,
} from "../../packages/sdk/src/protocol/errors/error-sentences.ts";

/** docs/errors.md: the table of errors as a page to read, one heading per code so that links reach it. */
export function errorsMarkdown(): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  return `${[
    "# Errors",
    "<!-- Generated from packages/sdk/src/protocol by `npm run docs:write`; change the tables there. -->",
    "Every error, over HTTP and on the stream, has the same envelope: `type`, `message`, `code`, often `param`, `doc_url` (the link to its section on the server's own page), and\n`request_id` (equal to the response's `x-request-id`). Codes are stable; messages can change. Use the code to decide.",
    "## What to do then",
    table(
      ["then", ""],
      Object.entries(remedySentences).map(([then, says]) => [`\`${then}\``, says]),
    ),
    "## Codes",
    ...codes.map(section),
  ].join("\n\n")}\n`;
}

function section(code: ErrorCode): string {
  const { type, status, then } = errorCodes[code];
  const inBodies = statusesInBodies[code];
  const statuses = `${status}${inBodies === undefined ? "" : `, ${inBodies} in a body`}`;
  return `### ${code}\n\n${escaped(errorSentences[code])}\n\n${statuses} · \`${type}\` · ${then}`;
}

/** Columns are as wide as their widest cell, as the formatter of this project writes them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

const escaped = (text: string): string => text.replace(/[<>*_~`]/g, "\\$&");
