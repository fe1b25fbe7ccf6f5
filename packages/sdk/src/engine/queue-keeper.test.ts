import { expect, test } from "vitest";
import type { Mutation } from "../core/queue/mutation.ts";
import { initialState } from "../core/state.ts";
import type { PostedMessage } from "../core/tabs/tab-message.ts";
import type { Storage } from "./ports.ts";
import { QueueKeeper } from "./queue-keeper.ts";

test.each(["conflicted", "rejected", "saving"])(
  "[Q34] what a tab says of a stored %s write is what is on disk",
  async (phase) => {
    const posted: PostedMessage[] = [];
    const work: Promise<void>[] = [];
    const storage = { enqueue: async () => ({ places: [[1]], change: 1 }) } as unknown as Storage;
    const keeper = new QueueKeeper(storage, {
      state: () => initialState({ schema: { models: {} }, paused: false, sendAtMost: 1 }),
      toDisk: async (store) => void work.push(store()),
      dispatch: () => {},
      post: (message) => void posted.push(message),
      saved: () => {},
    });
    const mutation = { clientTxId: "t1", seq: 1, stage: { phase } } as unknown as Mutation;
    keeper.persist([{ put: [{ mutation, over: { clientTxId: "t1", seq: 1, phase: "queued" } }], drop: [] }]);
    await Promise.all(work);
    const put = posted.flatMap((message) => (message.type === "changed" ? message.put : []));
    expect(put.map((each) => each.mutation.stage.phase)).toEqual([phase === "saving" ? "queued" : phase]);
  },
);
