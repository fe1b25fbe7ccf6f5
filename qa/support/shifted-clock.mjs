// Loaded before a program: its clock then goes wrong by CLOCK_SHIFT_MS. Timers and durations are left as they are.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const now = Date.now.bind(Date);

globalThis.Date = class extends Date {
  /** @param {unknown[]} given */
  constructor(...given) {
    // @ts-expect-error whatever a Date takes
    super(...(given.length === 0 ? [now() + shift] : given));
  }

  static now() {
    return now() + shift;
  }
};
