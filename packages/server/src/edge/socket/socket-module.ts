import type { FrameUp } from "@holdfast/sdk/protocol";
import type { Refusal } from "../../kernel/refusal.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";

/** What a module does on one socket. */
export interface SocketModule {
  /** The socket's participant, and its device if given, each time that it shows a token. */
  signIn(principal: Principal, clientId?: string | null): void;
  /** Takes a frame of its name. A refusal closes the socket. */
  receive(frame: FrameUp): { readonly refusal: Refusal; readonly closeCode: number } | undefined;
  /** The socket is closed. */
  close(): void;
  /** Unsent bytes that are no sign of a slow reader, however many. */
  readonly excusedBytes: number;
}

/** Frames with these names go to a module as soon as the client is known, also between two hellos. */
export interface SocketModules {
  readonly frames: readonly FrameUp["frame"][];
  /** Opens the module on a socket. `send` calls `written` once a frame is written. */
  open(session: string, send: (frame: Buffer, written: () => void) => void): SocketModule;
}
