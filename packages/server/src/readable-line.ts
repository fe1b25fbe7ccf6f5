import { styleText } from "node:util";
import { pino } from "pino";

/** A line of the log as JSON, by pino. */
interface LogLine {
  readonly time: number;
  readonly level: number;
  readonly msg?: string;
  readonly event?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

type Format = Parameters<typeof styleText>[0];
const COLORS: Readonly<Record<string, Format>> = { warn: "yellow", error: "red", fatal: "red", info: "green" };
/** Not shown: the same in every line of a terminal. */
const LEFT_OUT = new Set(["time", "level", "msg", "event", "err", "pid", "hostname"]);
/** Escape sequences in logged values must not reach the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are replaced
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * A line for people, from a line of JSON: time, level, message, event, and the other fields. The stack of an error
 * follows below. `pino-pretty` is not used: it needs Node 22, and has a dozen dependencies.
 */
export function readableLine(json: string, isColor: boolean): string {
  const line = JSON.parse(json) as LogLine;
  const paint = (format: Format, text: string) => (isColor ? styleText(format, text, { validateStream: false }) : text);
  const level = pino.levels.labels[line.level] ?? String(line.level);
  const fields = Object.entries(line)
    .filter(([name]) => !LEFT_OUT.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const facts = [line.event, ...fields].filter((each) => each !== undefined).map((each) => safe(each, " "));
  const head = [
    paint("gray", timeOf(new Date(line.time))),
    paint(COLORS[level] ?? "gray", level.toUpperCase().padEnd(5)),
    safe(line.msg ?? "", " "),
    ...(facts.length > 0 ? [paint("gray", facts.join(" "))] : []),
  ].join(" ");
  const trouble = line.err?.stack ?? line.err?.message;
  const below = trouble === undefined ? "" : `  ${safe(trouble, "\n  ")}\n`;
  return `${head}\n${below}`;
}

const safe = (text: string, lineEnd: string) => text.replace(/\r?\n/g, lineEnd).replace(CONTROL, "\ufffd");

const timeOf = (date: Date) =>
  [date.getHours(), date.getMinutes(), date.getSeconds()].map((each) => String(each).padStart(2, "0")).join(":");
