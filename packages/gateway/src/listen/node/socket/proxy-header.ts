import { isIpAddress } from '@sluice/core'
import { addressText, canonicalAddress } from '../../peer-address.js'

/** A parsed header of the PROXY protocol. */
export interface ProxyHeader {
  /** Length of the header in bytes. The client's data follows it. */
  readonly length: number
  /** Client address, or empty if the proxy speaks for itself, as in a health check. */
  readonly address: string
  readonly port: number
}

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const MAX_V1_BYTES = 107
/** Maximum size including extensions, which are ignored. */
const MAX_V2_BYTES = 4096
const V2_HEAD_BYTES = 16
const LOCAL = 0x20
const PROXY = 0x21
const TCP4 = 0x11
const TCP6 = 0x21

/**
 * Parses a header of the PROXY protocol, version 1 or 2 (HAProxy's proxy-protocol.txt). Returns null if it is
 * incomplete.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | null | 'broken' {
  const isV2 = bytes[0] === SIGNATURE[0]
  if (!isV2) return readText(bytes)
  const known = Math.min(bytes.length, SIGNATURE.length)
  if (SIGNATURE.compare(bytes, 0, known, 0, known) !== 0) return 'broken'
  return bytes.length < V2_HEAD_BYTES ? null : readBinary(bytes)
}

/** Parses version 1: `PROXY TCP4 192.0.2.1 192.0.2.2 4711 80` or `PROXY UNKNOWN …`, up to the line end. */
function readText(bytes: Buffer): ProxyHeader | null | 'broken' {
  const text = bytes.toString('latin1', 0, MAX_V1_BYTES)
  if (!text.startsWith('PROXY '.slice(0, text.length))) return 'broken'
  const end = text.indexOf('\r\n')
  if (end < 0) return bytes.length < MAX_V1_BYTES ? null : 'broken'
  const line = text.slice(0, end)
  const length = end + 2
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { length, address: '', port: 0 }
  const [, family, address = '', target = '', port] =
    /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) \d{1,5}$/.exec(line) ?? []
  const isSound = [address, target].every(
    (each) => isIpAddress(each) && each.includes(':') === (family === '6'),
  )
  if (!isSound || Number(port) > 65_535) return 'broken'
  return { length, address: canonicalAddress(address), port: Number(port) }
}

function readBinary(bytes: Buffer): ProxyHeader | null | 'broken' {
  const length = V2_HEAD_BYTES + bytes.readUInt16BE(14)
  const [command, family] = [bytes[12], bytes[13]]
  if (length > MAX_V2_BYTES || (command !== LOCAL && command !== PROXY)) return 'broken'
  if (bytes.length < length) return null
  const size = family === TCP4 ? 4 : 16
  if (command === LOCAL || (family !== TCP4 && family !== TCP6)) return { length, address: '', port: 0 }
  if (length < V2_HEAD_BYTES + 2 * size + 4) return 'broken'
  const address = new Uint8Array(bytes.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + size))
  return { length, address: addressText(address.buffer), port: bytes.readUInt16BE(V2_HEAD_BYTES + 2 * size) }
}
