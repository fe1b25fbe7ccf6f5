import { openNotices } from "../connection/notifications.ts";
import { chunksOf, createJoiner, NOTIFICATION_BYTES } from "./chunks.ts";

/** The number counts versions of what is said on it. */
const CHANNEL = "holdfast_presence_1";
/** Room for the name of the sender, which the line puts before each piece. */
const CHUNK_BYTES = NOTIFICATION_BYTES - 16;
/** So many pieces in one transaction: a long text lets others in between. */
const AT_ONCE = 64;

/** Texts of any length between processes, of who is in which room. They may be lost, and come in order. */
export function openPresenceChannel(
  url: string,
  { heard, opened }: { heard(from: string, text: string): void; opened(): void },
) {
  let join = createJoiner();
  const notices = openNotices(url, {
    channel: CHANNEL,
    heard: (from, chunk) => {
      const text = join(from, chunk);
      if (text !== undefined) heard(from, text);
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
