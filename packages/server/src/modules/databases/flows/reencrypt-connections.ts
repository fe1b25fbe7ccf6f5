import type { Database } from "../../../kernel/connection/pool.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { listStaleConnections, replaceConnection } from "../db/datasources.ts";

/**
 * Encrypts connection strings again that an older master key encrypted, so that the older key can be removed. Returns
 * how many cannot be decrypted.
 */
export async function reencryptConnections(db: Database, { encrypt, decrypt, keyName }: Encryption): Promise<number> {
  let unreadable = 0;
  for (const { id, connection, host, database } of await listStaleConnections(db, keyName)) {
    const url = decrypt(connection, id);
    if (url === undefined) unreadable++;
    else await replaceConnection(db, { id, connection: encrypt(url, id), host, database });
  }
  return unreadable;
}
