import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import { sourceProgram } from "@holdfast/server/testing/source-program";
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

const SCHEMA = new URL("../../packages/server/reference-schema.json", import.meta.url);

/** `flags`: how Node runs the service, if not as `sourceProgram` says. */
export async function startEndpoint(records: EndpointRecords, flags?: readonly string[]): Promise<Endpoint> {
  const signingKey = `whsec_${randomBytes(32).toString("base64")}`;
  let port = 0;
  let child: ChildProcess;

  async function start(): Promise<void> {
    const program = flags ? { flags, file: records.program } : sourceProgram(records.program);
    const env = { PATH: process.env.PATH ?? "", SIGNING_KEY: signingKey, ...records.env, PORT: String(port) };
    child = spawn(process.execPath, [...program.flags, program.file], { env, stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line")) as [string];
    port = Number(line);
  }

  await start();
  return {
    async register(request) {
      const endpoint = `http://127.0.0.1:${port}/`;
      const { id: source } = good(
        await request("POST", "/v1/datasources", { connection: "endpoint", endpoint, signingKey }),
      );
      const { models } = JSON.parse(readFileSync(SCHEMA, "utf8")) as ModelSchema;
      const elsewhere = Object.entries(models).map(([name, model]) => [name, { ...model, source }]);
      good(await request("POST", "/v1/schema", { models: Object.fromEntries(elsewhere) }));
    },
    async kill() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
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
