import type { AnswerBytes } from "../limits/answer-bytes.ts";
import type { Limiter } from "../limits/limiter.ts";

export interface PageWriterDeps {
  readonly pages: Limiter<string>;
  readonly answers: AnswerBytes;
  write(frame: Buffer): Promise<void>;
  /** Of the token that the socket has now. */
  tokenId(): string;
}

/** Pages of a catch-up to one socket: bounded in number and in bytes for each token. */
export function createPageWriter({ pages, answers, write, tokenId }: PageWriterDeps) {
  return {
    /** Waits until one more page may be in flight. Returns a function that ends its flight. */
    async enterPage(): Promise<() => void> {
      const token = tokenId();
      await pages.enter(token);
      let hasLeft = false;
      return () => {
        if (!hasLeft) pages.leave(token);
        hasLeft = true;
      };
    },
    /** Sends one page. Resolves when it is written. */
    write(frame: Buffer): Promise<void> {
      const page = answers.open(tokenId());
      page.send(frame.length);
      return write(frame).finally(page.close);
    },
  };
}
