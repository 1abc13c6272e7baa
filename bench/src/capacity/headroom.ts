/** The share left free, so that a burst, a restart or a slow neighbour is no outage. */
export const HEADROOM = 0.3
