/** How many sockets of one token are open at once, in this process. */
export interface SocketQuota {
  /** A socket's own seat, which it has none of until it says who it is. */
  permit(): SocketPermit;
}

export interface SocketPermit {
  /** Sits among the sockets of this token, and no longer among those of another; false: there is no room. */
  moveTo(tokenId: string): boolean;
  /** The socket is closed: whatever comes later gets no seat. */
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
