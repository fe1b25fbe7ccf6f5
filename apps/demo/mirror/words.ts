/** What the demo tells the mirror. */
export interface MirrorOrder {
  /** Whether it is to fail with every event. */
  readonly isFailing: boolean;
}

/** What the mirror tells the demo: when it is ready, and after each change. */
export interface MirrorState {
  readonly endpointId: string;
  readonly rows: number;
  readonly isFailing: boolean;
}
