import type { KillableServer } from "../../support/killable-server.ts";
import { tokensIn } from "../judge/judge.ts";

/** What a server's log tells, read along. */
export interface ServerLog {
  /** Lines that tell of a bug. */
  readonly bugs: readonly string[];
  /** Tokens that are in it, also the operator's. */
  readonly secrets: ReadonlySet<string>;
  onLog(line: string): void;
}

const MOST_KEPT = 20;

export function createServerLog(): ServerLog {
  const bugs: string[] = [];
  const secrets = new Set<string>();
  return {
    ...{ bugs, secrets },
    onLog(line) {
      for (const token of [...tokensIn(line), ...(line.match(/admin_[0-9a-f]{40}/g) ?? [])]) secrets.add(token);
      if (/"level":(50|60)|^\s+at |FATAL ERROR/.test(line) && bugs.length < MOST_KEPT) bugs.push(line.slice(0, 1_500));
    },
  };
}

/** Tells the server to stop. Returns what is wrong with how it ended, and with what it wrote into its log. */
export async function endFaults(server: KillableServer, { bugs }: ServerLog): Promise<string[]> {
  const { exit } = server;
  const how = await server.stop();
  const fault =
    exit === undefined ? `told to stop, the server ended with ${how}` : `the server ended by itself: ${exit}`;
  return [
    ...(how === "code 0" && exit === undefined ? [] : [fault]),
    ...bugs.slice(0, 5).map((bug) => `the server's log: ${bug}`),
  ];
}
