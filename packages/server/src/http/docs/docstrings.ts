// Made from the docstrings of packages/sdk/src/protocol by `npm run docs:write`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CommitBody: {
    "": "Body of `POST /v1/commits`: operations that happen together or not at all.",
    operations: "What happens, in this order.",
    reads: "What the commit rests on: a premise that moved fires its own policy over the whole commit.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
  },
  BulkBody: {
    "": "Body of `POST /v1/commits/bulk`: commits in order, each atomic alone. Each is checked by itself.",
  },
  CommitReceipt: {
    "": "What a write is answered with, and what the same key is answered with ever after.",
    clientTxId: "The caller's name for the commit: its own, else the idempotency key, else one that was made.",
    serverTxId: "The server's name for it.",
    success: "Whether it was written.",
    status: '`rejected` with status 200: held by `onStale: "notify"`, nothing was written.',
    lastSyncId: "The last entry written, else the head of the log.",
    logId: "The log that positions count in.",
    ops: "Operations that were asked for.",
    missingIds: "Ids of operations that matched no record; absent when none missed.",
    notifications: "Why the write was held: one notice for each record or premise that moved.",
    id: "Favorite only: the id that was made for a create without one.",
    error: "Why it was rejected.",
    "error.code": "One of the codes of `/docs/errors`.",
    "error.field": "Where in the request the reason lies.",
  },
  BulkReply: {
    "": "Answer of a bulk: one item per commit, in order, each with the status it would have had alone.",
    "data.httpStatus": "The status that this commit would have had alone.",
  },
  RequiredCapability: {
    "": "What a denied caller would have needed. The last four keys come with a denied update of a favorite alone.",
    can: "`read`, `create`, `update` or `delete`.",
    syncGroup: "A group in which it would have been allowed, out of those that the caller may know of.",
    scope: "`<model>.<can>`: the operation to mint the next token with.",
    issuer: "The organisation, whose secret key mints such a token.",
  },
  ErrorEnvelope: {
    "": "Every error body over HTTP, and every error frame on the stream.",
    type: "Coarse class of the error.",
    message: "For people; it may change.",
    code: "What it is, for programs; it stays.",
    param: "Where in the request the fault lies.",
    doc_url: "The page on this code.",
    request_id: "The same as the answer's `x-request-id`.",
    blockedBy: "Bulk only: the index of the commit that this one waited for.",
    problems: "`schema_incompatible` only: what stands against the change.",
  },
  Hello: {
    "": "The first frame on a stream. `since` absent: from now on.",
    log: "The log that `since` counts in.",
  },
  Auth: {
    "": "A fresh token before the old one ends.",
  },
  Follow: {
    "": "Replaces what is heard.",
  },
  ListEnvelope: {
    "": "The envelope of every list. `next_cursor` is null on the last page.",
    model: "On lists of records: the model, as declared.",
    has_more: "Whether there is more beyond this page.",
    next_cursor: "Send as `starting_after` (the log: as `after`) for the next page.",
    stamp: "Head of the log before the page was looked at.",
    logId: "The log that positions count in.",
    archived: "Id → time of archiving, of those on the page that are archived.",
  },
  LogEntry: {
    "": "One line of the log: one operation that changed something.",
    syncId: "Position in the log: 1, 2, 3 … without holes, in commit order.",
    model: "The model, as declared.",
    data: "The row after; null on delete.",
    changedFields: "The fields that an update wrote; null on every other verb.",
    clientTxId: "The writer's name for the commit.",
    clientId: "The writer's device, when it says so.",
    actor: "Participant id of the writer.",
    participantKind: "Whether a person, an agent or a system wrote it.",
    claim: "The claim that the write was bound to.",
    createdAt: "When it was committed; never before the entry before it.",
    left: "The record left the groups that the reader hears: `verb` is `deleted`, the record lives on elsewhere.",
  },
  Field: {
    "": "One declared field. `default` fills an absent value on create; `nullable` admits null.",
    type: "What values it holds; types are never coerced.",
    required: "A create has to bring it, unless there is a default.",
    nullable: "Whether null is a value of it.",
    default: "What a create is given that does not bring it.",
    index: "Whether lists by it are made fast.",
    values: "Of an enum: what it may be.",
  },
  GroupRule: {
    "": 'A record is filed under `<kind>:<value of the field "from">`; `from` may be `id`.',
  },
  Model: {
    fields: "Field name → what it holds. `id` need not be declared.",
    groups: "The sync groups that a record is filed under, besides `org:<organisation>`.",
    conflict: "What a stale check compares: single fields (default) or the record as a whole.",
  },
  Rename: {
    "": "A field that goes on under another name: what is stored, and what older entries of the log say, goes with it.",
  },
  SchemaPush: {
    force: "Lands also when it hides data: that stays stored, and comes back when it is declared again.",
  },
  SchemaPushed: {
    unchanged: "It was the same as before.",
  },
  Operation: {
    "": "One item of a commit. `data` is the whole entity on create and the changed fields on update.",
    action: "`type` with the same words in capitals means the same.",
    model: "A declared model, whatever its case.",
    id: "Chosen by the client, also on create.",
    data: "The whole record on create, the changed fields on update; other actions take none. `input` means the same.",
    readAt: "The log position that the operation is based on; absent: it is not checked.",
    claim: "Id of the claim that the operation is bound to.",
    idempotencyKey:
      "The operation's own key, apart from the commit's: the same operation again counts and does nothing.",
    transactionId: "The caller's name for what the operation belongs to; it stands in the log entry.",
  },
  Read: {
    "": 'A premise: "this row, these fields, or this group has not moved since `readAt`".',
    model: "With `id`: the premise is on that record.",
    group: "The premise is on everything in this sync group, `<kind>:<id>`.",
    fields: "Only these fields; absent: the record as a whole.",
  },
  SecretKeyBody: {
    livemode: "True: a key of the live world; false: of the test world.",
  },
  SecretKey: {
    "": "`token` is in the answer to the creation only.",
  },
  CreateBody: {
    "": "`id` is required of every model but `favorite`, which may leave it to the server.",
    data: "The record's fields, as the pushed schema declares them.",
    claim: "Id of the claim that the write is bound to. `intent` means the same.",
    onStale:
      "What happens when the record moved since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    readAt: "The log position that the write is based on; absent: it is not checked.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user: a client does not conflict with itself.",
  },
  UpdateBody: {
    "": "`data` may be left out by `favorite` alone; `id`, when sent, has to equal the path's.",
    data: "The record's fields, as the pushed schema declares them.",
    claim: "Id of the claim that the write is bound to. `intent` means the same.",
    onStale:
      "What happens when the record moved since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    readAt: "The log position that the write is based on; absent: it is not checked.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user: a client does not conflict with itself.",
  },
  BareWriteBody: {
    "": "Body of delete, archive and unarchive; it may be left out.",
    claim: "Id of the claim that the write is bound to. `intent` means the same.",
    onStale:
      "What happens when the record moved since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    readAt: "The log position that the write is based on; absent: it is not checked.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user: a client does not conflict with itself.",
  },
  ReadEnvelope: {
    "": "One record as read. `stamp` is the head of the log before the record was looked at.",
    data: "The record's fields, as the pushed schema declares them.",
    stamp: "Head of the log before the record was looked at.",
    claims: "The claims that are held on it now.",
    syncId: "Position of the record's last entry: what a write sends as `readAt`.",
    updatedBy: "`<participantKind>:<participantId>` of the last writer.",
    archivedAt: "Null: it is not archived.",
  },
  OnStale: {
    "": "What happens to a write whose premise has moved. The aliases `force`, `flag`, `merge` are translated where bytes come in.",
  },
  StaleNotification: {
    "": "Why a write was held: what moved, by whom, and what stands there now.",
    writtenBy: "`<participantKind>:<participantId>` of the newest conflicting entry.",
    group: "The sync group of a group premise; absent otherwise.",
    readAt: "What the write was based on.",
    observedSyncId: "Position of the newest entry that conflicts.",
    conflictingFields: "The fields that both wrote.",
    currentValues: "What those fields hold now; an absent one is null.",
  },
  CapabilityBody: {
    "": "Body of `POST /v1/capabilities`. Everything at once is only given to who says `wideScope`.",
    participantId: "Default: the capability's own id.",
    operations: "`<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`",
    syncGroups: "`<kind>:<id>`; `org:<organisation>` is every record.",
    ttlSeconds: "Default 600.",
    userMeta: "Yours to keep with the token, up to 4 096 characters of JSON.",
  },
  RotateBody: {
    "": "Body of a rotation: how long the old token goes on, and how long the new one lives.",
    ttlSeconds: "Seconds until the token ends.",
  },
  Capability: {
    "": "An agent's token. `token` is in the answer to minting and rotating only.",
    lastUsedAt: "To the minute.",
  },
  CapabilityDeleted: {
    activeSessionsClosed: "Streams that ended with it in the process that answers; those of others end within 5 s.",
  },
  EphemeralKeyBody: {
    "": "Body of `POST /v1/ephemeral_keys`. Defaults: every operation on each pushed model, and the group `user:<id>` alone.",
    syncGroups: "`<kind>:<id>`; `org:<organisation>` is every record.",
    operations: "`<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`",
    ttlSeconds: "Default 900.",
  },
  EphemeralKey: {
    "": "A person's token, for one browser. `token` is in the answer to minting only.",
  },
  EphemeralKeysDeleted: {
    "": "Every key of one person was revoked: a sign-out everywhere.",
  },
  Identity: {
    "": "Who a token is, and what it may do.",
  },
};
