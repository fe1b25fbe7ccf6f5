import type { SourceAnswers, SourceCall } from "@holdfast/sdk/protocol";

/** Where the calls of a source go. */
export interface SourceAddress {
  readonly endpoint: string;
  /** Newest first. All of them sign. */
  readonly secrets: readonly string[];
}

export type CallOf<T extends keyof SourceAnswers> = Extract<SourceCall, { readonly type: T }>;

/** An answer with status 200, or anything else: then it is not known whether the call had an effect. */
export type CallResult =
  | { readonly bytes: Uint8Array }
  | {
      readonly problem: string;
      /** The source does not accept the signature. */
      readonly rejected?: boolean;
      /** There was one, but more than is read. */
      readonly isTooLarge?: true;
    };

/** How much of an answer is read. */
export interface AnswerRoom {
  /** Most bytes. */
  readonly most: number;
  /** Whether there is room for so many bytes now. */
  take(bytes: number): boolean;
}

/** Sends a signed call with this name. */
export type SendCall = (to: SourceAddress, id: string, body: string, room: AnswerRoom) => Promise<CallResult>;
