import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";
import { endProgram, firstLine, startProgram } from "../support/child-program.ts";
import type { StoredRow } from "../support/log-tables.ts";
import { good, type SendRequest } from "../support/requester.ts";

/** What a service keeps its records in. */
export interface EndpointRecords {
  /** The service, which may be killed at any moment. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** All of them, past the service. */
  read(): Promise<readonly SourceRow[]>;
  stop(): Promise<void>;
}

export interface SourceRow {
  readonly model: string;
  readonly id: string;
  readonly data: object;
}

/** A service of the owner's that has the records of all models. */
export interface Endpoint {
  /** Names it as the source of the models. */
  register(request: SendRequest): Promise<void>;
  /** kill -9, and started again at once, on the same port. */
  kill(): Promise<void>;
  /** What differs between its records and the server's. */
  differences(rows: readonly StoredRow[]): Promise<string[]>;
  stop(): Promise<void>;
}

/** `flags`: how Node runs the service, if not as `sourceProgram` says. */
export async function startEndpoint(records: EndpointRecords, flags?: readonly string[]): Promise<Endpoint> {
  const signingKey = `whsec_${randomBytes(32).toString("base64")}`;
  let port = 0;
  let child: ChildProcess;

  async function start(): Promise<void> {
    const program = flags ? { flags, file: records.program } : sourceProgram(records.program);
    child = startProgram(program, [], { SIGNING_KEY: signingKey, ...records.env, PORT: String(port) });
    port = Number(await firstLine(child));
  }

  await start();
  return {
    async register(request) {
      const endpoint = `http://127.0.0.1:${port}/`;
      const { id: source } = good(
        await request("POST", "/v1/datasources", { connection: "endpoint", endpoint, signingKey }),
      );
      const elsewhere = Object.entries(referenceSchema.models).map(([name, model]) => [name, { ...model, source }]);
      good(await request("POST", "/v1/schema", { models: Object.fromEntries(elsewhere) }));
    },
    async kill() {
      await endProgram(child);
      await start();
    },
    async differences(rows) {
      const there = await records.read();
      const nameOf = ({ model, id }: { model: string; id: string }) => `${model.toLowerCase()}/${id}`;
      const atSource = new Map(there.map((row) => [nameOf(row), row.data]));
      const here = new Map(rows.map((row) => [nameOf(row), row.data as object]));
      return [...new Set([...atSource.keys(), ...here.keys()])].flatMap((name) => {
        const [theirs, ours] = [atSource.get(name), here.get(name)];
        if (!theirs || !ours) return [`${name} is ${theirs ? "only at the source" : "not at the source"}`];
        const { id: _, ...values } = ours as { id?: string };
        return isDeepStrictEqual(values, theirs) ? [] : [`${name} has other values at the source`];
      });
    },
    async stop() {
      child.kill("SIGKILL");
      await records.stop();
    },
  };
}
