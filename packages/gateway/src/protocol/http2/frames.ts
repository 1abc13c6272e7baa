/** Size of a frame head (RFC 9113 section 4.1). */
export const HEAD_BYTES = 9
/** Maximum size of a frame's payload in both directions, the default of SETTINGS_MAX_FRAME_SIZE. */
export const MAX_PAYLOAD = 16_384

/** Frame types (RFC 9113 section 6). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

/** Error codes (RFC 9113 section 7). */
export const ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const

/** Flags (RFC 9113 section 6). */
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const

/** Bytes with which a client begins a connection (RFC 9113 section 3.4). */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** Largest flow-control window (RFC 9113 section 6.9.1). */
export const MAX_WINDOW = 2 ** 31 - 1
