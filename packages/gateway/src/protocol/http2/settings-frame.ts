import type { FrameWriter } from './frame-writer.js'
import { ERROR, FRAME, MAX_PAYLOAD, MAX_WINDOW } from './frames.js'

/** Identifiers (RFC 9113 section 6.5.2). */
export const SETTING = {
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** Writes the settings of this end as pairs of identifier and value. Other settings keep their defaults. */
export function writeSettings(writer: FrameWriter, settings: readonly (readonly [number, number])[]): void {
  const payload = Buffer.alloc(6 * settings.length)
  settings.forEach(([id, value], i) => {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  })
  writer.bytes(FRAME.settings, 0, 0, payload)
}

/** Settings of the peer that are used. */
export interface PeerSettings {
  readonly initialWindow?: number
  readonly maxStreams?: number
}

/** Reads the settings of the peer. Returns those that are used, or an error code if one is invalid. */
export function readSettings(payload: Buffer): PeerSettings | number {
  if (payload.length % 6 !== 0) return ERROR.frameSize
  const settings: { initialWindow?: number; maxStreams?: number } = {}
  for (let at = 0; at < payload.length; at += 6) {
    const id = payload.readUInt16BE(at)
    const value = payload.readUInt32BE(at + 2)
    if (id === SETTING.enablePush && value > 1) return ERROR.protocol
    if (id === SETTING.maxFrameSize && (value < MAX_PAYLOAD || value > 2 ** 24 - 1)) return ERROR.protocol
    if (id === SETTING.maxConcurrentStreams) settings.maxStreams = value
    if (id !== SETTING.initialWindowSize) continue
    if (value > MAX_WINDOW) return ERROR.flowControl
    settings.initialWindow = value
  }
  return settings
}
