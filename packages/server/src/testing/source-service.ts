import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CommitRefusedError, createDatasourceHandler } from "@holdfast/sdk/datasource";
import type { JsonObject, SourceCall, SourceCommit } from "@holdfast/sdk/protocol";

/** A service that has the records of some models in memory, and does what an endpoint datasource has to do. */
export interface SourceService {
  readonly url: string;
  signingKey: string;
  /** By `model/id`. */
  readonly rows: Map<string, JsonObject>;
  readonly calls: SourceCall[];
  /** The commits that were done, in order. */
  readonly done: SourceCommit[];
  /** Runs before a commit is done; may throw. */
  before: (commit: SourceCommit) => unknown;
  /** Runs after it is done, before the answer; may throw. */
  after: (commit: SourceCommit) => unknown;
  /** Runs between an answer and its sending. */
  late: (call: SourceCall) => unknown;
  /** What it answers to a call instead of doing it; undefined: it does it. */
  instead: (call: SourceCall) => { status?: number; body: string } | undefined;
  /** The service's own code writes a record. */
  put(model: string, id: string, data: JsonObject | null): void;
  close(): Promise<void>;
}

export const newSigningKey = (): string => `whsec_${randomBytes(32).toString("base64")}`;

export async function startSourceService(): Promise<SourceService> {
  const rows: SourceService["rows"] = new Map();
  const changed: { model: string; id: string }[] = [];
  const results = new Map<string, "done">();
  const put: SourceService["put"] = (model, id, data) => {
    if (data) rows.set(`${model}/${id}`, data);
    else rows.delete(`${model}/${id}`);
    changed.push({ model, id });
  };

  function write({ clientTxId, operations }: SourceCommit): void {
    if (results.has(clientTxId)) return;
    const there = new Map<string, boolean>();
    for (const [operation, { action, model, id }] of operations.entries()) {
      const key = `${model}/${id}`;
      if (action !== "delete" && (there.get(key) ?? rows.has(key)) === (action === "create"))
        throw new CommitRefusedError(`${action} is not possible`, { code: "wrong_state", operation });
      there.set(key, action !== "delete");
    }
    for (const { model, id, action, data } of operations)
      put(model, id, action === "delete" ? null : ({ ...rows.get(`${model}/${id}`), ...data } as JsonObject));
    results.set(clientTxId, "done");
  }

  const open = (signingKey: string) =>
    createDatasourceHandler({
      signingKey,
      onError: () => {},
      async commit(commit) {
        await service.before(commit);
        write(commit);
        service.done.push(commit);
        await service.after(commit);
      },
      load: async (model, ids) =>
        ids.flatMap((id) => {
          const data = rows.get(`${model}/${id}`);
          return data ? { id, data } : [];
        }),
      async list(model, { cursor, limit }) {
        const own = [...rows.keys()].filter((key) => key.startsWith(`${model}/`)).sort();
        const page = own.filter((key) => key > (cursor ?? "")).slice(0, limit);
        const records = page.map((key) => ({ id: key.slice(model.length + 1), data: rows.get(key) as JsonObject }));
        return { records, cursor: page.length === limit ? (page.at(-1) ?? null) : null };
      },
      async events({ cursor, limit }) {
        const from = Number(cursor ?? 0);
        const events = changed.slice(from, from + limit);
        return { events, cursor: String(from + events.length), more: from + events.length < changed.length };
      },
    });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString();
      const call = JSON.parse(body) as SourceCall;
      service.calls.push(call);
      const lie = service.instead(call);
      if (lie) {
        const { status = 200, body: text } = lie;
        return void response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(text);
      }
      const headers = new Headers(request.headers as Record<string, string>);
      const answer = await open(service.signingKey).fetch(new Request(service.url, { method: "POST", headers, body }));
      const text = await answer.text();
      await service.late(call);
      response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const service: SourceService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/holdfast`,
    signingKey: newSigningKey(),
    ...{ rows, calls: [], done: [], before: () => {}, after: () => {}, late: () => {}, instead: () => undefined, put },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
