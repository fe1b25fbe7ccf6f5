// Made from the docstrings of packages/sdk/src/protocol by `npm run docs:write`; change them there.

/** What is said of each schema (under "") and of its fields, inner ones with dots between. */
export const docstrings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Claim: {
    "": "A lease on a record, or on one of its fields; or a place in the line for it.",
    actor: "Participant id of who holds it, or waits.",
    action: "What the holder intends to do.",
    field: "Absent: the claim is on the whole record.",
    fence: "Grows with every grant on that record; absent as long as it was never granted.",
    syncId:
      "How far the log reached when it was granted. Read up to there before you edit: then you have seen all that the holders before you wrote. Absent as long as it was never granted, and of a claim that an older server granted.",
    position: "Of one that waits: how many are before it; 0 is next.",
    clientId: "The device that holds it or waits; told to its own participant alone, in the list of its claims.",
    expiresAt: "Of one that is held: when the lease ends, by the database's clock.",
    expiresInMs: "Of one that is held: the same as a span, in milliseconds from this answer.",
    target: "`model` and `resource` are the same: the model, as declared.",
  },
  ClaimBody: {
    "": "Body of a claim on the record that the path names; it may be left out.",
    field: "Claims one field only: claims of different fields exist beside each other.",
    action: "What the caller intends to do; default `edit`.",
    ttl: "`30s`, `500ms`, `5m`, `1h`, or milliseconds: one second to one hour; default 60 s.",
    queue: "Whether to wait in the line when somebody else holds it; default false: the request fails instead.",
    preempt: "Takes the claim from an agent at once; for people and systems with `claim.preempt`.",
    description: "What it is about, for people.",
    meta: "The caller's own notes, up to 4 KiB of JSON.",
    clientId:
      "The device that asks, which then is the holder: another `clientId` of the same participant is another one.",
  },
  ClaimTargetBody: {
    "": "The same with the record in the body.",
    action: "What the caller intends to do; default `edit`.",
    ttl: "`30s`, `500ms`, `5m`, `1h`, or milliseconds: one second to one hour; default 60 s.",
    queue: "Whether to wait in the line when somebody else holds it; default false: the request fails instead.",
    preempt: "Takes the claim from an agent at once; for people and systems with `claim.preempt`.",
    description: "What it is about, for people.",
    meta: "The caller's own notes, up to 4 KiB of JSON.",
    clientId:
      "The device that asks, which then is the holder: another `clientId` of the same participant is another one.",
  },
  ClaimRenewBody: {
    ttl: "As in a claim; default: what it was claimed with.",
  },
  ClaimOrderBody: {
    "": "Waiting claims in their new order; those that are not named stay behind them as they were.",
    "order.heldBy": "Ignored: who holds a claim is not the caller's to say.",
    heldBy: "Ignored: who holds a claim is not the caller's to say.",
  },
  ClaimList: {
    "": "Every live claim of one record: who holds it, then the line.",
    data: "Holders, then the line.",
    claims: "Those that hold it.",
    queue: "Those that wait, the next one first.",
  },
  ClaimRelease: {
    released: "How many claims ended by this.",
  },
  CommitBody: {
    "": "Body of `POST /v1/commits`: operations that happen together or not at all.",
    operations: "What happens, in this order.",
    reads: "What the commit rests on: a premise that moved fires its own policy over the whole commit.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user, up to 64 of `[A-Za-z0-9_-]`: a client does not conflict with itself.",
    logId:
      "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
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
    id: "Favorite only: the id that was made for a create without one, the first when there were several.",
    error: "Why it was rejected.",
    "error.code": "One of the codes of `/docs/errors`.",
    "error.field": "Where in the request the reason lies.",
  },
  BulkReply: {
    "": "Answer of a bulk: one item per commit, in order, each with the status it would have had alone.",
    "data.httpStatus": "The status that this commit would have had alone.",
  },
  Operation: {
    "": "One item of a commit. `data` is the whole entity on create and the changed fields on update.",
    action: "`type` with the same words in capitals means the same.",
    model: "A declared model, whatever its case.",
    id: "Chosen by the client, also on create; the server makes one for the create of a `favorite` that has none.",
    data: "The whole record on create, the changed fields on update; other actions take none. `input` means the same.",
    readAt: "The log position that the operation is based on; absent: it is not checked.",
    claim: "Id of the claim that the operation is bound to.",
    fenceToken:
      "The fence that the caller's claim was granted with. When another grant has taken its place, the write is refused.",
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
  Datasource: {
    "": "Where the rows of a world live. Keys that do not apply to its kind are left out; secrets are never in it.",
    created: "Unix seconds, as all times here.",
    connection: "`hosted`: beside the log, in the same transaction.",
  },
  RequiredCapability: {
    "": "What a denied caller would have needed. The last four keys come with a denied update of a favorite alone.",
    can: "`read`, `create`, `update` or `delete`.",
    syncGroup: "A group in which it would have been allowed, out of those that the caller may know of.",
    scope: "`<model>.<can>`: the operation to mint the next token with.",
    issuer: "The organization, whose secret key mints such a token.",
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
    claims: "`claim_conflict` and `claim_lost`: who holds the record now.",
    problems: "`schema_incompatible` only: what stands against the change.",
  },
  ListEnvelope: {
    "": "The envelope of every list. `next_cursor` is null on the last page.",
    model: "On lists of records: the model, as declared.",
    has_more: "Whether there is more beyond this page.",
    next_cursor: "Send as `starting_after` (the log: as `after`) for the next page.",
    stamp: "Head of the log before the page was looked at.",
    logId: "The log that positions count in.",
    rowsVersion: "The log only: counts the pushes of a schema that changed records without an entry.",
    owner: "The log only: whose token it was, as `<organization>/<live|test>/<kind>/<participant>`.",
    viewHash: "The log only: a fingerprint of all that the token may read.",
    models: "The log only: those of the models asked for that are declared and that the token may read.",
    archived: "Id → time of archiving, of those on the page that are archived.",
    trimmedTo: "History only: log entries up to this position are no longer kept.",
  },
  LogEntry: {
    "": "One line of the log: one operation that changed something.",
    syncId: "Position in the log: 1, 2, 3 … without holes, in commit order.",
    model: "The model, as declared.",
    data: "The row after; null when the record was deleted or erased by this entry, or its values were erased since.",
    erased: "The values were erased since: `data` is null, and an entry with the verb `erased` comes later.",
    changedFields: "The fields that an update wrote; null on every other verb.",
    clientTxId: "The writer's name for the commit.",
    clientId: "The writer's device, when it says so.",
    actor: "Participant id of the writer.",
    participantKind: "Whether a person, an agent or a system wrote it.",
    claim: "The claim that the write was bound to.",
    createdAt: "When it was committed; never before the entry before it.",
    left: "The record left the groups that the reader hears: `verb` is `deleted`, the record lives on elsewhere.",
  },
  CreateBody: {
    "": "`id` is required of every model but `favorite`, which may leave it to the server.",
    data: "The record's fields, as the pushed schema declares them.",
    claim: "Id of the claim that the write is bound to. `intent` means the same.",
    onStale:
      "What happens when the record moved since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    readAt: "The log position that the write is based on; absent: it is not checked.",
    logId:
      "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    fenceToken:
      "The fence that the caller's claim was granted with. When another grant has taken its place, the write is refused.",
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
    logId:
      "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    fenceToken:
      "The fence that the caller's claim was granted with. When another grant has taken its place, the write is refused.",
    clientTxId: "The caller's name for the commit; 1 to 255 visible ASCII, unique per participant.",
    clientId: "One per device and signed-in user: a client does not conflict with itself.",
  },
  BareWriteBody: {
    "": "Body of delete, archive and unarchive; it may be left out.",
    claim: "Id of the claim that the write is bound to. `intent` means the same.",
    onStale:
      "What happens when the record moved since `readAt`; default `reject`. `force` is `overwrite`; `flag` and `merge` are `notify`.",
    readAt: "The log position that the write is based on; absent: it is not checked.",
    logId:
      "The log that `readAt` counts in, as reads and receipts name it. If the tenant has another log by now (a restore), the write is 409 `other_log`.",
    idempotencyKey: "The same as the `Idempotency-Key` header; both and different is refused.",
    fenceToken:
      "The fence that the caller's claim was granted with. When another grant has taken its place, the write is refused.",
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
  SnapshotStart: {
    "": "First line of a snapshot page: the head of the log before the first page was read.",
    rowsVersion:
      "Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew.",
    owner: "Whose token it was: `<organization>/<live|test>/<kind>/<participant>`.",
    viewHash: "A fingerprint of all that the token may read. Rows that were read under another one are read again.",
    models: "Those of the models asked for that are declared and that the token may read, as declared.",
  },
  SnapshotLine: {
    "": "One record; it may be newer than `stamp`, never older.",
  },
  SnapshotEnd: {
    "": "Last line of a page. A page without it is incomplete.",
  },
  SecretKeyBody: {
    livemode: "True: a key of the live world; false: of the test world.",
  },
  SecretKey: {
    "": "`token` is in the answer to the creation only.",
  },
  Usage: {
    "": "How often something happened on one UTC day; days without it are left out.",
    day: "`2026-01-31`",
    event_name: "`commits`, `operations`, `reads`, `webhook_deliveries`; more may come.",
  },
  PeerSession: {
    "": "One socket of a participant in a room.",
    session: "`ses_…`, as in that socket's `welcome`.",
    clientId: "The device, when it said so.",
    state: "What it last said of itself; replaced as a whole.",
  },
  Peer: {
    "": "A participant in a room, once, however many windows it has open.",
    participant: "`<participantKind>:<participantId>`",
    sessions: "The one that spoke last comes first.",
  },
  isRequired: {
    "": "Whether a create has to bring the field: what is not brought gets the default.",
  },
  Field: {
    "": "One declared field. `default` fills an absent value on create; `nullable` admits null.",
    type: "What values it holds; types are never coerced.",
    required: "A create has to bring it, unless there is a default.",
    nullable: "Whether null is a value of it.",
    default: "What a create is given that does not bring it.",
    index: "Whether lists by it are made fast.",
    values: "Of an enum: what it may be.",
    references: "Of a string, or an array of them: the model whose records it names by their ids.",
  },
  GroupRule: {
    "": 'A record is filed under `<kind>:<value of the field "from">`; `from` may be `id`.',
  },
  Model: {
    fields: "Field name → what it holds. `id` need not be declared.",
    groups: "The sync groups that a record is filed under, besides `org:<organization>`.",
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
  Welcome: {
    "": "The client was heard; entries after `resumeFrom` follow.",
    stamp: "Head of the log now.",
    participant: "`<participantKind>:<participantId>`",
    owner: "Whose token it is: `<organization>/<live|test>/<kind>/<participant>`.",
    viewHash: "A fingerprint of all that the token may read. Rows that were read under another one are read again.",
    models: "Those of the models asked for that are declared and that the token may read, as declared.",
    expiresInMs: "Milliseconds until the token ends; null: it does not.",
    rowsVersion:
      "Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew.",
  },
  Renewed: {
    "": "The answer to `auth`: the stream goes on under the new token.",
    owner: "Whose token it is: `<organization>/<live|test>/<kind>/<participant>`.",
    viewHash: "A fingerprint of all that the token may read. Rows that were read under another one are read again.",
    models: "Those of the models asked for that are declared and that the token may read, as declared.",
    expiresInMs: "Milliseconds until the token ends; null: it does not.",
  },
  Entries: {
    "": "Covers every position in (from, to]; what the reader may not see, or did not follow, is left out.",
  },
  ClaimsFrame: {
    "": "Every live claim of a watched record: the whole state, never a diff.",
    model: "The model, as declared.",
    queue: "The line, the next one first.",
  },
  ClaimFrame: {
    "": "One claim of this participant changed: granted, renewed, moved in its line, or ended.",
    holders: "Of one that ended: who holds its record now, as far as the reader may see the record.",
  },
  PresenceFrame: {
    "": "Who is in a room that this session entered. The first one holds all who are there.",
    left: "Participants, `<kind>:<id>`.",
  },
  SchemaFrame: {
    models: "As in `welcome`, under the new schema.",
  },
  Resync: {
    "": "Read a snapshot and say hello again.",
  },
  Hello: {
    "": "The first frame on a stream. `since` absent: from now on.",
    log: "The log that `since` counts in.",
    view: "The `viewHash` under which the rows up to `since` were read. The answer to another one is `resync`.",
  },
  Auth: {
    "": "A fresh token before the old one ends.",
  },
  Follow: {
    "": "Replaces what is heard.",
  },
  Watch: {
    "": "Hear the claims of these records of a model: replaces what was watched of it.",
  },
  Presence: {
    "": "Enters a room (a sync group), or says something else of oneself there; `state` null leaves it.",
    state: "Up to 4 KiB of JSON.",
  },
  CapabilityBody: {
    "": "Body of `POST /v1/capabilities`. Everything at once is only given to who says `wideScope`.",
    participantId: "Default: the capability's own id.",
    operations: "`<model>.<read|create|update|delete>`, `<model>.*`, `*.read`, `*.*`, `claim.preempt`, `claim.reorder`",
    syncGroups: "`<kind>:<id>`; `org:<organization>` is every record.",
    ttlSeconds: "Default 600.",
    userMeta: "Yours to keep with the token, up to 4 096 characters of JSON.",
  },
  RotateBody: {
    "": "Body of a rotation: how long the old token goes on, and how long the new one lives.",
    ttlSeconds: "Seconds until the token ends.",
  },
  Capability: {
    "": "An agent's token. `token` is in the answer to minting and rotating only.",
    scope: "All that the token says of its bearer.",
    lastUsedAt: "To the minute.",
    rotatedFrom: "The capability that this one took the place of, and when that one ends or ended.",
  },
  CapabilityDeleted: {
    activeSessionsClosed: "Streams that ended with it in the process that answers; those of others end within 5 s.",
  },
  EphemeralKeyBody: {
    "": "Body of `POST /v1/ephemeral_keys`. Defaults: every operation on each pushed model, and the group `user:<id>` alone.",
    syncGroups: "`<kind>:<id>`; `org:<organization>` is every record.",
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
    owner: "`<organization>/<live|test>/<kind>/<participant>`: what a client's store belongs to.",
    viewHash: "A fingerprint of all that the token may read: the same for tokens that may read the same.",
  },
  WebhookEndpointBody: {
    "": "Body of a registration.",
    url: "An https address on port 443, or from 1024 on, that is public.",
    enabledEvents: 'Models whose changes are sent; default `["*"]`.',
    from: "The position to begin behind; default: the head of the log now. 0 is the beginning of the log.",
  },
  WebhookEndpointPatch: {
    "": "What of an endpoint can be changed. Another address is tried at once.",
    url: "An https address on port 443, or from 1024 on, that is public.",
    enabledEvents: "Names of models, or `*` for all.",
    description: "Null takes it away.",
  },
  Skip: {
    "": "Body of a skip: events up to this position, inclusive, are not delivered.",
  },
  WebhookEndpoint: {
    "": "A receiver of the log. `secret` is in the answer to the registration, and to a roll, only.",
    cursor: "Everything up to this position was delivered, skipped, or not subscribed to.",
    lag: "Positions of the log beyond the cursor.",
    attempt: "Attempts that were begun at this cursor.",
    nextAttemptAt: "When the next one is due; null: at once, or there is nothing to retry.",
    lastError: "Why the last failed attempt failed; it stays when later ones succeed.",
    "lastError.status": "Of the answer, where there was one.",
    "lastError.from": "The events that were sent.",
    disabledReason: "`attempts_exhausted`: all eight attempts failed. `owner`: it was disabled by request.",
    secretLast4: "The end of the signing secret.",
    secret: "What deliveries are signed with: `whsec_` and base64.",
  },
  WebhookAttempt: {
    "": "One request to an endpoint, or what its owner skipped.",
    webhookId: "The `webhook-id` that it was sent with; null for a skip.",
    from: "First and last position of what was sent, or skipped; null for a test.",
    events: "How many events it carried.",
    attempt: "Which attempt at its cursor it was, from 1 on; 0 for tests and skips.",
    outcome: "`unknown`: the server stopped before there was an answer.",
    status: "Of the answer; null: there was none.",
    response: "The beginning of the answer's body, up to 1 024 characters.",
  },
  WebhookEvent: {
    "": "One committed change, as an endpoint is told of it.",
    type: "`<model in lower case>.<verb>`, as `slide.created`; the verbs are those of the log.",
    model: "The model, as declared.",
    objectId: "Id of the record.",
    data: "The row after; null when the record was deleted or erased.",
    syncId: "Position in the log: order by it, and skip what is known already.",
    id: "The same as text.",
    createdAt: "When it was committed.",
  },
  WebhookBatch: {
    "": "Body of a delivery: up to 100 events, in the order of the log.",
    logId:
      "The log that the positions count in: after a restore it is another one, and its positions begin anew. Older servers leave it out.",
  },
};
