/** Limits how many sockets of one token are open at once in this process. */
export interface SocketQuota {
  /** A socket's permit. It counts for no token until the socket authenticates. */
  permit(): SocketPermit;
}

export interface SocketPermit {
  /**
   * Counts the socket under this token and no longer under its previous one. Returns false if the token has reached its
   * limit.
   */
  moveTo(tokenId: string): boolean;
  /** The socket is closed: later calls of `moveTo` do not count it. */
  leave(): void;
}

export function createSocketQuota(perToken: number): SocketQuota {
  const taken = new Map<string, number>();
  const add = (tokenId: string, more: 1 | -1) => {
    const now = (taken.get(tokenId) ?? 0) + more;
    if (now === 0) taken.delete(tokenId);
    else taken.set(tokenId, now);
  };
  return {
    permit() {
      let sitting: string | undefined;
      let left = false;
      return {
        moveTo(tokenId) {
          if (left) return false;
          if (sitting === tokenId) return true;
          if ((taken.get(tokenId) ?? 0) >= perToken) return false;
          if (sitting !== undefined) add(sitting, -1);
          add(tokenId, 1);
          sitting = tokenId;
          return true;
        },
        leave() {
          if (sitting !== undefined) add(sitting, -1);
          sitting = undefined;
          left = true;
        },
      };
    },
  };
}
