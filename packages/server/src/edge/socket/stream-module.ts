import type { FrameUp } from "@holdfast/sdk/protocol";
import type { Refusal } from "../../kernel/refusal.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";

/** What a module does on one stream: from a welcome until the client says hello again, or has to. */
export interface StreamModule {
  /** The client is welcome. Its frames wait until this is done. */
  begin(): Promise<void>;
  /** Takes a frame of its name. A refusal closes the socket. */
  receive(frame: FrameUp): Promise<{ readonly refusal: Refusal; readonly closeCode: number } | undefined>;
  end(): void;
}

/** Frames with these names go to a module of the client's database. */
export interface StreamModules {
  readonly frames: readonly FrameUp["frame"][];
  open(client: StreamClient): StreamModule;
}

/** The client of a stream. */
export interface StreamClient {
  /** As of now: a renewed token may have another scope. Undefined: the stream has ended. */
  principal(): Principal | undefined;
  /** The schema that it knows. Undefined: the stream has ended. */
  spoken(): SpokenSchema | undefined;
  /** Sends a frame, as JSON. It may name a position of the log, up to which the client is told first. */
  notify(frame: string): void;
}

/** The modules of a database on one stream, as one. */
export interface OpenStreamModules {
  begin(): Promise<void>;
  /** Which one takes frames of this name. */
  taking(frame: string): StreamModule | undefined;
  end(): void;
}

export function openStreamModules(all: readonly StreamModules[], client: StreamClient): OpenStreamModules {
  const opened = all.map(({ frames, open }) => ({ frames, module: open(client) }));
  const byFrame = new Map(
    opened.flatMap(({ frames, module }) => frames.map((name) => [name as string, module] as const)),
  );
  return {
    async begin() {
      for (const { module } of opened) await module.begin();
    },
    taking: (frame) => byFrame.get(frame),
    end() {
      for (const { module } of opened) module.end();
    },
  };
}
