import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { pino } from "pino";
import { expect, test } from "vitest";
import { isColored, listeningLine, logFormatOf, readable } from "./server-log.ts";
import { sourceProgram } from "./testing/source-program.ts";

const terminal = { isTTY: true };
const pipe = {};

test.each([
  ["a terminal", undefined, terminal, "text"],
  ["a pipe", undefined, pipe, "json"],
  ["a terminal, JSON asked for", "json", terminal, "json"],
  ["a pipe, text asked for", "text", pipe, "text"],
] as const)("[O30] %s gets its format", (_, asked, stream, format) => {
  expect(logFormatOf(asked, stream)).toBe(format);
});

test.each([
  ["a terminal", terminal, undefined, true],
  ["a terminal with an empty NO_COLOR", terminal, "", true],
  ["a terminal with NO_COLOR", terminal, "1", false],
  ["a pipe", pipe, undefined, false],
])("[O30] colors: %s", (_, stream, noColor, isColor) => {
  expect(isColored(stream, noColor)).toBe(isColor);
});

test.each([
  ["is gone", "json"],
  ["is gone", "text"],
  ["reads nothing", "json"],
])("[O34] a reader of the log that %s does not keep the process from ending (%s)", async (reader, format) => {
  const { flags, file } = sourceProgram(fileURLToPath(new URL("testing/programs/log-writer.ts", import.meta.url)));
  const child = spawn(process.execPath, [...flags, file, format], { stdio: ["pipe", "ignore", "pipe"] });
  if (reader === "is gone") child.stderr.destroy();
  else child.stderr.pause();
  child.stdin.write("go\n");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("[O31] programs read the same first line from a pipe in every format; a terminal shows a sentence", () => {
  const url = "http://127.0.0.1:8787";
  const json = `{"object":"listening","url":"${url}"}\n`;
  expect(listeningLine(url, undefined, pipe)).toBe(json);
  expect(listeningLine(url, "text", pipe)).toBe(json);
  expect(listeningLine(url, "json", terminal)).toBe(json);
  expect(listeningLine(url, undefined, terminal)).toBe(`Listening on ${url}\n`);
});

function logged(isColor: boolean): string[] {
  const lines: string[] = [];
  const logger = pino({}, readable({ write: (line) => void lines.push(line) }, isColor));
  logger.warn({ event: "logs_renewed", timeline: 2, ids: ["a"] }, "The database was restored.");
  logger.child({ event: "starting" }).error({ err: new Error("no route") }, "Something failed.");
  logger.info({ name: "\u001b[2J\nsecond" }, "A\u001b]0;title\u0007 message\nof two lines.");
  return lines;
}

test("[O30] a readable line has time, level, message, event and fields", () => {
  expect(logged(false)[0]).toMatch(
    /^\d\d:\d\d:\d\d WARN {2}The database was restored\. logs_renewed timeline=2 ids=\["a"\]\n$/,
  );
});

test("[O30] an error has its stack below, indented", () => {
  const [head, first, second] = logged(false)[1]?.split("\n") ?? [];
  expect(head).toMatch(/ ERROR Something failed\. starting$/);
  expect(first).toBe("  Error: no route");
  expect(second).toMatch(/^ {2} {4}at /);
});

test("[O30] a value cannot send escape sequences to the terminal, or begin a line of its own", () => {
  expect(logged(false)[2]).toMatch(/ INFO {2}A\ufffd\]0;title\ufffd message of two lines\. name=\ufffd\[2J second\n$/);
});

test("[O30] colors change nothing of the text", () => {
  const [colored = ""] = logged(true);
  const [plain = ""] = logged(false);
  const untimed = (text: string) => text.replace(/\d\d:\d\d:\d\d/, "");
  expect(colored).not.toBe(stripVTControlCharacters(colored));
  expect(untimed(stripVTControlCharacters(colored))).toBe(untimed(plain));
});
