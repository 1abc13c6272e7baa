import type { ListenerSettings } from '../listener.js'

/** Settings of a test listener. */
export const SETTINGS: ListenerSettings = {
  trusted: null,
  proxyProtocol: false,
  allowHalfClose: false,
  forwardedHeader: 'x-forwarded-for',
  health: false,
  paths: 'canonical',
  http2: null,
  headerBytes: 16_384,
  headers: 100,
  urlBytes: 8192,
  bodyBytes: 1_000_000_000,
  bodyBufferBytes: 65_536,
  connections: 100,
  connectionsPerClient: 100,
  keepAliveMs: 75_000,
  headTimeoutMs: 10_000,
  bodyIdleMs: 5000,
  minBodyRate: 240,
  minReadRate: 240,
}
