import type { Edit } from "../../conformance/mutants.ts";

/** A fault in a copy of the client's sources, each of a kind that clients have had. */
export interface Mutant {
  readonly name: string;
  /** By one of these checks. */
  readonly finds: readonly string[];
  readonly edits: readonly Edit[];
  /** Only schedules with other users and views, with doubts about good tokens, with parts of a model, with unique fields, with guests, or with sequences can find it. */
  readonly needs?: "tenants" | "doubts" | "parts" | "values" | "guests" | "sequences";
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

const sdk = "packages/sdk/src";
const core = `${sdk}/core`;

export const mutants: readonly Mutant[] = [
  {
    name: "a write is sent before it is on disk",
    finds: ["what is promised is so"],
    edits: [
      {
        file: `${core}/queue/bulk.ts`,
        find: '    if (mutation.stage.phase !== "queued") continue;',
        replace: '    if (mutation.stage.phase !== "queued" && mutation.stage.phase !== "saving") continue;',
      },
      {
        file: `${core}/queue/blocked.ts`,
        find: ' || stage.phase === "rejected" || stage.phase === "saving";',
        replace: ' || stage.phase === "rejected";',
      },
    ],
  },
  {
    name: "a write is settled at its receipt",
    isQuick: true,
    finds: ["a value that was shown never goes back"],
    edits: [
      {
        file: `${core}/queue/settle.ts`,
        find: "  if (receipt.lastSyncId === undefined) return true;",
        replace: "  if (receipt.lastSyncId !== -1) return true;",
      },
    ],
  },
  {
    name: "what is settled leaves the disk before its rows are there",
    finds: ["a value that was shown never goes back"],
    edits: [
      {
        file: `${sdk}/engine/row-keeper.ts`,
        find: "    else this.#gather(range, generation);",
        replace:
          "    else this.#gather({ ...range, settled: [] }, generation);\n    void this.#storage.forget(range.settled, generation).then((kept) => kept !== 'fenced' && this.#deps.settled(range.settled, kept));",
      },
    ],
  },
  {
    name: "a place is freed without looking whose it is",
    finds: ["what was on disk has its answer", "no promise is left open"],
    edits: [
      {
        file: `${sdk}/storage/memory.ts`,
        find: "    for (const { clientTxId, seq } of places)\n      if (this.#bySeq.get(seq)?.clientTxId === clientTxId) this.#bySeq.delete(seq);",
        replace: "    for (const { seq } of places) this.#bySeq.delete(seq);",
      },
      {
        file: `${sdk}/storage/memory.ts`,
        find: "    return there?.clientTxId === clientTxId && storedPhase(there) === phase;",
        replace: "    return there !== undefined || clientTxId !== phase;",
      },
    ],
  },
  {
    name: "what is sent again has another name",
    finds: ["what is promised is so"],
    edits: [
      {
        file: `${core}/queue/bulk-response.ts`,
        find: '      back.map((m) => ({ ...m, stage: { phase: "queued" } })),',
        replace:
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it goes into the source.
          '      back.map((m) => ({ ...m, body: m.body.replaceAll(m.clientTxId, `${m.clientTxId}-again`), stage: { phase: "queued" } })),',
      },
    ],
  },
  {
    name: "what is answered with 401 is dropped",
    finds: [
      "what is promised is so",
      "what was on disk has its answer",
      "a device's writes to a record are in the log in their order",
    ],
    edits: [
      {
        file: `${core}/queue/bulk-response.ts`,
        find: "      if (!own) return;\n      requeue(draft, writes);",
        replace:
          "      if (!own) return;\n      set(draft, { queue: withoutMutations(draft.state.queue, event.names) });",
      },
      {
        file: `${core}/queue/bulk-response.ts`,
        find: 'import { withChanged } from "./queue-changes.ts";',
        replace: 'import { withChanged, withoutMutations } from "./queue-changes.ts";',
      },
    ],
  },
  {
    name: "a timeout counts as a refusal",
    finds: ["no promise is left open", "what was on disk has its answer"],
    edits: [
      {
        file: `${core}/queue/outcome.ts`,
        find: '      return { then: "again", reason: reply.reason, atLeastMs: 0, smaller: reply.timedOut };',
        replace:
          '      if (reply.timedOut) return { then: "refused", failure: knownFailure("invalid_value", reply.reason) };\n      return { then: "again", reason: reply.reason, atLeastMs: 0, smaller: false };',
      },
      {
        file: `${core}/queue/bulk-response.ts`,
        find: "    return reject(draft, [only], failure);",
        replace: "    return set(draft, { queue: withoutMutations(draft.state.queue, [only.clientTxId]) });",
      },
      {
        file: `${core}/queue/bulk-response.ts`,
        find: 'import { withChanged } from "./queue-changes.ts";',
        replace: 'import { withChanged, withoutMutations } from "./queue-changes.ts";',
      },
    ],
  },
  {
    name: "entries that were read before are applied again",
    finds: ["a value that was shown never goes back", "every tab shows what the server has in its view"],
    edits: [
      {
        file: `${core}/log/read-range.ts`,
        find: "    if (entry.syncId <= position) continue;",
        replace: "",
      },
      {
        file: `${core}/log/read-range.ts`,
        find: "    if (row && row.syncId >= entry.syncId) continue;",
        replace: "",
      },
    ],
  },
  {
    name: "a gap in the log is not noticed",
    finds: ["every tab shows what the server has in its view"],
    edits: [{ file: `${core}/log/read-range.ts`, find: '  if (range.from > position) return "gap";', replace: "" }],
  },
  {
    name: "on a new log what was confirmed on the old one is not offered",
    finds: ["everything comes to rest"],
    edits: [
      {
        file: `${core}/queue/offer-again.ts`,
        find: '    if (write.stage.phase === "confirmed" && write.stage.receipt.logId === rows.logId) continue;',
        replace: '    if (write.stage.phase === "confirmed") continue;',
      },
    ],
  },
  {
    name: "a refused write is forgotten by a reload",
    finds: ["nothing is left on disk"],
    edits: [
      {
        file: `${sdk}/engine/queue-keeper.ts`,
        find: "        const mutations = snapshot.mutations.map((m) => adapted(m, state));",
        replace:
          '        const mutations = snapshot.mutations.map((m) => adapted(m, state)).filter((m) => m.stage.phase !== "rejected");',
      },
      {
        file: `${sdk}/engine/queue-keeper.ts`,
        find: "        const mutations = snapshot.mutations.map((m) => shownAs(adapted(m, state), m));",
        replace:
          '        const mutations = snapshot.mutations.map((m) => shownAs(adapted(m, state), m)).filter((m) => m.stage.phase !== "rejected");',
      },
    ],
  },
  {
    name: "the other tabs are not told what left the queue",
    finds: ["everything comes to rest", "the tabs of a device agree about what waits"],
    edits: [
      {
        file: `${sdk}/engine/queue-keeper.ts`,
        find: '    this.#deps.post({ type: "changed", change, put, removed });\n    // This tab has applied',
        replace: "    // This tab has applied",
      },
    ],
  },
  {
    name: "queued is promised before the disk has it",
    finds: ["what is promised is so"],
    edits: [
      {
        file: `${core}/queue/writes.ts`,
        find: "  if (writes.length > 0) persist(draft, writes);",
        replace:
          '  if (writes.length > 0) persist(draft, writes);\n  for (const { clientTxId } of writes) emit(draft, { do: "notify", clientTxId, news: { kind: "queued" } });',
      },
    ],
  },
  {
    name: "no timer is set for the next attempt",
    finds: ["the queue never lies still"],
    edits: [
      {
        file: `${core}/connection/connection.ts`,
        find: "    canConnect(auth) && !sending.names && hasToSend(state) ? sending.wait?.at : undefined,",
        replace: "    undefined,",
      },
    ],
  },
  {
    name: "the next bulk does not wait for the answer to the one before",
    finds: ["no tab has two bulks under way"],
    edits: [
      {
        file: `${core}/connection/connection.ts`,
        find: '  if (sending.names || reading.resync === "suspect" || !isDue(sending.wait, draft.now)) return;',
        replace: '  if (reading.resync === "suspect" || !isDue(sending.wait, draft.now)) return;',
      },
    ],
  },
  {
    name: "what a person decided takes a place of its own",
    finds: ["nothing is left on disk", "a device's writes to a record are in the log in their order"],
    edits: [
      {
        file: `${core}/queue/decided.ts`,
        find: "  const fresh = { ...next, owner, clientTxId: newTxId, attempts: 0,",
        replace: "  const fresh = { ...next, owner, clientTxId: newTxId, seq: undefined, attempts: 0,",
      },
    ],
  },
  {
    name: "what is kept in memory only is said to be queued",
    finds: ["what is promised is so"],
    edits: [
      {
        file: `${core}/queue/reconcile/take-own.ts`,
        find: "  storageTrouble === undefined\n    ?",
        replace: '  storageTrouble !== "never"\n    ?',
      },
    ],
  },
  {
    name: "what lies behind a write that waits for a person overtakes it",
    finds: ["a device's writes to a record are in the log in their order"],
    edits: [
      {
        file: `${core}/queue/blocked.ts`,
        find: 'const isStopped = stage.phase === "conflicted" || stage.phase === "rejected" || ',
        replace: "const isStopped = ",
      },
    ],
  },
  {
    name: "a change that no tab announced is not looked for",
    finds: ["a device's writes to a record are in the log in their order", "everything comes to rest"],
    edits: [{ file: `${core}/step.ts`, find: '    reconcileQueue(draft, { type: "due" });\n', replace: "" }],
  },
  {
    name: "changes of the queue are taken in the order in which they are heard",
    finds: ["everything comes to rest", "what was on disk has its answer", "no promise is left open"],
    edits: [
      {
        file: `${core}/queue/reconcile/take-changes.ts`,
        find: "    const next = outOfOrder.find(({ change }) => change === changes + 1);",
        replace: "    const next = outOfOrder[0];",
      },
    ],
  },
  {
    name: "a decision overwrites what another tab has put there meanwhile",
    finds: [
      "what was on disk has its answer",
      "no promise is left open",
      "one write has one effect",
      "what is promised is so",
    ],
    edits: [
      {
        file: `${sdk}/storage/memory.ts`,
        find: '      if (!expected.every((standing) => this.#holds(standing))) return "refused";\n',
        replace: "",
      },
    ],
  },
  {
    name: "what left the queue unheard is never asked for",
    finds: ["no promise is left open"],
    edits: [
      {
        file: `${core}/queue/reconcile/take-snapshot.ts`,
        find: '  emit(r, { do: "lookUpOutcomes" });\n',
        replace: "",
      },
    ],
  },
  {
    name: "a token that the app gives again is never tried",
    needs: "doubts",
    finds: ["everything comes to rest"],
    edits: [
      {
        file: `${core}/connection/auth.ts`,
        find: "if (changed || (auth.attempt > 0 && !isAnothers(draft.state)))",
        replace: "if (changed)",
      },
    ],
  },
  {
    name: "the owner of a token is not compared with the owner of the store",
    needs: "tenants",
    isQuick: true,
    finds: ["no write reaches another owner", "nothing of a store is shown to another owner"],
    edits: [
      {
        file: `${core}/connection/same-owner.ts`,
        find: "  a === b || (",
        replace: "  a !== '' || (",
      },
    ],
  },
  {
    name: "tabs of two owners share a channel and a lock",
    needs: "guests",
    finds: ["everything comes to rest", "the queue never lies still"],
    edits: [
      {
        file: `${sdk}/runtime.ts`,
        find: "tabs.become(ports.tabs(found.name));",
        replace: "tabs.become(ports.tabs(store));",
      },
    ],
  },
  {
    name: "what is in a store is shown to another owner",
    needs: "tenants",
    finds: ["nothing of a store is shown to another owner"],
    edits: [
      {
        file: `${core}/select.ts`,
        find: "  if (!state.withheld) return state;",
        replace: "  if (state) return state;",
      },
    ],
  },
  {
    name: "a changed view is not noticed",
    needs: "tenants",
    finds: ["every tab shows what the server has in its view"],
    edits: [
      {
        file: `${core}/log/reading.ts`,
        find: "  const isOtherView = rows.viewHash !== viewHash;",
        replace: "  const isOtherView = rows.viewHash === undefined;",
      },
    ],
  },
  {
    name: "what the server says of a token is taken for the one that came after it",
    needs: "tenants",
    finds: ["no write reaches another owner"],
    edits: [
      {
        file: `${core}/step.ts`,
        find: "      if (event.changed) dropOldToken(draft);",
        replace: "",
      },
    ],
  },
  {
    name: "an archived record that comes into a part by an update is shown as a live one",
    needs: "parts",
    finds: ["every tab shows what the server has in its view"],
    edits: [{ file: `${core}/log/read-range.ts`, find: "entry.archivedAt ?? before", replace: "before" }],
  },
  {
    name: "a tab does not notice that another one follows less than it has loaded",
    needs: "parts",
    finds: ["every tab shows what the server has in its view"],
    edits: [
      {
        file: `${sdk}/api/loading/loads.ts`,
        find: "      seen = scope;\n      this.#want();",
        replace: "      seen = scope;",
      },
    ],
  },
  {
    name: "rows that were read for other parts are taken for those of the parts that are followed",
    needs: "parts",
    finds: ["every tab shows what the server has in its view"],
    edits: [
      {
        file: `${core}/log/snapshot.ts`,
        find: "  if (scope !== scopeKey(draft.state.scope)) return;",
        replace: "",
      },
    ],
  },
  {
    name: "that the network is there, told while a line is live, stops the queue",
    finds: ["the queue never lies still"],
    edits: [
      {
        file: `${core}/step.ts`,
        find: "      return event.up ? retryNow(draft) : onConnectionLost(draft);",
        replace: "      onConnectionLost(draft);\n      return event.up ? retryNow(draft) : undefined;",
      },
    ],
  },
  {
    name: "a commit may take a value that another record has",
    needs: "values",
    finds: ["unique values and checked references hold"],
    edits: [
      {
        file: `${sdk}/testing/model-values.ts`,
        find: "        if (together.some((one) => isWritten(entry, one)) && ",
        replace: '        if (entry.verb === "created" && ',
      },
    ],
  },
  {
    name: "a delete does not go on to what references the records that it takes with it",
    needs: "values",
    finds: ["the log is what one commit after the other makes of it", "unique values and checked references hold"],
    edits: [
      {
        file: `${sdk}/testing/model-server.ts`,
        find: "        entries.push(entry);\n        pending.set(key, rowOf(entry, before));\n      }\n    }\n  }",
        replace:
          "        entries.push(entry);\n        followed.add(key);\n        pending.set(key, rowOf(entry, before));\n      }\n    }\n  }",
      },
    ],
  },
  {
    name: "the create of a record is sent although a person has taken theirs",
    needs: "sequences",
    finds: ["what is promised is so"],
    edits: [
      {
        file: `${core}/conflicts/in-view.ts`,
        find: "  if (conflict.madeUpTo !== undefined && seq <= conflict.madeUpTo) return [];\n",
        replace: "",
      },
    ],
  },
];
