import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import Database from "libsql";
import type { StoredRow } from "../support/log-tables.ts";
import { good, type SendRequest } from "../support/requester.ts";

/** A service of the owner's that has the records of all models. */
export interface Endpoint {
  /** Names it as the source of the models. */
  register(request: SendRequest): Promise<void>;
  /** kill -9, and started again at once, on the same port. */
  kill(): Promise<void>;
  /** What differs between its file and the server's records. */
  differences(rows: readonly StoredRow[]): string[];
  stop(): void;
}

const PROGRAM = fileURLToPath(new URL("record-service.ts", import.meta.url));
const SCHEMA = new URL("../../packages/server/reference-schema.json", import.meta.url);

export async function startEndpoint(folder: string): Promise<Endpoint> {
  const file = join(folder, "records.db");
  const signingKey = `whsec_${randomBytes(32).toString("base64")}`;
  let port = 0;
  let child: ChildProcess;

  async function start(): Promise<void> {
    const { flags, file: program } = sourceProgram(PROGRAM);
    const env = { PATH: process.env.PATH ?? "", SIGNING_KEY: signingKey, RECORDS_FILE: file, PORT: String(port) };
    child = spawn(process.execPath, [...flags, program], { env, stdio: ["ignore", "pipe", "inherit"] });
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
    differences(rows) {
      const db = new Database(file);
      const there = db.prepare("select model, id, data from record").all() as {
        model: string;
        id: string;
        data: string;
      }[];
      db.close();
      const nameOf = ({ model, id }: { model: string; id: string }) => `${model.toLowerCase()}/${id}`;
      const atSource = new Map(there.map((row) => [nameOf(row), JSON.parse(row.data) as object]));
      const here = new Map(rows.map((row) => [nameOf(row), row.data as object]));
      return [...new Set([...atSource.keys(), ...here.keys()])].flatMap((name) => {
        const [theirs, ours] = [atSource.get(name), here.get(name)];
        if (!theirs || !ours) return [`${name} is ${theirs ? "only at the source" : "not at the source"}`];
        const { id: _, ...values } = ours as { id?: string };
        return isDeepStrictEqual(values, theirs) ? [] : [`${name} has other values at the source`];
      });
    },
    stop: () => void child.kill("SIGKILL"),
  };
}
