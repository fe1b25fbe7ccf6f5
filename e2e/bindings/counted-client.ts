import type { BoardClient } from "./board.ts";

/** A client that counts what is open on it: subscriptions, watched claims, rooms and parts. */
export function countedClient(client: BoardClient): { readonly client: BoardClient; readonly open: () => number } {
  let open = 0;
  const counted = (end: () => void) => {
    open += 1;
    let isOver = false;
    return () => {
      if (!isOver) open -= 1;
      isOver = true;
      end();
    };
  };
  return {
    client: {
      ...client,
      subscribe: (listener) => counted(client.subscribe(listener)),
      claims: { ...client.claims, watch: (model, ids) => counted(client.claims.watch(model, ids)) },
      presence(name) {
        const room = client.presence(name);
        return { ...room, subscribe: (listener) => counted(room.subscribe(listener)) };
      },
      load(...args) {
        const part = client.load(...args);
        return { ...part, release: counted(part.release) };
      },
    },
    open: () => open,
  };
}
