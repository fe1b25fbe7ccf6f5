// Made from the docstrings of packages/sdk/src/protocol by `npm run docs:write`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Decide": {
    "": "Decides a proposal.",
    "proposal": "Its id.",
    "how": "`accept`: the commit writes what it takes of the proposal: operations on the same records with some or all of their fields, in any order; their values may be corrected. `reject`: the commit writes nothing.",
    "reason": "A word to the author."
  },
  "ProposedOperation": {
    "": "One operation of a proposal.",
    "model": "As declared.",
    "data": "The values that it sets.",
    "changes": "The changes that it makes, as those of a commit.",
    "base": "Of an update: the values of the fields that it changes, as they were when it was proposed."
  },
  "Proposal": {
    "": "A write that its author asks for. It stands beside the log until it is decided.",
    "author": "`<participantKind>:<participantId>` of the participant who asks.",
    "clientTxId": "Its name, by its author.",
    "readAt": "The head of the log when it was proposed: what others changed since is asked when it is accepted.",
    "logId": "The log that positions count in.",
    "expiresAt": "It can be decided until then.",
    "decision": "How it ended. Null: it is open, or has expired.",
    "decision.by": "`<participantKind>:<participantId>`",
    "decision.reason": "A word to the author.",
    "decision.take": "What was accepted. Absent: all of it.",
    "decision.take.operation": "Its place in `operations`, from 0.",
    "decision.take.fields": "Of a create or an update: only these fields. Absent: all.",
    "decision.edited": "Whether the reviewer has corrected values.",
    "decision.syncId": "Of an accepted proposal: the position of its last change in the log."
  },
  "AcceptBody": {
    "": "Body of an acceptance; optional.",
    "take": "Absent: all of it. What is not taken is dropped.",
    "take.operation": "Its place in `operations`, from 0.",
    "take.fields": "Of a create or an update: only these fields. Absent: all.",
    "onStale": "What happens if others changed the same fields since it was proposed. Default `notify`: nothing is written, and the receipt says what they wrote.",
    "readAt": "A later position than the proposal's, whose changes the reviewer has seen.",
    "reason": "A word to the author.",
    "idempotencyKey": "The same as the `Idempotency-Key` header."
  },
  "EndProposalBody": {
    "": "Body of a rejection or a withdrawal; optional."
  },
  "BranchName": {
    "": "The name of a branch: proposals with the same name belong together."
  },
  "Propose": {
    "": "Makes a write a proposal, which changes nothing until it is accepted.",
    "branch": "Default: it belongs to none.",
    "ttlSeconds": "Seconds until the proposal expires. Default 30 days."
  },
  "RevertBody": {
    "": "Body of a revert: which changes to take back. Exactly one of `run`, `clientTxId` and `entries`.",
    "run": "All changes of this run.",
    "clientTxId": "All changes of this commit, by the name that its author gave it.",
    "entries": "All changes at these positions of the log, the first and the last.",
    "actor": "Only those of this participant, `<kind>:<id>`. With `clientTxId`: whose commit it is; default: the caller.",
    "dry": "Says what it would do, and changes nothing.",
    "created": "What becomes of records that the changes created. Default `delete`.",
    "overwrite": "Takes back too what others have changed since. Default: those fields stay, and are listed.",
    "reason": "Why, for the entries that it writes."
  },
  "KeptRecord": {
    "": "A record that was not taken back, or not as a whole.",
    "model": "As declared.",
    "why": "`changed`: others have changed it since. `unknown`: the log does not reach back to what it was, or has too much since. `erased`: its values were erased. `refused`: the write was refused.",
    "fields": "Of `changed`: by field, the value before, the one that was set, and the one at present.",
    "code": "Of `refused`: one of the codes of errors, and its sentence."
  },
  "Reverted": {
    "": "What a revert has done, or would do.",
    "run": "The run of its own changes: it can be reverted too.",
    "entries": "Changes that it was asked to take back, as far as the caller may read them.",
    "records": "Records that they are on.",
    "reverted": "Records that it has changed; of a dry run, would change.",
    "proposed": "Records whose changes are proposals now, because the token may only propose.",
    "would": "Of a dry run: by record, up to 1 000, what it would write.",
    "kept": "Records that others have changed since, or that cannot be taken back; up to 1 000.",
    "lastSyncId": "The position of its last change.",
    "has_more": "Its time was over: the same request goes on."
  },
  "Claim": {
    "": "A lease on a record or one of its fields, or a place in its claim queue.",
    "actor": "Participant id of the holder or waiter.",
    "action": "What the holder intends to do.",
    "field": "Absent: the claim is on the whole record.",
    "fence": "Increases with every grant on the record; absent before the first grant.",
    "syncId": "The head of the log at the grant. Read up to there before you edit: then you have seen all that the holders before you wrote. Absent as long as it was never granted.",
    "position": "Of a waiting claim: how many are before it; 0 is next.",
    "clientId": "The device that holds it or waits; shown only to its own participant, in the list of its claims.",
    "expiresAt": "Of a held claim: when the lease ends, by the database's clock.",
    "expiresInMs": "Of a held claim: milliseconds from this response until the lease ends.",
    "target": "`model` and `resource` are the same: the model, as declared."
  },
  "ClaimBody": {
    "": "Body of a claim on the record in the path; optional.",
    "field": "Claims one field only. Claims of different fields do not conflict.",
    "action": "What the caller intends to do; default `edit`.",
    "ttl": "`30s`, `500ms`, `5m`, `1h`, or milliseconds: one second to one hour; default 60 s.",
    "queue": "Whether to wait in the queue if someone else holds it; default false: the request fails.",
    "preempt": "Takes the claim from an agent at once; for people and systems with `claim.preempt`.",
    "description": "A description for people.",
    "meta": "The caller's own notes, up to 4 KiB of JSON.",
    "clientId": "The device that claims. It becomes the holder: another `clientId` of the same participant is another holder."
  },
  "ClaimTargetBody": {
    "": "The same with the record in the body.",
    "action": "What the caller intends to do; default `edit`.",
    "ttl": "`30s`, `500ms`, `5m`, `1h`, or milliseconds: one second to one hour; default 60 s.",
    "queue": "Whether to wait in the queue if someone else holds it; default false: the request fails.",
    "preempt": "Takes the claim from an agent at once; for people and systems with `claim.preempt`.",
    "description": "A description for people.",
    "meta": "The caller's own notes, up to 4 KiB of JSON.",
    "clientId": "The device that claims. It becomes the holder: another `clientId` of the same participant is another holder."
  },
  "ClaimRenewBody": {
    "ttl": "As in a claim; default: the value of the claim."
  },
  "ClaimOrderBody": {
    "": "Waiting claims in their new order; others stay behind them, in their order.",
    "order.heldBy": "Ignored: a caller cannot choose the holder.",
    "heldBy": "Ignored: a caller cannot choose the holder."
  },
  "ClaimList": {
    "": "All live claims of one record: the holders, then the queue.",
    "data": "Holders, then the queue.",
    "claims": "The holders.",
    "queue": "The waiting claims, the next one first."
  },
  "ClaimRelease": {
    "released": "Number of claims that this ended."
  },
  "CommitBody": {
    "": "Body of `POST /v1/commits`: operations that are applied together or not at all.",
    "operations": "The operations, in this order.",
    "reads": "What the commit depends on. A changed premise applies its own policy to the whole commit.",
    "clientTxId": "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    "clientId": "One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself.",
    "logId": "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    "idempotencyKey": "The same as the `Idempotency-Key` header; both and different is refused.",
    "propose": "Asks for the write instead of making it. A token that may only propose always asks.",
    "decide": "The commit decides a proposal."
  },
  "BulkBody": {
    "": "Body of `POST /v1/commits/bulk`: commits in order, each atomic and checked by itself."
  },
  "CommitReceipt": {
    "": "The response to a write, and to every retry with the same key.",
    "clientTxId": "The name of the commit: the caller's, else the idempotency key, else a generated one.",
    "serverTxId": "The server's name for it.",
    "success": "Whether it was written.",
    "status": "`rejected` with status 200: held by `onStale: \"notify\"`, nothing was written. `proposed`: it is a proposal, and nothing was written yet.",
    "proposal": "The id of the proposal that it became.",
    "lastSyncId": "The last entry written, else the head of the log.",
    "logId": "The log that positions count in.",
    "ops": "Requested operations.",
    "missingIds": "Ids of operations that matched no record; absent if all matched.",
    "notifications": "Why the write was held: one notification for each record or premise that changed.",
    "id": "Favorite only: the id generated for a create without one; of several, the first.",
    "error": "Why it was rejected.",
    "error.code": "One of the codes of `/docs/errors`.",
    "error.field": "Where in the request the reason is."
  },
  "BulkReply": {
    "": "Response to a bulk: one item per commit, in order, each with the status that it would have alone.",
    "data.httpStatus": "The status that this commit would have alone."
  },
  "FieldChange": {
    "": "A change of one field, applied to the value that is there when the write happens.",
    "increment": "For a number or integer: how much is added. A value that is absent or null counts as 0.",
    "add": "For an array: items that it shall have, each once; those that it lacks go to its end.",
    "remove": "For an array: items that it shall not have."
  },
  "FieldChanges": {
    "": "Field name → its change, of an update. Changes never conflict with those of others."
  },
  "Operation": {
    "": "One item of a commit. `data` is the whole entity on create and the changed fields on update.",
    "action": "`type` with the same words in capitals means the same.",
    "model": "A declared model, in any case.",
    "id": "Chosen by the client, also on create. The server generates one only for a `favorite` without id.",
    "data": "The whole record on create, the changed fields on update; other actions have none. `input` means the same.",
    "changes": "Fields to change by what is there: see FieldChange. A field cannot be in `data` too.",
    "readAt": "The log position that the operation is based on; absent: it is not checked.",
    "claim": "Id of the claim that the operation is bound to.",
    "fenceToken": "The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.",
    "idempotencyKey": "The operation's own key, separate from the commit's: a repeated operation is confirmed and changes nothing.",
    "transactionId": "The caller's name for what the operation belongs to; it stands in the log entry."
  },
  "Read": {
    "": "A premise: \"this row, these fields, or this group has not moved since `readAt`\".",
    "model": "With `id`: the premise is on that record.",
    "group": "The premise is on everything in this sync group, `<kind>:<id>`.",
    "fields": "Only these fields; absent: the record as a whole."
  },
  "OnStale": {
    "": "What happens to a write whose premise has changed. The aliases `force`, `flag`, `merge` are translated where bytes come in."
  },
  "StaleNotification": {
    "": "Why a write was held: what changed, who changed it, and the current values.",
    "writtenBy": "`<participantKind>:<participantId>` of the newest conflicting entry.",
    "group": "The sync group of a group premise; absent otherwise.",
    "readAt": "What the write was based on.",
    "observedSyncId": "Position of the newest entry that conflicts.",
    "conflictingFields": "The fields that both changed.",
    "currentValues": "The current values of those fields; null if absent. Not there with `currentValuesOmitted`.",
    "currentValuesOmitted": "With these values, those of the receipt would have more than 1 MiB together: read the record."
  },
  "Datasource": {
    "": "The database that stores a tenant's rows. Keys that do not apply to its kind are omitted; it never contains secrets.",
    "created": "Unix seconds, as all times here.",
    "connection": "`hosted`: in the service's own database. `direct`: in a Postgres that the tenant's owner has registered. `endpoint`: behind a service of the owner's, for the models that name it as their `source`.",
    "status": "`unverified`: an endpoint has not answered yet. `moving`: the tenant's data is on its way. `broken`: it cannot be reached; see `last_error`. `rejected`: an endpoint does not accept the signature.",
    "key_last4": "The end of the key that signs calls to an endpoint.",
    "cursor": "Up to where the endpoint's events were read.",
    "event_lag": "Seconds since the endpoint's events were last read to their end.",
    "retry_count": "Attempts that failed since the last one that succeeded."
  },
  "DatasourceBody": {
    "": "The keys that belong to the kind are required: `connectionString`, or `endpoint` and `signingKey`.",
    "schema": "Where the caller's own tables are. Default: `public`."
  },
  "DatasourceKey": {
    "": "Other credentials for the same database, or another key for the same endpoint."
  },
  "SourceRecord": {
    "": "A record as the service has it.",
    "data": "Field name → value, without the id."
  },
  "SourceOperation": {
    "action": "A `create` has all fields in `data`, an `update` those that change, a `delete` none.",
    "data": "Field name → value, without the id."
  },
  "SourceCommit": {
    "": "Changes that happen together or not at all.",
    "clientTxId": "Unique in the datasource. The same commit may come again, also at the same time and long after: then it must not happen again, and has the same result.",
    "writtenBy": "Who wrote it: `user:ann`, `agent:writer`."
  },
  "SourceResult": {
    "": "What became of a commit.",
    "records": "The records of the commit as they are now, if the service made something else of them.",
    "records.data": "Field name → value, without the id.",
    "message": "For people: it comes to the author of the write.",
    "code": "For programs.",
    "operation": "Index of the operation that is at fault, and the field."
  },
  "RequiredCapability": {
    "": "What the caller would have needed. The last four keys are only there for a denied update of a favorite.",
    "can": "`read`, `create`, `update`, `delete` or `propose`.",
    "syncGroup": "A group in which the request would have been allowed, if the caller may see one.",
    "scope": "`<model>.<can>`: the operation that a new token needs.",
    "issuer": "The organization whose secret key creates such a token."
  },
  "SourceRefusal": {
    "": "Why a table or an endpoint did not take a write, in their own words.",
    "sqlstate": "Of a table. Five characters, as Postgres documents them: `23505` for a value that is taken, `P0001` for a trigger's exception.",
    "code": "Of an endpoint: its own code."
  },
  "ErrorEnvelope": {
    "": "Every error body over HTTP, and every error frame on the stream.",
    "type": "Coarse class of the error.",
    "message": "For people; can change.",
    "code": "The code, for programs; it is stable.",
    "param": "Where in the request the error is.",
    "doc_url": "The documentation of this code.",
    "request_id": "The same as the answer's `x-request-id`.",
    "blockedBy": "Bulk only: the index of the failed commit that this one depends on.",
    "claims": "`claim_conflict` and `claim_lost`: who holds the record now.",
    "problems": "`schema_incompatible` only: the problems of the change.",
    "rule": "`rule_broken` only: the option of the field that the value breaks, such as `maxLength`.",
    "fields": "`not_unique` only: the fields whose values count together.",
    "records": "`not_unique`: the record that has the value. `still_referenced`: some of the records that reference it. Only records that the caller may read.",
    "source": "`source_refused` only: what the database that has the rows says."
  },
  "ListEnvelope": {
    "": "The envelope of every list. `next_cursor` is null on the last page.",
    "model": "On lists of records: the model, as declared.",
    "has_more": "Whether there is more beyond this page.",
    "next_cursor": "Send as `starting_after` (the log: as `after`) for the next page.",
    "has_previous": "Lists of records only: whether there were records before this page when its cursor was given.",
    "previous_cursor": "Send as `ending_before` for the page before. Null on the first page.",
    "stamp": "Head of the log before the page was read.",
    "logId": "The log that positions count in.",
    "rowsVersion": "The log only: counts the pushes of a schema that changed records without an entry.",
    "owner": "The log only: whose token it was, as `<organization>/<live|test>/<kind>/<participant>`.",
    "viewHash": "The log only: a fingerprint of all that the token may read.",
    "models": "The log only: the requested models that are declared and that the token may read.",
    "recordBytes": "The log only: bytes of JSON that a record can have on this server after a write.",
    "serverTime": "The log only: the server's time, by which a client knows how far its device's clock is off.",
    "archived": "Id → time of archiving, of those on the page that are archived.",
    "unreadable": "Lists of records only: those that the page leaves out, because they are larger than can be read.",
    "count": "A query with `count` only: how many records there are on all pages.",
    "counts": "A query with `countBy` only: values, or items of an array, that most records have, and how many have them.",
    "has_more_counts": "Whether there are more values than in `counts`.",
    "trimmedTo": "History only: log entries up to this position are no longer kept."
  },
  "QueryBody": {
    "": "A list of records, in the language of a client's queries.",
    "where": "Conditions that all hold: by field a value, or `not`, `in`, `notIn`, `gt`, `gte`, `lt`, `lte`, `contains`, `startsWith` and `search`; `and` and `or` are lists of conditions.",
    "search": "Words, each of which occurs in one of the fields with `\"index\": \"text\"`, in upper or lower case.",
    "orderBy": "What to sort by, default `id`. A later key counts where those before are equal.",
    "orderBy.field": "A field, `id`, `$createdAt`, `$createdBy`, `$updatedAt`, `$updatedBy`, `$archivedAt` or `$syncId`.",
    "orderBy.by": "Of an enum: in the order in which the schema lists its values.",
    "order": "Of the keys without a direction of their own; default `asc`.",
    "limit": "1 to 100, default 20. With `count` or `countBy`, 0 gives no records.",
    "archived": "Archived records: default `without`.",
    "count": "Adds `count` to the answer: how many records there are on all pages.",
    "countBy": "A field, or what `orderBy` may have. Adds `counts` to the answer: how many of them have which value, or item of an array.",
    "starting_after": "`next_cursor` of the previous page.",
    "ending_before": "`previous_cursor` of the next page: the records right before it, in the same order."
  },
  "FollowedConditions": {
    "": "By field (or `id`): a value that it must have (null: it has none), or operators. All must hold."
  },
  "FollowedRecords": {
    "": "By model: only records that meet these conditions, or those of one of several alternatives (none, if there are none). A model that is not named is not limited."
  },
  "LogEntry": {
    "": "One log entry: one operation that changed something.",
    "syncId": "Position in the log: 1, 2, 3 … without gaps, in commit order.",
    "model": "The model, as declared.",
    "data": "The row after; null when the record was deleted or erased by this entry, its values were erased since, or cannot be read.",
    "erased": "The values were erased since: `data` is null, and an entry with the verb `erased` comes later.",
    "unreadable": "Why the record cannot be read, in a sentence: `data` is null, and the record has no values until a later entry.",
    "changedFields": "The fields that an update wrote; null on every other verb, and where `unreadable` is given.",
    "clientTxId": "The writer's name for the commit.",
    "clientId": "The writer's device, when it says so.",
    "actor": "Participant id of the writer.",
    "participantKind": "Whether a person, an agent or a system wrote it.",
    "claim": "The claim that the write was bound to.",
    "createdAt": "When it was committed; never before the previous entry.",
    "archivedAt": "Since when the record is archived: on an update of an archived one, and where a table has another time than `createdAt`.",
    "record": "Who created the record, `<participantKind>:<participantId>`, and when: of a change that may bring it to a reader of groups or conditions who has not seen it.",
    "left": "The record left the groups that the reader hears: `verb` is `deleted`, the record still exists elsewhere."
  },
  "CreateBody": {
    "": "`id` is required, except for `favorite`, where the server can generate it.",
    "data": "The record's fields, as the pushed schema declares them.",
    "claim": "Id of the claim that the write is bound to. `intent` means the same.",
    "onStale": "What happens if the record has changed since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    "readAt": "The log position that the write is based on; absent: it is not checked.",
    "logId": "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    "idempotencyKey": "The same as the `Idempotency-Key` header; both and different is refused.",
    "fenceToken": "The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.",
    "clientTxId": "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    "clientId": "One per device and signed-in user: a client does not conflict with itself.",
    "propose": "Asks for the write instead of making it. A token that may only propose always asks."
  },
  "UpdateBody": {
    "": "Needs `data` or `changes`; only `favorite` can omit both. If `id` is sent, it must equal the id in the path.",
    "data": "The record's fields, as the pushed schema declares them.",
    "claim": "Id of the claim that the write is bound to. `intent` means the same.",
    "onStale": "What happens if the record has changed since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    "readAt": "The log position that the write is based on; absent: it is not checked.",
    "logId": "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    "idempotencyKey": "The same as the `Idempotency-Key` header; both and different is refused.",
    "fenceToken": "The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.",
    "clientTxId": "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    "clientId": "One per device and signed-in user: a client does not conflict with itself.",
    "propose": "Asks for the write instead of making it. A token that may only propose always asks."
  },
  "BareWriteBody": {
    "": "Body of delete, archive and unarchive; optional.",
    "claim": "Id of the claim that the write is bound to. `intent` means the same.",
    "onStale": "What happens if the record has changed since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    "readAt": "The log position that the write is based on; absent: it is not checked.",
    "logId": "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    "idempotencyKey": "The same as the `Idempotency-Key` header; both and different is refused.",
    "fenceToken": "The fence that the caller's claim was granted with. If there has been another grant since, the write is refused.",
    "clientTxId": "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    "clientId": "One per device and signed-in user: a client does not conflict with itself.",
    "propose": "Asks for the write instead of making it. A token that may only propose always asks."
  },
  "ReadEnvelope": {
    "": "One record. `stamp` is the head of the log before the record was read.",
    "data": "The record's fields, as the pushed schema declares them.",
    "stamp": "Head of the log before the record was read.",
    "claims": "The claims that are held on it now.",
    "syncId": "Position of the record's last entry: send it as `readAt` of a write.",
    "createdBy": "`<participantKind>:<participantId>` of the participant that created it.",
    "updatedBy": "`<participantKind>:<participantId>` of the last writer.",
    "archivedAt": "Null: it is not archived."
  },
  "SnapshotStart": {
    "": "First line of a snapshot page: the head of the log before the first page was read.",
    "rowsVersion": "Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew.",
    "owner": "Whose token it was: `<organization>/<live|test>/<kind>/<participant>`.",
    "viewHash": "A fingerprint of all that the token may read. Rows that were read under another one are read again.",
    "models": "Those of the models asked for that are declared and that the token may read, as declared.",
    "recordBytes": "Bytes of JSON that a record can have on this server after a write.",
    "serverTime": "The server's time, by which a client knows how far its device's clock is off."
  },
  "SnapshotLine": {
    "": "One record; it may be newer than `stamp`, never older.",
    "createdBy": "`<participantKind>:<participantId>` of the participant that created it.",
    "updatedAt": "Absent: nothing has changed since it was created.",
    "updatedBy": "The last writer. Absent: nothing has changed since it was created."
  },
  "SnapshotEnd": {
    "": "Last line of a page. A page without it is incomplete.",
    "unreadable": "Records that the page leaves out, because they are larger than can be read: up to 100 of a page."
  },
  "UnreadableRecord": {
    "": "A record that a page leaves out: its row is larger than can be read. It counts as a record of the page.",
    "message": "How large it is, and what to do."
  },
  "SecretKeyBody": {
    "livemode": "True: a key of the live tenant; false: of the test tenant."
  },
  "SecretKey": {
    "": "`token` is only in the response that creates it."
  },
  "Usage": {
    "": "A count for one UTC day; days without events are omitted.",
    "day": "`2026-01-31`",
    "event_name": "`commits`, `operations`, `reads`, `webhook_deliveries`; there may be more in future."
  },
  "Field": {
    "": "One declared field. `default` fills an absent value on create; `nullable` admits null.",
    "type": "The type of its values; they are never coerced.",
    "required": "A create must have a value, unless there is a default.",
    "nullable": "Whether it can be null.",
    "default": "The value that a create gets if it has none.",
    "index": "Whether lists that filter or sort by it get an index; for a string, `\"text\"`: lists that search it.",
    "values": "For an enum: its values.",
    "references": "For a string, or an array of strings: the model whose ids it contains.",
    "onDelete": "For a field that references: the server checks that the records exist, and does this with a record that has the id of one that is deleted. Without it nothing is checked.",
    "unique": "No two records have the same value: `true` for this field alone, or the names of the fields whose values count together, this field's among them. Records without one of the values never collide.",
    "inverse": "For a field that references: the name under which queries of that model include the records that reference it.",
    "items": "For an array: what each of its items is.",
    "minLength": "For a string: the fewest characters; for an array: the fewest items.",
    "maxLength": "For a string: the most characters, as Unicode counts them; for an array: the most items.",
    "min": "For a number or integer: the least value.",
    "max": "For a number or integer: the greatest value.",
    "readonlyAfterCreate": "A create can set it, an update cannot.",
    "pattern": "For a string: a regular expression that the whole text matches, without lookaround and references.",
    "transitions": "For an enum: value → the values that an update can change it to. One that is not listed stays.",
    "writableBy": "Who can change it: `$createdBy`, `group:<a group of the token>`. A secret key always can.",
    "merge": "For a string: clients merge it word by word when two people have changed it."
  },
  "GroupRule": {
    "": "A record is filed under `<kind>:<value of the field \"from\">`; `from` may be `id`."
  },
  "ModelTable": {
    "": "A table of the caller's own, in the server's database, whose rows are the records of a model.",
    "name": "The table as SQL names it: `public.slides`.",
    "key": "The column whose value is the record's id.",
    "columns": "Field name → column, for fields whose column is not the field's name in snake_case.",
    "archived": "The column that says since when a record is archived, and is no field. Without it, only Holdfast knows."
  },
  "Model": {
    "fields": "Field name → its declaration. `id` need not be declared.",
    "groups": "The sync groups of a record, besides `org:<organization>`.",
    "conflict": "What a stale check compares: single fields (default) or the record as a whole.",
    "writableBy": "Who can create, change, archive and delete its records: see a field's `writableBy`.",
    "table": "The attached table that has its records as rows. Without it they are stored beside the log.",
    "source": "The endpoint datasource that has its records; what is stored beside the log are copies."
  },
  "Rename": {
    "": "A field with a new name. Stored values and older log entries are renamed with it."
  },
  "SchemaPush": {
    "force": "Pushes even if it hides data. Hidden data stays stored and returns when it is declared again."
  },
  "SchemaPushed": {
    "unchanged": "The schema was already the same."
  },
  "CapabilityBody": {
    "": "Body of `POST /v1/capabilities`. A token for everything needs `wideScope`.",
    "participantId": "Default: the capability's own id.",
    "operations": "`<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`",
    "syncGroups": "`<kind>:<id>`; `org:<organization>` is every record.",
    "onBehalfOf": "Default: no one.",
    "budget": "Default: no limit.",
    "budget.records": "Records that its commits name, counted in each commit.",
    "budget.per": "Whether each run has that much, or all that the token does together. Default `token`.",
    "ttlSeconds": "Default 600.",
    "userMeta": "Your own data, stored with the token, up to 4 096 characters of JSON."
  },
  "RotateBody": {
    "": "Body of a rotation: how long the old token stays valid, and how long the new one is.",
    "ttlSeconds": "Seconds until the token expires."
  },
  "Capability": {
    "": "An agent's token. `token` is only in the responses that create and rotate it.",
    "budget": "What the token may write at most; 429 `budget_spent` beyond it.",
    "budget.records": "Records that its commits name, counted in each commit.",
    "budget.per": "Whether each run has that much, or all that the token does together. Default `token`.",
    "scope": "The token's identity and permissions.",
    "lastUsedAt": "Precise to the minute.",
    "rotatedFrom": "The capability that this one replaced, and when that one ends or ended."
  },
  "CapabilityDeleted": {
    "activeSessionsClosed": "Streams that ended with it in the process that answers; those of others end within 5 s."
  },
  "EphemeralKeyBody": {
    "": "Body of `POST /v1/ephemeral_keys`. Defaults: every operation on each pushed model, and the group `user:<id>` alone.",
    "syncGroups": "`<kind>:<id>`; `org:<organization>` is every record.",
    "operations": "`<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`",
    "ttlSeconds": "Default 900."
  },
  "EphemeralKey": {
    "": "A person's token, for one browser. `token` is only in the response that creates it."
  },
  "EphemeralKeysDeleted": {
    "": "Every key of one person was revoked: a sign-out everywhere."
  },
  "Identity": {
    "": "A token's identity and permissions.",
    "onBehalfOf": "For whom it may write: participants, or `*` for everyone.",
    "budget": "What the token may write at most; 429 `budget_spent` beyond it.",
    "budget.records": "Records that its commits name, counted in each commit.",
    "budget.per": "Whether each run has that much, or all that the token does together. Default `token`.",
    "owner": "`<organization>/<live|test>/<kind>/<participant>`: what a client's store belongs to.",
    "viewHash": "A fingerprint of everything that the token may read; tokens that may read the same have the same.",
    "serverTime": "The server's time, by which a client knows how far its device's clock is off."
  },
  "WebhookEndpointBody": {
    "": "Body of a registration.",
    "url": "An https address on port 443, or from 1024 on, that is public.",
    "enabledEvents": "Models whose changes are sent; default `[\"*\"]`.",
    "from": "The position to start after; default: the current head of the log. 0 is the beginning of the log."
  },
  "WebhookEndpointPatch": {
    "": "The settings of an endpoint that can be changed. A new URL is tried at once.",
    "url": "An https address on port 443, or from 1024 on, that is public.",
    "enabledEvents": "Names of models, or `*` for all.",
    "description": "Null removes it."
  },
  "Skip": {
    "": "Body of a skip: events up to this position, inclusive, are not delivered."
  },
  "WebhookEndpoint": {
    "": "A receiver of the log. `secret` is only in the responses to a registration and a roll.",
    "cursor": "Everything up to this position was delivered, skipped, or not subscribed to.",
    "lag": "Log positions after the cursor.",
    "attempt": "Attempts at this cursor.",
    "nextAttemptAt": "When the next one is due; null: at once, or there is nothing to retry.",
    "lastError": "The error of the last failed attempt; it stays when later attempts succeed.",
    "lastError.status": "Of the response, if there was one.",
    "lastError.from": "The events that were sent.",
    "disabledReason": "`attempts_exhausted`: all eight attempts failed. `owner`: it was disabled by request.",
    "secretLast4": "The end of the signing secret.",
    "secret": "The key that signs deliveries: `whsec_` and base64."
  },
  "WebhookAttempt": {
    "": "One request to an endpoint, or a skip by its owner.",
    "webhookId": "The `webhook-id` that it was sent with; null for a skip.",
    "from": "First and last position of what was sent, or skipped; null for a test.",
    "events": "Number of events.",
    "attempt": "The number of the attempt at its cursor, from 1; 0 for tests and skips.",
    "outcome": "`unknown`: the server stopped before the response.",
    "status": "Of the response; null if there was none.",
    "response": "The start of the response body, up to 1 024 characters."
  },
  "WebhookEvent": {
    "": "One committed change, as an endpoint receives it.",
    "type": "`<model in lower case>.<verb>`, as `slide.created`; the verbs are those of the log.",
    "model": "The model, as declared.",
    "objectId": "Id of the record.",
    "data": "The row after; null when the record was deleted or erased, or cannot be read.",
    "unreadable": "Why the record cannot be read, in a sentence.",
    "syncId": "Position in the log: sort by it, and skip positions that you already have.",
    "id": "The same as text.",
    "createdAt": "When it was committed.",
    "actor": "Participant id of the writer.",
    "participantKind": "Whether a person, an agent or a system wrote it."
  },
  "WebhookBatch": {
    "": "Body of a delivery: up to 100 events, in the order of the log.",
    "logId": "The log that the positions count in. After a restore it is another log, with new positions."
  }
};
