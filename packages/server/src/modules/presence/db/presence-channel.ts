import { openNotices } from "../../../kernel/connection/notifications.ts";
import { chunksOf, createJoiner, NOTIFICATION_BYTES } from "./chunks.ts";

/** The suffix is the version of the message format. */
const CHANNEL = "holdfast_presence_1";
/** Leaves room for the sender's name, which precedes each chunk. */
const CHUNK_BYTES = NOTIFICATION_BYTES - 16;
/** Most chunks per transaction, so that other messages are not delayed by a long text. */
const AT_ONCE = 64;

/** Presence messages between processes, of any length. They may be lost, but arrive in order. */
export function openPresenceChannel(
  url: string,
  { received, opened }: { received(from: string, text: string): void; opened(): void },
) {
  let join = createJoiner();
  const notices = openNotices(url, {
    channel: CHANNEL,
    received: (from, chunk) => {
      const text = join(from, chunk);
      if (text !== undefined) received(from, text);
    },
    opened: () => {
      join = createJoiner();
      opened();
    },
  });
  let sent = 0;
  return {
    self: notices.self,
    async send(text: string): Promise<void> {
      const chunks = chunksOf(++sent, text, CHUNK_BYTES);
      for (let i = 0; i < chunks.length; i += AT_ONCE) await notices.send(chunks.slice(i, i + AT_ONCE));
    },
    close: notices.close,
  };
}
