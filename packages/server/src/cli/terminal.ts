import type { DumpCounts, Restored, RestoreOptions } from "../flows/organizations/dump.ts";
import type { WebhookSender } from "../outbound/send-webhook.ts";
import type { Environment } from "./target.ts";

/** What commands need of the terminal and the process. */
export interface Terminal {
  readonly env: Environment;
  /** What was asked for, on stdout; false: the reader is behind. */
  out(text: string): boolean;
  /** A line for the person, on stderr. */
  say(line: string): void;
  /** From the call on, Ctrl-C does not end the program: it aborts this, and the command comes to its own end. */
  interrupted(): AbortSignal;
  /** Makes the server's own requests to receivers, to any address. */
  openSender(): WebhookSender;
  dump(organization: string | undefined, write: (line: string) => Promise<void>): Promise<DumpCounts>;
  /** Gives all logs new ids; answers how many. */
  renewLogs(): Promise<number>;
  restore(lines: AsyncIterable<string>, options: RestoreOptions): Promise<Restored>;
}

/** Options of the whole program, which every command may be given too. */
export interface CommonOptions {
  readonly url?: string;
  readonly json?: boolean;
}
