import type { Socket } from "node:net";
import pg from "pg";
import { clientConfig } from "./pool.ts";
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

/** Longer than the statement timeout: only a connection that is silent, not one that is slow, ends by this. */
const SILENCE_MS = 12_000;

export async function openPipe(url: string, { lockTimeoutMs }: { lockTimeoutMs: number }): Promise<Pipe> {
  const config = clientConfig(url);
  const options = `${config.options} -c lock_timeout=${lockTimeoutMs} ${PLANNING}`;
  const client = new pg.Client({ ...config, options, pipeline: true } as pg.ClientConfig);
  let usable = true;
  const spoil = () => {
    usable = false;
  };
  client.on("error", spoil);
  client.on("end", spoil);
  await client.connect();
  const { stream } = (
    client as unknown as { connection: { stream: Pick<Socket, "cork" | "uncork" | "destroy" | "on"> } }
  ).connection;
  // What was sent behind something slow is answered after it: only while nothing at all is heard does its time run.
  const silences = new Set<NodeJS.Timeout>();
  stream.on("data", () => {
    for (const silence of silences) silence.refresh();
  });

  async function send<const S extends readonly Statement<unknown>[]>(statements: S): Promise<Answers<S>> {
    const silence = setTimeout(() => {
      spoil();
      stream.destroy(new Error("The database connection went silent."));
    }, SILENCE_MS);
    silences.add(silence);
    stream.cork();
    const replies = statements.map(({ name, text, values }) =>
      client.query({ ...(name !== "" && { name }), text, values: [...values] }),
    );
    stream.uncork();
    const settled = await Promise.allSettled(replies);
    silences.delete(silence);
    clearTimeout(silence);
    // The first failure is the cause; the statements after it only say that the transaction is aborted.
    const failed = settled.find((reply) => reply.status === "rejected");
    if (failed) throw failed.reason;
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
