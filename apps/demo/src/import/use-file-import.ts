import { useCallback, useEffect, useState } from "react";

export interface FileImport {
  /** What became of the last file; empty: none was given. */
  readonly says: string;
  /** A file is held over the page. */
  readonly isOver: boolean;
  take(file: File, copy?: number): void;
}

/** Hands a file to the import agent, also one that is dropped anywhere on the page; `open` shows the deck that it becomes. */
export function useFileImport(open: (deckId: string) => void): FileImport {
  const [says, setSays] = useState("");
  const [isOver, setOver] = useState(false);

  const take = useCallback(
    (file: File, copy = 1) => {
      setSays(`Sending ${file.name} to the agent…`);
      void send(file, copy).then(({ deck, trouble }) => {
        setSays(trouble ?? "");
        if (deck) open(deck);
      });
    },
    [open],
  );

  useEffect(() => {
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => {
      if (!hasFile(event)) return;
      // Otherwise the browser would leave the page and show the file.
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      // Leaving the page, and not one of its parts for another.
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      if (!hasFile(event)) return;
      event.preventDefault();
      const [file, another] = event.dataTransfer?.files ?? [];
      if (another) setSays("One file at a time, please.");
      else if (file) take(file);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [take]);

  return { says, isOver, take };
}

async function send(file: File, copy: number): Promise<{ deck?: string; trouble?: string }> {
  try {
    const answer = await fetch(`/import?name=${encodeURIComponent(file.name)}&copy=${copy}`, {
      method: "POST",
      body: file,
    });
    return answer.ok ? ((await answer.json()) as { deck: string }) : { trouble: await answer.text() };
  } catch {
    return { trouble: "The file could not be sent: this page’s server does not answer." };
  }
}
