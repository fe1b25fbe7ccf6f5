import type { Reply } from "../core/outcome.ts";
import type { Server } from "../engine/ports.ts";
import type { Wires } from "./wires.ts";

/**
 * What stands in for the ways to the server until their code is there. A page shows what it has before that, and
 * before anything is sent the local store has to be read anyway. What cannot be loaded now counts as a line that is
 * down: it is tried again with the next attempt.
 */
export function wiresLater(load: () => Promise<Wires>): Wires {
  let loading: Promise<Wires> | undefined;
  let line = 0;
  let wires: Wires | undefined;

  function get(): Promise<Wires> {
    loading ??= load().then(
      (made) => {
        wires = made;
        return made;
      },
      (error: unknown) => {
        loading = undefined;
        throw new Error(`What talks to the server could not be loaded: ${String(error)}`);
      },
    );
    return loading;
  }

  const asked = async <T>(ask: (server: Server) => Promise<T>): Promise<T | Reply> => {
    const made = await get().catch((error: Error) => error);
    return made instanceof Error ? { kind: "silence", timedOut: false, reason: made.message } : ask(made.server);
  };

  void get().catch(() => {});
  return {
    server: {
      send: (body, signal) => asked((server) => server.send(body, signal)),
      readLog: (after, signal) => asked((server) => server.readLog(after, signal)),
      readSnapshot: (signal) => asked((server) => server.readSnapshot(signal)),
      request: (name, what, signal) => asked((server) => server.request(name, what, signal)),
    },
    stream: {
      open(listener) {
        line += 1;
        const own = line;
        if (wires) return wires.stream.open(listener);
        get().then(
          ({ stream }) => own === line && stream.open(listener),
          (error: Error) => own === line && listener.closed(1006, error.message),
        );
      },
      say: (frame) => wires?.stream.say(frame),
      hello: (greeting) => wires?.stream.hello(greeting),
      close() {
        line += 1;
        wires?.stream.close();
      },
    },
  };
}
