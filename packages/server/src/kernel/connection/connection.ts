import type { Socket } from "node:net";
import pg from "pg";
import { AnswerBound, isBounded } from "./answer-bound.ts";
import { errorState, INSUFFICIENT_PRIVILEGE } from "./database-error.ts";
import { isPublicOnly, PublicSocket } from "./public-socket.ts";

/**
 * A Postgres connection that detects a dead or unsuitable server. It ends itself if nothing is received for too long
 * while a reply is due: from a host that was cut off, or a proxy that hangs, no reset ever arrives. And it refuses to
 * connect to a server that does not accept writes: a standby, or a primary set to read only.
 */
export class Connection extends pg.Client {
  /** The server reported that it does not accept writes now. */
  isReadOnly = false;
  /** Undefined: a reply may take any time. */
  #silenceMs: number | undefined = SILENCE_MS;
  #silence: NodeJS.Timeout | undefined;
  /** Only for a tenant's own database: when a whole answer has to be there. */
  #answerDue: NodeJS.Timeout | undefined;
  readonly #isBounded: boolean;
  readonly #reported = new Map<string, string>();
  readonly #verify: ConnectionConfig["verify"];

  constructor({ verify, lifeMs, ...config }: ConnectionConfig) {
    super(isPublicOnly(config.connectionString) ? { ...config, stream: () => new PublicSocket() } : config);
    this.#verify = verify;
    this.#isBounded = isBounded(config.connectionString);
    const { connection } = this as unknown as Inside;
    boundAnswers(connection);
    connection.on("readyForQuery", () => this.#answerDue?.refresh());
    if (lifeMs !== undefined) this.#endAfter(lifeMs);
    connection.on("parameterStatus", ({ parameterName, parameterValue }: Reported) => {
      this.#reported.set(parameterName, parameterValue);
      this.isReadOnly = READ_ONLY.some((name) => this.#reported.get(name) === "on");
    });
    const ask = this.query.bind(this) as (...question: readonly unknown[]) => unknown;
    // Covers every overload of `query`.
    this.query = ((...question: readonly unknown[]) => {
      this.#asked();
      return ask(...question);
    }) as pg.Client["query"];
    // Queries on a broken connection reject anyway. This handler only keeps Node from exiting.
    this.on("error", () => {});
    this.on("drain", () => this.#answered());
    this.on("end", () => this.#answered());
  }

  // The pool passes a callback, everything else uses the promise.
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
      if (isForbidden(error)) throw this.#mayNotConnect(error.code);
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

  /** "in time": replies may take any time from now on. "soon": they may not. */
  answers(when: "soon" | "in time"): void {
    this.#silenceMs = when === "soon" ? SILENCE_MS : undefined;
    if (when === "in time") this.#answered();
  }

  /** Do not wait for a server that does not respond to the goodbye. */
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

  #mayNotConnect(code: string): Error {
    const [role, database] = [this.user ?? "", this.database ?? ""].map((name) => this.escapeIdentifier(name));
    const sentence = `the role ${role} lacks CONNECT on the database ${database}: run "grant connect on database ${database} to ${role}"`;
    return Object.assign(new Error(sentence), { code });
  }

  get #socket(): Socket {
    return (this as unknown as Inside).connection.stream;
  }

  #asked(): void {
    if (this.#silenceMs === undefined || this.#silence) return;
    const lost = () => this.#socket.destroy(new Error("The database connection stopped responding."));
    this.#silence = setTimeout(lost, this.#silenceMs);
    if (this.#isBounded) this.#answerDue = setTimeout(lost, ANSWER_MS);
  }

  #answered(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#answerDue);
    this.#silence = undefined;
    this.#answerDue = undefined;
  }

  #endAfter(ms: number): void {
    const late = () => this.#socket.destroy(new Error(`The database took longer than ${ms / 1_000} s.`));
    const life = setTimeout(late, ms);
    this.once("end", () => clearTimeout(life));
  }
}

/** The driver calls `attachListeners` with the socket that the messages come through, which may be one of TLS. */
function boundAnswers(connection: Inside["connection"]): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const bound = new AnswerBound();
    stream.on("data", (chunk: Buffer) => {
      const problem = bound.take(chunk);
      if (problem) stream.destroy(problem);
    });
    attach(stream);
  };
}

export interface ConnectionConfig extends pg.ClientConfig {
  /** Runs before anything else on the connection. If it fails, the connection ends. */
  readonly verify?: ((connection: Connection) => Promise<void>) | undefined;
  /** After that time the connection ends, whatever is under way. */
  readonly lifeMs?: number;
}

const readOnly = () =>
  Object.assign(new Error("The database takes no writes: it is a standby, or set to read only"), {
    code: READ_ONLY_STATE,
  });

/** Postgres says neither whose privilege is missing nor which. */
const isForbidden = (error: unknown): error is { readonly code: string } =>
  error instanceof Error && errorState(error) === INSUFFICIENT_PRIVILEGE && error.message.includes("for database");

/** Properties of the driver that its types do not declare. */
interface Inside {
  readonly connection: {
    readonly stream: Socket;
    attachListeners(stream: Socket): void;
    on(event: "parameterStatus", received: (what: Reported) => void): void;
    on(event: "readyForQuery", received: () => void): void;
  };
}

interface Reported {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Longer than the statement timeout, so that it ends silent connections, not slow ones. */
const SILENCE_MS = 7_000;
/** A database may send something now and then, and never an end. */
const ANSWER_MS = 30_000;
const LEAVE_MS = 1_000;
/** Postgres reports these settings by itself, at the start and when they change. */
const READ_ONLY = ["in_hot_standby", "default_transaction_read_only"];
/** SQLSTATE of a write in a read-only transaction. */
export const READ_ONLY_STATE = "25006";

/** Timeout for opening a connection. */
const CONNECT_MS = 3_000;

/** One URL per host of a connection string: `postgres://ann@a:5432,b/data` names two. */
export function hostsOf(url: string): readonly string[] {
  const [, before = "", hosts = "", behind = ""] = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/i.exec(url) ?? [];
  return before === "" ? [url] : hosts.split(",").map((host) => `${before}${host}${behind}`);
}

/** The driver's timeout error has no code. */
const isTimeout = (error: unknown): error is Error => error instanceof Error && error.message === "timeout expired";

/** Connects to the first host that responds and accepts writes. */
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
