import { type DestinationStream, type Logger, pino } from "pino";
import sonicBoom from "sonic-boom";
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
  if (logFormatOf(logFormat, stderr) === "json") return pino({ level }, openStderr(false));
  // Synchronous, so that no line is lost when the process exits.
  return pino({ level }, readable(openStderr(true), isColored(stderr, env.NO_COLOR)));
}

/** How long a process that exits waits for a reader of its log that reads nothing. */
const LAST_MS = 1_000;

/** A reader of the log that is gone, or that reads nothing, does not keep the process from ending. */
function openStderr(sync: boolean): DestinationStream {
  let exitAt = Number.POSITIVE_INFINITY;
  let isGone = false;
  const stderr = new sonicBoom.SonicBoom({ fd: 2, sync, retryEAGAIN: () => performance.now() < exitAt + LAST_MS });
  stderr.on("error", () => {
    isGone = true;
  });
  process.once("exit", () => {
    exitAt = performance.now();
    try {
      if (!isGone) stderr.flushSync();
    } catch {
      // The last lines have no reader.
    }
  });
  return { write: (line) => void (isGone || stderr.write(line)) };
}

/** Turns lines of JSON into readable ones. */
export const readable = (destination: DestinationStream, isColor: boolean): DestinationStream => ({
  write: (line) => destination.write(readableLine(line, isColor)),
});

/** The line by which programs and people learn that the server is ready. Programs read JSON from a pipe. */
export const listeningLine = (url: string, asked: LogFormat | undefined, stdout: Terminal): string =>
  stdout.isTTY && asked !== "json" ? `Listening on ${url}\n` : `${JSON.stringify({ object: "listening", url })}\n`;
