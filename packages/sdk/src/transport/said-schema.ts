import { type SpelledModel, schemaFingerprint } from "../protocol/schema/schema-fingerprint.ts";

/** What a client says of its schema with every request and in `hello`: the server answers under the names of that schema. */
export class SaidSchema {
  readonly own: string;
  /** Undefined: the names are the server's current ones. */
  now: string | undefined;

  constructor(models: Readonly<Record<string, SpelledModel>>) {
    this.own = schemaFingerprint(models);
    this.now = this.own;
  }
}
