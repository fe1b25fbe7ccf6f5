import { type DestinationStream, type Logger, pino } from "pino";
import { readableLine } from "./readable-line.ts";

export type LogFormat = "json" | "text";

interface LogSettings {
  readonly logLevel: string;
  /** Undefined: text on a terminal, JSON elsewhere. */
  readonly logFormat: LogFormat | undefined;
}

interface Terminal {
  readonly isTTY?: boolean | undefined;
}

/** In which form a stream gets its lines. */
export const logFormatOf = (asked: LogFormat | undefined, { isTTY }: Terminal): LogFormat =>
  asked ?? (isTTY ? "text" : "json");

/** By the convention of https://no-color.org. */
export const isColored = ({ isTTY }: Terminal, noColor: string | undefined): boolean =>
  isTTY === true && (noColor === undefined || noColor === "");

/** The server's log on stderr. */
export function openServerLog({ logLevel: level, logFormat }: LogSettings): Logger {
  const { stderr, env } = process;
  if (logFormatOf(logFormat, stderr) === "json") return pino({ level }, pino.destination({ dest: 2, sync: false }));
  // Synchronous, so that no line is lost when the process exits.
  return pino({ level }, readable(pino.destination({ dest: 2, sync: true }), isColored(stderr, env.NO_COLOR)));
}

/** Turns lines of JSON into readable ones. */
export const readable = (destination: DestinationStream, isColor: boolean): DestinationStream => ({
  write: (line) => destination.write(readableLine(line, isColor)),
});

/** The line by which programs and people learn that the server is ready. Programs read JSON from a pipe. */
export const listeningLine = (url: string, asked: LogFormat | undefined, stdout: Terminal): string =>
  stdout.isTTY && asked !== "json" ? `Listening on ${url}\n` : `${JSON.stringify({ object: "listening", url })}\n`;
