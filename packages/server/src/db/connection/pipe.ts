import type { Socket } from "node:net";
import type pg from "pg";
import { type ConnectionConfig, connectTo, READ_ONLY_STATE } from "./connection.ts";
import { errorState } from "./database-error.ts";
import { session } from "./pool.ts";
import type { Answers, Statement } from "./statement.ts";

/** One connection that takes several statements in one network write and answers them in order. */
export interface Pipe {
  send<const S extends readonly Statement<unknown>[]>(statements: S): Promise<Answers<S>>;
  /** False once the connection broke or a reply took too long; then it is thrown away. */
  readonly usable: boolean;
  close(): Promise<void>;
}

/**
 * Each statement is planned once: it is made such that no better plan can come (see records.ts), and planning them every
 * time takes longer than running them. Planned while a table is empty, and known to be, it would read all of the table
 * for each key, also when that has grown: every load is a probe of a full key, so reading all is never right.
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
    // The first failure is the cause; the statements after it only say that the transaction is aborted.
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
