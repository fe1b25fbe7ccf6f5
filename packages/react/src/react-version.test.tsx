import { render } from "@testing-library/react";
import { StrictMode, useEffect, version } from "react";
import { version as domVersion } from "react-dom";
import { expect, test } from "vitest";

function Mounts({ log }: { log: string[] }) {
  useEffect(() => {
    log.push("mounted");
    return () => void log.push("gone");
  }, [log]);
  return null;
}

test("[V15] this run has the React that its project names, in all its parts, and StrictMode mounts twice", () => {
  const major = process.env.REACT_MAJOR;
  expect(major).toMatch(/^1[89]$/);
  expect([version, domVersion].map((each) => each.split(".")[0])).toEqual([major, major]);
  const log: string[] = [];
  const { unmount } = render(
    <StrictMode>
      <Mounts log={log} />
    </StrictMode>,
  );
  expect(log).toEqual(["mounted", "gone", "mounted"]);
  unmount();
});
