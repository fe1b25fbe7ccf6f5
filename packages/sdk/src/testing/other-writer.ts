import type { ModelServer } from "./model-server.ts";

/** Another person, who writes one record at a time. */
export function otherWriter(server: ModelServer, usual: string) {
  let named = 0;
  return (action: string, id: string, data?: object, model = usual) =>
    server.commit(
      {
        ...{ clientTxId: `t${++named}`, clientId: "c" },
        operations: [{ action, model, id, ...(data && { data }) }],
      } as never,
      "ben",
    );
}
