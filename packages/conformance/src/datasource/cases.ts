import { check, type DatasourceKit } from "./datasource-kit.ts";
import type { SourceCommit } from "./source-calls.ts";

/** One promise of a handler. */
export interface DatasourceCase {
  readonly says: string;
  run(t: DatasourceKit): Promise<void>;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether a record has these values. The store may have more fields. */
function has(record: Readonly<Record<string, unknown>> | undefined, fields: Readonly<Record<string, unknown>>): void {
  check(record !== undefined, "The record is not there.");
  for (const [name, value] of Object.entries(fields))
    check(
      same(record[name], value),
      `"${name}" is ${JSON.stringify(record[name])} instead of ${JSON.stringify(value)}.`,
    );
}

async function committed(t: DatasourceKit, ...commits: SourceCommit[]): Promise<void> {
  const results = await t.commit(...commits);
  check(
    results.every((one) => one === "committed"),
    `A commit was not taken: ${results.join(", ")}.`,
  );
}

export const cases: readonly DatasourceCase[] = [
  {
    says: "a call without a signature, with another key, of ten minutes ago, or with another body is refused with 4xx",
    async run(t) {
      const call = { type: "events", cursor: null, limit: 1 };
      const wrong = { key: `whsec_${Buffer.from("another key of 32 bytes or so ..").toString("base64")}` };
      for (const [what, options] of Object.entries({
        "without a signature": { key: null },
        "with another key": wrong,
        "of ten minutes ago": { at: -600 },
        "with another body": { body: JSON.stringify({ ...call, limit: 2 }) },
      })) {
        const { status } = await t.ask(call, options);
        check(status >= 400 && status < 500, `A call ${what} was answered with ${status}.`);
      }
    },
  },
  {
    says: "a created record is there with its values, a change keeps the other fields, and a deleted one is gone",
    async run(t) {
      const id = t.newId();
      await committed(t, t.commitOf(t.create(id)));
      has(await t.load(id), t.data);
      await committed(t, t.commitOf(t.update(id)));
      has(await t.load(id), { ...t.data, ...t.change });
      await committed(t, t.commitOf(t.remove(id)));
      check((await t.load(id)) === undefined, "The deleted record is still there.");
    },
  },
  {
    says: "a record that does not exist is left out of a load",
    async run(t) {
      const [there, gone] = [t.newId(), t.newId()];
      await committed(t, t.commitOf(t.create(there)));
      const records = t.listIn(await t.answered({ type: "load", model: t.model, ids: [gone, there] }), "records");
      check(
        same(
          records.map(({ id }) => id),
          [there],
        ),
        `Instead of one record came ${records.length}.`,
      );
    },
  },
  {
    says: "a commit that comes again, also after later ones, has the same result and does not happen again",
    async run(t) {
      const id = t.newId();
      const first = t.commitOf(t.create(id));
      const second = t.commitOf(t.update(id));
      await committed(t, first);
      await committed(t, second);
      await committed(t, first);
      await committed(t, second);
      has(await t.load(id), { ...t.data, ...t.change });
      const third = t.commitOf(t.update(id, t.data));
      await committed(t, third);
      await committed(t, second);
      has(await t.load(id), t.data);
      const end = t.commitOf(t.remove(id));
      await committed(t, end);
      await committed(t, first);
      check((await t.load(id)) === undefined, "A repeated create brought a deleted record back.");
      await committed(t, end);
    },
  },
  {
    says: "a commit that comes several times at once happens once, and has the same result each time",
    async run(t) {
      for (let round = 0; round < 5; round++) {
        const one = t.commitOf(t.create(t.newId()));
        const results = (await Promise.all(Array.from({ length: 8 }, () => t.commit(one)))).flat();
        check(
          results.every((result) => result === "committed"),
          `Of eight times ${results.filter((result) => result !== "committed").length} were refused.`,
        );
      }
    },
  },
  {
    says: "the commits of one call have a result each, and one that is refused does not stop the others",
    async run(t) {
      const [a, b, c] = [t.newId(), t.newId(), t.newId()];
      await committed(t, t.commitOf(t.create(b)));
      const results = await t.commit(t.commitOf(t.create(a)), t.commitOf(t.create(b)), t.commitOf(t.create(c)));
      check(
        same(results, ["committed", "refused", "committed"]),
        `The second of three creates has an id that is taken, and the results are ${results.join(", ")}.`,
      );
      has(await t.load(c), t.data);
    },
  },
  {
    says: "a commit happens whole or not at all",
    async run(t) {
      const [taken, fresh, changed] = [t.newId(), t.newId(), t.newId()];
      await committed(t, t.commitOf(t.create(taken)), t.commitOf(t.create(changed)));
      const [result] = await t.commit(t.commitOf(t.update(changed), t.create(fresh), t.create(taken)));
      check(result === "refused", "A commit that creates a record with a taken id was taken.");
      check((await t.load(fresh)) === undefined, "A record of a refused commit is there.");
      has(await t.load(changed), t.data);
    },
  },
  {
    says: "a commit may write many records, and a record several times",
    async run(t) {
      const ids = Array.from({ length: 50 }, () => t.newId());
      const [first = ""] = ids;
      await committed(t, t.commitOf(...ids.map((id) => t.create(id)), t.update(first)));
      has(await t.load(first), { ...t.data, ...t.change });
      await committed(t, t.commitOf(...ids.map((id) => t.remove(id))));
      check((await t.load(ids.at(-1) as string)) === undefined, "A deleted record is still there.");
    },
  },
  {
    says: "one call may have 100 commits",
    async run(t) {
      const ids = Array.from({ length: 100 }, () => t.newId());
      await committed(t, ...ids.map((id) => t.commitOf(t.create(id))));
      await committed(t, ...ids.map((id) => t.commitOf(t.remove(id))));
    },
  },
  {
    says: "a list has every record once, in pages that end",
    async run(t) {
      const own = new Set(Array.from({ length: 7 }, () => t.newId()));
      await committed(t, t.commitOf(...[...own].map((id) => t.create(id))));
      const listed = async (limit: number) => {
        const seen: string[] = [];
        let cursor: unknown = null;
        do {
          const body = await t.answered({ type: "list", model: t.model, cursor, limit });
          seen.push(...t.listIn(body, "records").map(({ id }) => String(id)));
          check(body.cursor !== cursor || cursor === null, "A page ends where it began.");
          cursor = body.cursor;
          check(seen.length < 1_000_000, "The list has no end.");
        } while (cursor !== null);
        return seen;
      };
      const seen = await listed(3);
      check(new Set(seen).size === seen.length, "A record came twice.");
      const inLargePages = await listed(1_000);
      check(
        same([...seen].sort(), [...inLargePages].sort()),
        `Pages of 3 have ${seen.length} records, and pages of 1 000 have ${inLargePages.length}.`,
      );
      const missing = [...own].filter((id) => !seen.includes(id));
      check(missing.length === 0, `${missing.length} of ${own.size} records are missing.`);
    },
  },
  {
    says: "events name every record that changed since the cursor, in pages of any size, and again from the same cursor",
    async run(t) {
      const { cursor } = await t.eventsSince(null, 1_000);
      const ids = Array.from({ length: 5 }, () => t.newId());
      await committed(t, ...ids.map((id) => t.commitOf(t.create(id))));
      for (const limit of [2, 1_000, 2]) {
        const { events } = await t.eventsSince(cursor, limit);
        const named = new Set(events.filter((event) => event.model === t.model).map((event) => event.id));
        const missing = ids.filter((id) => !named.has(id));
        check(
          missing.length === 0,
          `With a limit of ${limit}, ${missing.length} of ${ids.length} records were not named.`,
        );
      }
      const later = await t.eventsSince(cursor, 1_000);
      await committed(t, t.commitOf(t.remove(ids[0] as string)));
      const { events } = await t.eventsSince(later.cursor, 1_000);
      check(
        events.some(({ id }) => id === ids[0]),
        "A deleted record was not named.",
      );
    },
  },
  {
    says: "events that are read while others commit name every record, also of a commit that begins first and ends last",
    async run(t) {
      for (let round = 0; round < 2; round++) {
        let { cursor } = await t.eventsSince(null, 1_000);
        const named = new Set<unknown>();
        const read = async () => {
          const page = await t.eventsSince(cursor, 1_000);
          cursor = page.cursor;
          for (const { model, id } of page.events) if (model === t.model) named.add(id);
        };
        const large = Array.from({ length: 60 }, () => t.newId());
        const small = Array.from({ length: 20 }, () => t.newId());
        let isWriting = true;
        const writes = Promise.all([
          committed(t, t.commitOf(...large.map((id) => t.create(id)))),
          ...[0, 1, 2, 3].map(async (lane) => {
            for (const id of small.filter((_, n) => n % 4 === lane)) await committed(t, t.commitOf(t.create(id)));
          }),
        ]).finally(() => (isWriting = false));
        const reading = async () => {
          while (isWriting) await read();
        };
        await Promise.all([writes, reading()]);
        await read();
        await committed(t, t.commitOf(...[...large, ...small].map((id) => t.remove(id))));
        const missing = [...large, ...small].filter((id) => !named.has(id));
        check(
          missing.length === 0,
          `${missing.length} of ${large.length + small.length} records were never named: a number that a change gets before its transaction commits is no cursor.`,
        );
      }
    },
  },
];
