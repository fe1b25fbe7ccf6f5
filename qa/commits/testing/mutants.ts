import type { Edit } from "../../conformance/mutants.ts";

/** A fault in a copy of the server's sources that only two processes on one database show. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

export const mutants: readonly Mutant[] = [
  {
    name: "a head is compared by its position alone",
    isQuick: true,
    edits: [
      {
        file: "packages/server/src/db/commits/save-creates.ts",
        find: "and h.writer is not distinct from n.expected_writer and h.other_sync_id = n.expected_other_sync_id and",
        replace: "and",
      },
    ],
  },
];
