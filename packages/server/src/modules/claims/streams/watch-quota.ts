/** Limits how many records the sockets of one token watch together, in this process. */
export interface WatchQuota {
  /** A socket's share of the quota, empty at first. */
  share(): WatchShare;
}

export interface WatchShare {
  /**
   * The socket now watches this many records under this token. Returns false, and changes nothing, if that exceeds the
   * quota.
   */
  resize(tokenId: string, records: number): boolean;
}

export function createWatchQuota(perToken: number): WatchQuota {
  const used = new Map<string, number>();
  const add = (tokenId: string, records: number) => {
    const now = (used.get(tokenId) ?? 0) + records;
    if (now === 0) used.delete(tokenId);
    else used.set(tokenId, now);
  };
  return {
    share() {
      let [owner, size] = ["", 0];
      return {
        resize(tokenId, records) {
          const others = (used.get(tokenId) ?? 0) - (owner === tokenId ? size : 0);
          // A socket may always watch fewer, even after it moved to a token that is over its quota.
          if (records > size && others + records > perToken) return false;
          add(owner, -size);
          add(tokenId, records);
          [owner, size] = [tokenId, records];
          return true;
        },
      };
    },
  };
}
