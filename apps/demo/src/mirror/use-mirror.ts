import { useCallback, useEffect, useState } from "react";
import { useSyncStatus } from "../sync.ts";
import type { MirrorReport } from "./mirror-report.ts";

const EVERY_MS = 1_000;

/** How the mirror stands, asked for every second while this window is online and looked at. */
export function useMirror() {
  const [report, setReport] = useState<MirrorReport>();
  const [says, setSays] = useState("");
  const isOnline = useSyncStatus(({ name }) => name === "online");

  useEffect(() => {
    if (!isOnline) return;
    const gone = new AbortController();
    const look = async () => {
      if (!document.hidden && navigator.onLine) setReport(await readReport(gone.signal));
    };
    void look();
    const timer = setInterval(() => void look(), EVERY_MS);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, [isOnline]);

  const order = useCallback(async (what: "fail" | "recover") => {
    setSays("");
    try {
      const answer = await fetch(`/mirror/${what}`, { method: "POST" });
      if (!answer.ok) return setSays(await answer.text());
      setReport(await readReport());
    } catch {
      setSays("The mirror could not be told: this page’s server does not answer.");
    }
  }, []);

  return { report, says, isOnline, order };
}

/** Undefined where this page is served without a mirror. */
async function readReport(signal?: AbortSignal): Promise<MirrorReport | undefined> {
  try {
    const answer = await fetch("/mirror", { cache: "no-store", ...(signal && { signal }) });
    return answer.ok ? ((await answer.json()) as MirrorReport) : undefined;
  } catch {
    return undefined;
  }
}
