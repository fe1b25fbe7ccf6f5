import type { Socket } from "node:net";
import pg from "pg";

/**
 * A connection that is sure of its server. It ends by itself where nothing is heard for too long while an answer is due:
 * of a host that was cut off, or a proxy that froze, no reset ever comes. And it is not made at all to a server that takes
 * no writes: a standby, or a primary that was set to read only.
 */
export class Connection extends pg.Client {
  /** The server said that it takes no writes now. */
  isReadOnly = false;
  /** Undefined: an answer takes as long as it takes. */
  #silenceMs: number | undefined = SILENCE_MS;
  #silence: NodeJS.Timeout | undefined;
  readonly #reported = new Map<string, string>();
  readonly #verify: ConnectionConfig["verify"];

  constructor({ verify, ...config }: ConnectionConfig) {
    super(config);
    this.#verify = verify;
    const { connection } = this as unknown as Inside;
    connection.on("parameterStatus", ({ parameterName, parameterValue }: Reported) => {
      this.#reported.set(parameterName, parameterValue);
      this.isReadOnly = READ_ONLY.some((name) => this.#reported.get(name) === "on");
    });
    const ask = this.query.bind(this) as (...question: readonly unknown[]) => unknown;
    // Whatever form a question has.
    this.query = ((...question: readonly unknown[]) => {
      this.#asked();
      return ask(...question);
    }) as pg.Client["query"];
    // Whoever asks something of a connection that breaks is told. This only keeps Node from exiting.
    this.on("error", () => {});
    this.on("drain", () => this.#answered());
    this.on("end", () => this.#answered());
  }

  // The pool hands over a callback, all others wait for the promise.
  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connected = this.#connect();
    if (!callback) return connected;
    connected.then(() => callback(undefined as never), callback);
    return undefined;
  }

  async #connect(): Promise<this> {
    try {
      await super.connect();
    } catch (error) {
      this.emit("failed");
      throw error;
    }
    this.#socket.on("data", () => this.#silence?.refresh());
    try {
      if (this.isReadOnly) throw readOnly();
      await this.#verify?.(this);
      return this;
    } catch (error) {
      this.emit("failed");
      await this.end().catch(() => {});
      throw error;
    }
  }

  /** From now on an answer may take as long as it takes; "soon": it may not. */
  answers(when: "soon" | "in time"): void {
    this.#silenceMs = when === "soon" ? SILENCE_MS : undefined;
    if (when === "in time") this.#answered();
  }

  /** A server that does not take leave is not waited for. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const leaving = setTimeout(() => this.#socket.destroy(), LEAVE_MS);
    this.once("end", () => clearTimeout(leaving));
    const ended = super.end().finally(() => clearTimeout(leaving));
    if (!callback) return ended;
    ended.then(() => callback(undefined as never), callback);
    return undefined;
  }

  get #socket(): Socket {
    return (this as unknown as Inside).connection.stream;
  }

  #asked(): void {
    if (this.#silenceMs === undefined || this.#silence) return;
    const lost = () => this.#socket.destroy(new Error("The database connection went silent."));
    this.#silence = setTimeout(lost, this.#silenceMs);
  }

  #answered(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}

export interface ConnectionConfig extends pg.ClientConfig {
  /** Asked of the database before anything else is. A failure ends the connection. */
  readonly verify?: ((connection: Connection) => Promise<void>) | undefined;
}

const readOnly = () =>
  Object.assign(new Error("The database takes no writes: it is a standby, or set to read only"), {
    code: READ_ONLY_STATE,
  });

/** What the driver does not tell its users of, and is there all the same. */
interface Inside {
  readonly connection: { readonly stream: Socket; on(event: "parameterStatus", heard: (what: Reported) => void): void };
}

interface Reported {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Longer than the statement timeout: only a connection that is silent, not one that is slow, ends by this. */
const SILENCE_MS = 7_000;
const LEAVE_MS = 1_000;
/** The server tells of these by itself, at the beginning and when they change. */
const READ_ONLY = ["in_hot_standby", "default_transaction_read_only"];
/** SQLSTATE of a write that a read-only transaction refuses. */
export const READ_ONLY_STATE = "25006";

/** Until a connection is there. */
const CONNECT_MS = 3_000;

/** The address of each host that an address names: `postgres://ann@a:5432,b/data` names two. */
export function hostsOf(url: string): readonly string[] {
  const [, before = "", hosts = "", behind = ""] = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/i.exec(url) ?? [];
  return before === "" ? [url] : hosts.split(",").map((host) => `${before}${host}${behind}`);
}

/** The driver gives it no code. */
const isTimeout = (error: unknown): error is Error => error instanceof Error && error.message === "timeout expired";

/** Connects to the first of the hosts that answers and takes writes. */
export async function connectTo(url: string, config: ConnectionConfig): Promise<Connection> {
  const hosts = hostsOf(url);
  let failure: unknown;
  for (const connectionString of hosts) {
    const connectionTimeoutMillis = CONNECT_MS / hosts.length;
    const client = new Connection({ ...config, connectionString, connectionTimeoutMillis });
    try {
      return await client.connect();
    } catch (error) {
      failure = isTimeout(error) ? Object.assign(error, { code: "ETIMEDOUT" }) : error;
    }
  }
  throw failure;
}
