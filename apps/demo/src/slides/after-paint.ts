/**
 * Does it once what is shown now has been painted, in the order asked for: what others are to hear need not delay what
 * one sees oneself. A page that is being hidden or left does it at once.
 */
export function afterPaint(act: () => void): void {
  due.push(act);
  if (due.length > 1) return;
  requestAnimationFrame(() => setTimeout(doWhatIsDue));
  // A window behind others may not be painted for long.
  setTimeout(doWhatIsDue, LONGEST_MS);
}

/** Does at once what still waits for a paint. One that fails is reported, and takes nothing behind it along. */
export function doWhatIsDue(): void {
  for (const act of due.splice(0))
    try {
      act();
    } catch (error) {
      reportError(error);
    }
}

const LONGEST_MS = 100;
const due: (() => void)[] = [];

addEventListener("pagehide", doWhatIsDue);
document.addEventListener("visibilitychange", doWhatIsDue);
