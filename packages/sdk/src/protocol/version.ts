/** The sub-protocol that a client names when it opens the stream. */
export const STREAM_PROTOCOL = "holdfast.v1";

/** Version of the published description of the HTTP interface (`info.version` of `/openapi.json`). */
export const INTERFACE_VERSION = "0.16.1";

/**
 * Counts the changes of what clients and servers send each other. It is never sent itself: within `/v1` and
 * `holdfast.v1` a change only adds, and both sides ignore what they do not know. It is for people who ask since when a
 * server or a client knows something.
 */
export const WIRE_VERSION = 25;

/**
 * One line for each version, the newest last. If an endpoint, a body, a query, an answer, a frame, a webhook or an error
 * code changes, raise WIRE_VERSION and add a line: the date, the change in one sentence, and the hash that the test in
 * `scripts/wire` names. A line that is on the main branch stays as it is.
 */
export const wireHistory: readonly { version: number; date: string; hash: string; change: string }[] = [
  { version: 1, date: "2026-11-24", hash: "ef12f0d746011fb7", change: "The wire of release 0.1.0." },
  {
    version: 2,
    date: "2026-11-25",
    hash: "800ddfdb21937214",
    change:
      "A model may name the table that has its rows; a write that such a table does not take is `source_refused`.",
  },
  {
    version: 3,
    date: "2026-11-25",
    hash: "56912ef44471d6d2",
    change: "An error may have `source`; `client_id_required` and `source_changed` are new.",
  },
  {
    version: 4,
    date: "2026-11-25",
    hash: "993c6e808ca57106",
    change: "Datasources can be registered, read, deleted, and given other credentials.",
  },
  {
    version: 5,
    date: "2026-11-25",
    hash: "f4b0dcfc98681e7f",
    change:
      "A datasource may be an endpoint, and a model may name it as its `source`; `source_unavailable` and `datasource_has_models` are new.",
  },
  {
    version: 6,
    date: "2026-11-26",
    hash: "4f9b8559f3e1bebe",
    change: "A field may have rules; `rule_broken` is new, and an error may have `rule`.",
  },
  {
    version: 7,
    date: "2026-11-26",
    hash: "27ccc2c650a40c83",
    change: "A field that references may have `inverse`.",
  },
  {
    version: 8,
    date: "2026-11-26",
    hash: "8832f838d0939855",
    change: "An update may have `changes`; a string field may have `merge`, an array `items`.",
  },
  {
    version: 9,
    date: "2026-11-26",
    hash: "5189d7ef029766a8",
    change:
      "Stream, log and snapshot take `where`: conditions on the records of a model. An update of an archived record has `archivedAt`.",
  },
  {
    version: 10,
    date: "2026-11-26",
    hash: "eb49c1d166965868",
    change:
      "A record that is read, and a line of a snapshot, say who created and changed it, and when; `pattern`, `transitions` and `writableBy` are new in a schema.",
  },
  {
    version: 11,
    date: "2026-11-26",
    hash: "038b3519853c2af0",
    change: "A list may have `search`; a string field may have the index `text`.",
  },
  {
    version: 12,
    date: "2026-11-26",
    hash: "337edafeeafd57ed",
    change:
      "A field may be `unique` and have `onDelete`; `not_unique`, `invalid_reference`, `still_referenced` and `too_many_dependents` are new, and an error may have `fields` and `records`.",
  },
  {
    version: 13,
    date: "2026-11-27",
    hash: "3386da4c8ef3e919",
    change:
      "A notification of a held write may have `currentValuesOmitted` in place of `currentValues`; `answer_too_large` and `too_many_answers` are new.",
  },
  {
    version: 14,
    date: "2026-11-27",
    hash: "cc800a5660e35d46",
    change:
      "The header `Holdfast-Schema`, and `schema` in `hello`, say which schema a client has; `schema_too_old` is new.",
  },
  {
    version: 15,
    date: "2026-11-27",
    hash: "64cc3e1cc32cd344",
    change: "A webhook's delivery always has `logId`.",
  },
  {
    version: 16,
    date: "2026-11-28",
    hash: "534686870ff68c23",
    change: "`POST /v1/models/:model/query` lists records by a query; `order_by` of a list may have several keys.",
  },
  {
    version: 17,
    date: "2026-11-28",
    hash: "4d318f3ffae018ca",
    change:
      "The table of a model may name the column that says since when a record is archived (`archived`); an archive that a table dates otherwise has `archivedAt`.",
  },
  {
    version: 18,
    date: "2026-11-28",
    hash: "7ae1037ad7c88e87",
    change:
      "A query may have `count` and `countBy`, which add `count`, `counts` and `has_more_counts` to its answer. Lists of records take `ending_before`, and answer `has_previous` and `previous_cursor`.",
  },
  {
    version: 19,
    date: "2026-11-29",
    hash: "3a482d43ea8cf3c7",
    change:
      "An entry, and a webhook's event, of a record that cannot be read has `data: null`, and `unreadable` says why. Lists of records and the last line of a snapshot name records that are too large to read (`unreadable`); `GET` of one is 413. `welcome`, the first line of a snapshot, and pages of the log say how large a record can be (`recordBytes`).",
  },
  {
    version: 20,
    date: "2026-11-29",
    hash: "d4f4ece9258d29dc",
    change:
      "Commits, queries and claims can be sent on the stream: a frame `call`, answered by `answer`. `welcome` says how many may wait for their answers (`calls`).",
  },
  {
    version: 21,
    date: "2026-11-29",
    hash: "eefb9d9fa11b12a8",
    change:
      "A stream can follow parts with ids: `parts` in `hello` and `welcome`, and the frames `subscribe`, `unsubscribe`, `subscribed`, `refused` and `partEntries`.",
  },
  {
    version: 22,
    date: "2026-11-29",
    hash: "9d6abc3ad167194f",
    change: "A frame `unsubscribed` says from where on a stream has nothing of a part any more.",
  },
  {
    version: 23,
    date: "2026-11-30",
    hash: "93de3d5f53634686",
    change:
      "`welcome`, pages of the log, the first line of a snapshot, and `GET /v1/identity` say the server's time (`serverTime`).",
  },
  {
    version: 24,
    date: "2026-11-30",
    hash: "9dd27c34a2977f40",
    change: "A `hello` with `more` names the rest of its parts in `subscribe` frames after `welcome`.",
  },
  {
    version: 25,
    date: "2026-11-30",
    hash: "49cb41620d27b84d",
    change:
      "Commits, claims, log entries and webhooks may have `reason`, `run`, `onBehalfOf` and `meta`; tokens have `onBehalfOf` and a `budget`. Commits may have `propose` or `decide`, receipts can be `proposed`, and streams have `proposals` frames; `/v1/revert` is new.",
  },
];
