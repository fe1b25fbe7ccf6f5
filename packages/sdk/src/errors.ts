export class SyncError extends Error {}
