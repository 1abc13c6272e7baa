import type { FrameWriter } from './frame-writer.js'
import { ERROR, FRAME, MAX_PAYLOAD, MAX_WINDOW } from './frames.js'

// Identifiers (RFC 9113 section 6.5.2).
const ENABLE_PUSH = 2
const MAX_CONCURRENT_STREAMS = 3
const INITIAL_WINDOW_SIZE = 4
const MAX_FRAME_SIZE = 5
const MAX_HEADER_LIST_SIZE = 6

/** Writes the settings of this end: streams, window of a stream, size of a head. Others keep their defaults. */
export function writeSettings(writer: FrameWriter, streams: number, window: number, headBytes: number): void {
  const payload = Buffer.alloc(18)
  const values = [
    MAX_CONCURRENT_STREAMS,
    streams,
    INITIAL_WINDOW_SIZE,
    window,
    MAX_HEADER_LIST_SIZE,
    headBytes,
  ]
  for (let i = 0; i < values.length; i += 2) {
    payload.writeUInt16BE(values[i]!, 3 * i)
    payload.writeUInt32BE(values[i + 1]!, 3 * i + 2)
  }
  writer.bytes(FRAME.settings, 0, 0, payload)
}

/** Settings of the client that are used. */
export interface ClientSettings {
  readonly initialWindow?: number
}

/** Reads the settings of the client. Returns those that are used, or an error code if one is invalid. */
export function readSettings(payload: Buffer): ClientSettings | number {
  if (payload.length % 6 !== 0) return ERROR.frameSize
  let initialWindow: number | undefined
  for (let at = 0; at < payload.length; at += 6) {
    const id = payload.readUInt16BE(at)
    const value = payload.readUInt32BE(at + 2)
    if (id === ENABLE_PUSH && value > 1) return ERROR.protocol
    if (id === MAX_FRAME_SIZE && (value < MAX_PAYLOAD || value > 2 ** 24 - 1)) return ERROR.protocol
    if (id !== INITIAL_WINDOW_SIZE) continue
    if (value > MAX_WINDOW) return ERROR.flowControl
    initialWindow = value
  }
  return initialWindow === undefined ? {} : { initialWindow }
}
