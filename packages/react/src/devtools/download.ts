/** Downloads a value as a JSON file. */
export function download(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has started the download with the click, so the object URL can be released.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
