import { limits } from "@holdfast/sdk/protocol";
import { fullBucket } from "../../kernel/limits/full-bucket.ts";
import { type Refusal, refuse } from "../../kernel/refusal.ts";

/** What a socket may send: frames in a time and, until its token is accepted, bytes in all. */
export interface FrameBudget {
  readonly isAccepted: boolean;
  /** The token is accepted: from now on only frames are counted. */
  accept(): void;
  takeFrame(): Refusal | undefined;
  takeBytes(bytes: number): Refusal | undefined;
}

export function createFrameBudget(): FrameBudget {
  const frames = fullBucket(limits.framesPerSecond, limits.framesBurst);
  let bytesBefore = 0;
  let isAccepted = false;
  return {
    get isAccepted() {
      return isAccepted;
    },
    accept() {
      isAccepted = true;
    },
    takeFrame: () => (frames.tryRemoveTokens(1) ? undefined : refuse("rate_limited")),
    takeBytes(bytes) {
      if (isAccepted) return undefined;
      bytesBefore += bytes;
      return bytesBefore > limits.helloBytes ? refuse("invalid_frame", TOO_LONG) : undefined;
    },
  };
}

const TOO_LONG = {
  message: `Until the token is accepted, frames can have up to ${limits.helloBytes} bytes together.`,
};
