import { ERROR, FLAG, FRAME, HEAD_BYTES, MAX_PAYLOAD, MAX_WINDOW, PREFACE } from './frames.js'
import { type FieldLimits, HpackDecoder } from './hpack-decoder.js'
import { type PeerSettings, readSettings } from './settings-frame.js'

/** Maximum number of CONTINUATION frames of a head (CVE-2024-27316). */
const MAX_CONTINUATIONS = 8

/** Receiver of the frames of a connection. A method returns an error code to end the connection, or NO_ERROR. */
export interface FrameReceiver {
  /** True once the connection was ended, so that no more frames are read. */
  readonly isEnded: boolean
  /** Handles data. @param size size with padding. */
  onData(stream: number, data: Buffer, size: number, isEnd: boolean): number
  /** Handles decoded fields. @param isTooLarge true if they exceed the limits and are incomplete. */
  onFields(stream: number, fields: string[], isEnd: boolean, isTooLarge: boolean): number
  onReset(stream: number, code: number): number
  onPing(payload: Buffer, isAck: boolean): void
  onSettings(settings: PeerSettings): number
  onSettingsAck(): void
  /** @param lastStream last stream that the peer may have processed. */
  onGoaway(lastStream: number): number
  /** Handles WINDOW_UPDATE. @param stream 0 for the connection. */
  onWindowUpdate(stream: number, bytes: number): number
}

/** Splits the bytes of a connection into frames (RFC 9113 section 4) and decodes header blocks. */
export class FrameReader {
  /** Number of complete heads. */
  heads = 0
  /** Encoded size of the last one. */
  blockBytes = 0
  readonly #receiver: FrameReceiver
  readonly #limits: FieldLimits
  readonly #decoder = new HpackDecoder()
  /** Start of a frame that has not arrived completely. */
  #held: Buffer | null = null
  /** True once the preface, or the SETTINGS frame after it, was read. */
  #hasPreface: boolean
  #hasSettings = false
  /** Parts of the header block that is being received, its stream, and whether it ends the request. */
  #block: Buffer[] = []
  #blockStream = 0
  #endsStream = false

  /** @param isServer true if the peer is a client, which begins with the preface. */
  constructor(receiver: FrameReceiver, limits: FieldLimits, isServer: boolean) {
    this.#receiver = receiver
    this.#hasPreface = !isServer
    this.#limits = limits
  }

  /** True while the preface or a head has not arrived completely. */
  get isInHead(): boolean {
    return !this.#hasSettings || this.#block.length > 0 || this.#held?.[3] === FRAME.headers
  }

  /** Bytes held of incomplete frames and heads. */
  get heldBytes(): number {
    let bytes = this.#held?.length ?? 0
    for (const part of this.#block) bytes += part.length
    return bytes
  }

  /** Reads bytes, which are valid only during the call. Returns an error code to end the connection, or NO_ERROR. */
  read(chunk: Buffer): number {
    const bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    let at = 0
    if (!this.#hasPreface) {
      if (!bytes.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, bytes.length))) return ERROR.protocol
      if (bytes.length >= PREFACE.length) {
        this.#hasPreface = true
        at = PREFACE.length
      }
    }
    while (this.#hasPreface && at + HEAD_BYTES <= bytes.length && !this.#receiver.isEnded) {
      const length = bytes.readUIntBE(at, 3)
      if (length > MAX_PAYLOAD) return ERROR.frameSize
      const end = at + HEAD_BYTES + length
      if (end > bytes.length) break
      const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
      const error = this.#take(bytes[at + 3]!, bytes[at + 4]!, stream, bytes.subarray(at + HEAD_BYTES, end))
      if (error !== ERROR.none) return error
      at = end
    }
    this.#held = at === bytes.length ? null : Buffer.from(bytes.subarray(at))
    return ERROR.none
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): number {
    if (!this.#hasSettings && type !== FRAME.settings) return ERROR.protocol
    this.#hasSettings = true
    // Nothing may come between the parts of a header block (RFC 9113 section 6.10).
    if (this.#block.length > 0 !== (type === FRAME.continuation)) return ERROR.protocol
    if (type === FRAME.data) return this.#takeData(flags, stream, payload)
    if (type === FRAME.headers) return this.#takeHeaders(flags, stream, payload)
    if (type === FRAME.continuation) return this.#takeContinuation(flags, stream, payload)
    return this.#takeControl(type, flags, stream, payload)
  }

  /** Handles a frame that carries no part of a message. */
  #takeControl(type: number, flags: number, stream: number, payload: Buffer): number {
    const receiver = this.#receiver
    const length = payload.length
    switch (type) {
      case FRAME.priority:
        return checkPriority(stream, payload)
      case FRAME.reset:
        return length === 4 ? receiver.onReset(stream, payload.readUInt32BE(0)) : ERROR.frameSize
      case FRAME.windowUpdate:
        if (length !== 4) return ERROR.frameSize
        return receiver.onWindowUpdate(stream, payload.readUInt32BE(0) & MAX_WINDOW)
      case FRAME.settings:
        return stream === 0 ? takeSettings(receiver, flags, payload) : ERROR.protocol
      case FRAME.ping:
        if (stream !== 0) return ERROR.protocol
        if (length !== 8) return ERROR.frameSize
        receiver.onPing(payload, (flags & FLAG.ack) !== 0)
        return ERROR.none
      case FRAME.goaway:
        if (stream !== 0) return ERROR.protocol
        return length >= 8 ? receiver.onGoaway(payload.readUInt32BE(0) & 0x7fffffff) : ERROR.frameSize
      case FRAME.pushPromise:
        return ERROR.protocol
    }
    // Unknown types are ignored (RFC 9113 section 4.1).
    return ERROR.none
  }

  #takeData(flags: number, stream: number, payload: Buffer): number {
    const data = unpad(flags, payload)
    if (data === null || stream === 0) return ERROR.protocol
    return this.#receiver.onData(stream, data, payload.length, (flags & FLAG.endStream) !== 0)
  }

  #takeHeaders(flags: number, stream: number, payload: Buffer): number {
    let block = unpad(flags, payload)
    if (block === null || stream === 0) return ERROR.protocol
    if ((flags & FLAG.priority) !== 0) {
      const error = checkPriority(stream, block.subarray(0, 5))
      if (error !== ERROR.none) return error
      block = block.subarray(5)
    }
    this.#blockStream = stream
    this.#endsStream = (flags & FLAG.endStream) !== 0
    if ((flags & FLAG.endHeaders) !== 0) return this.#decode(block)
    this.#block.push(Buffer.from(block))
    return ERROR.none
  }

  #takeContinuation(flags: number, stream: number, payload: Buffer): number {
    if (stream !== this.#blockStream) return ERROR.protocol
    if (this.#block.length > MAX_CONTINUATIONS) return ERROR.enhanceYourCalm
    this.#block.push(Buffer.from(payload))
    if ((flags & FLAG.endHeaders) === 0) return ERROR.none
    const block = Buffer.concat(this.#block)
    this.#block = []
    return this.#decode(block)
  }

  #decode(block: Buffer): number {
    this.heads++
    this.blockBytes = block.length
    const decoder = this.#decoder
    if (!decoder.decode(block, this.#limits)) return ERROR.compression
    return this.#receiver.onFields(this.#blockStream, decoder.fields, this.#endsStream, decoder.isTooLarge)
  }
}

function takeSettings(receiver: FrameReceiver, flags: number, payload: Buffer): number {
  if ((flags & FLAG.ack) !== 0) {
    if (payload.length > 0) return ERROR.frameSize
    receiver.onSettingsAck()
    return ERROR.none
  }
  const settings = readSettings(payload)
  return typeof settings === 'number' ? settings : receiver.onSettings(settings)
}

/** A stream cannot depend on itself. Priorities are ignored otherwise (RFC 9113 section 5.3.2). */
function checkPriority(stream: number, payload: Buffer): number {
  if (payload.length !== 5) return ERROR.frameSize
  return stream === 0 || (payload.readUInt32BE(0) & 0x7fffffff) === stream ? ERROR.protocol : ERROR.none
}

/** Removes the padding of a payload (RFC 9113 section 6.1). Returns null if it is invalid. */
function unpad(flags: number, payload: Buffer): Buffer | null {
  if ((flags & FLAG.padded) === 0) return payload
  if (payload.length === 0 || payload[0]! >= payload.length) return null
  return payload.subarray(1, payload.length - payload[0]!)
}
