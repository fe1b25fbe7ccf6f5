/** How many records the sockets of one token watch in sum, in this process. */
export interface WatchQuota {
  /** A socket's own part of it, empty at first. */
  share(): WatchShare;
}

export interface WatchShare {
  /** The socket watches so many records from now on, under this token; false: that would be too many, and all stays as it was. */
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
          // Less is always possible, also after a token took another one's place.
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
