/** Hands a value to the user as a file of JSON. */
export function download(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the address with the click; what it leads to is kept until then only.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
