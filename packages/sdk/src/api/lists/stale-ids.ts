/** More ids than this beyond the kept records are not worth keeping: reading everything is cheaper then. */
const MOST = 1_000;

/** The records whose view may have changed since the last reading. At first, all of them. */
export class StaleIds {
  #ids: Set<string> | undefined;

  /** Notes that this record changed; without an id, any record may have changed. `kept`: how many are kept. */
  note(id: string | undefined, kept: number): void {
    if (id !== undefined) this.#ids?.add(id);
    // Bound the set for what is never read.
    if (id === undefined || (this.#ids?.size ?? 0) > kept + MOST) this.#ids = undefined;
  }

  /** Those noted since the last call. Undefined: all. */
  take(): ReadonlySet<string> | undefined {
    const ids = this.#ids;
    this.#ids = new Set();
    return ids;
  }
}
