import { randomBytes, randomUUID } from "node:crypto";
import type { DatasourceArgs, Fields } from "./args.ts";
import { type SendOptions, type SourceAnswer, type SourceCommit, type SourceOperation, send } from "./source-calls.ts";

/** Why a case is not kept. */
export class Broken extends Error {}

export function check(isKept: boolean, message: string): asserts isKept {
  if (!isKept) throw new Broken(message);
}

/** What the cases use: records of their own, and calls whose answers have the right shape. */
export function createDatasourceKit(args: DatasourceArgs) {
  const { model, data, change } = args;
  const made: string[] = [];

  async function ask(call: object, options?: SendOptions): Promise<SourceAnswer> {
    return await send(args, call, options).catch((error: unknown) => {
      throw new Broken(`There was no answer: ${error instanceof Error ? error.message : String(error)}.`);
    });
  }

  async function answered(call: object): Promise<SourceAnswer["body"]> {
    const { status, text, body } = await ask(call);
    check(status === 200, `Status ${status} instead of 200: ${text.slice(0, 300)}`);
    return body;
  }

  function listIn(body: SourceAnswer["body"], key: string): readonly Readonly<Record<string, unknown>>[] {
    const list = body[key];
    check(Array.isArray(list), `The answer has no list "${key}": ${JSON.stringify(body).slice(0, 300)}`);
    return list as readonly Readonly<Record<string, unknown>>[];
  }

  const commitOf = (...operations: SourceOperation[]): SourceCommit => ({
    clientTxId: `conformance_${randomUUID()}`,
    writtenBy: "system:conformance",
    operations,
  });

  /** The results by `clientTxId`, as `committed` or `refused`. */
  async function commit(...commits: SourceCommit[]): Promise<string[]> {
    const results = listIn(await answered({ type: "commit", commits }), "results");
    return commits.map(({ clientTxId }) => {
      const own = results.filter((result) => result.clientTxId === clientTxId);
      check(own.length === 1, `A commit has ${own.length} results instead of 1.`);
      const { status, message } = own[0] as Record<string, unknown>;
      check(status === "committed" || status === "refused", `A result has the status ${JSON.stringify(status)}.`);
      check(status === "committed" || typeof message === "string", "A refusal has no message.");
      return status;
    });
  }

  return {
    ...{ model, data, change, ask, answered, listIn, commitOf, commit },
    newId(): string {
      const id = `conformance-${randomBytes(8).toString("hex")}`;
      made.push(id);
      return id;
    },
    create: (id: string, fields: Fields = data): SourceOperation => ({ action: "create", model, id, data: fields }),
    update: (id: string, fields: Fields = change): SourceOperation => ({ action: "update", model, id, data: fields }),
    remove: (id: string): SourceOperation => ({ action: "delete", model, id }),
    /** Undefined: there is no such record. */
    async load(id: string): Promise<Fields | undefined> {
      const records = listIn(await answered({ type: "load", model, ids: [id] }), "records");
      check(records.length <= 1, "One id was asked for, and more records came.");
      check(
        records.every((record) => record.id === id),
        "A record came that was not asked for.",
      );
      return records[0]?.data as Fields | undefined;
    },
    /** The changes since a cursor, page by page, and where they end. */
    async eventsSince(from: unknown, limit: number) {
      const events: Readonly<Record<string, unknown>>[] = [];
      let cursor = from;
      for (let page = 0; page < 10_000; page++) {
        const body = await answered({ type: "events", cursor, limit });
        events.push(...listIn(body, "events"));
        check(
          body.cursor === null || typeof body.cursor === "string",
          `"cursor" is ${JSON.stringify(body.cursor)}: it must be a string or null.`,
        );
        check(body.more !== true || body.cursor !== cursor, `"more" is true, and the cursor is the same.`);
        cursor = body.cursor;
        if (body.more !== true) return { events, cursor };
      }
      throw new Broken("The events have no end.");
    },
    /** Deletes the records of the run. */
    async cleanUp(): Promise<void> {
      for (const id of made)
        if (await this.load(id).catch(() => undefined)) await commit(commitOf(this.remove(id))).catch(() => {});
    },
  };
}

export type DatasourceKit = ReturnType<typeof createDatasourceKit>;
