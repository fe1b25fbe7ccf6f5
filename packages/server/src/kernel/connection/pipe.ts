import type { Socket } from "node:net";
import type pg from "pg";
import { type ConnectionConfig, connectTo, READ_ONLY_STATE } from "./connection.ts";
import { errorState } from "./database-error.ts";
import { session } from "./pool.ts";
import type { Answers, Statement } from "./statement.ts";

/** A connection that sends several statements in one network write and receives their replies in order. */
export interface Pipe {
  send<const S extends readonly Statement<unknown>[]>(statements: S): Promise<Answers<S>>;
  /** False once the connection broke or a reply timed out. It is then discarded. */
  readonly usable: boolean;
  close(): Promise<void>;
}

/**
 * Each statement is planned only once: it is written so that one generic plan fits all cases (see records.ts), and
 * planning it every time would take longer than running it. But a plan made while a table is empty would scan the whole
 * table for each key, even after the table has grown. Every load probes a full key, so a sequential scan is never right
 * and is disabled.
 */
export const PLANNING = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off";

export interface PipeOptions extends Pick<ConnectionConfig, "verify"> {
  readonly lockTimeoutMs: number;
}

export async function openPipe(url: string, { lockTimeoutMs, verify }: PipeOptions): Promise<Pipe> {
  const options = `${session.options} -c lock_timeout=${lockTimeoutMs} ${PLANNING}`;
  const client = await connectTo(url, { ...session, options, pipeline: true, verify } as ConnectionConfig);
  let usable = true;
  const spoil = () => {
    usable = false;
  };
  client.on("error", spoil);
  client.on("end", spoil);
  const { stream } = (client as unknown as { connection: { stream: Pick<Socket, "cork" | "uncork"> } }).connection;

  async function send<const S extends readonly Statement<unknown>[]>(statements: S): Promise<Answers<S>> {
    stream.cork();
    const replies = statements.map(({ name, text, values }) =>
      client.query({ ...(name !== "" && { name }), text, values: [...values] }),
    );
    stream.uncork();
    const settled = await Promise.allSettled(replies);
    // The first failure is the cause. Later statements only report that the transaction is aborted.
    const failed = settled.find((reply) => reply.status === "rejected");
    if (failed) {
      if (errorState(failed.reason) === READ_ONLY_STATE) spoil();
      throw failed.reason;
    }
    return settled.map((reply, i) => {
      const { rows, command } = (reply as PromiseFulfilledResult<pg.QueryResult>).value;
      return statements[i]?.read(rows, command);
    }) as Answers<S>;
  }

  return {
    send,
    get usable() {
      return usable;
    },
    close: async () => {
      spoil();
      await client.end().catch(() => {});
    },
  };
}
