/** A table cannot be attached, compared or detached as it is: the message says why, and what to do. */
export class TableError extends Error {}
