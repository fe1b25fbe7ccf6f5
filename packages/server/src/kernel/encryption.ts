/** Encrypts a text for one owner. Only that owner can decrypt it. */
export interface Encryption {
  encrypt(text: string, owner: string): Buffer;
  /** Undefined if it was encrypted with an unknown key or for another owner, or was modified. */
  decrypt(sealed: Buffer, owner: string): string | undefined;
  /** The prefix of everything that the newest key encrypted. */
  readonly keyName: Buffer;
}
