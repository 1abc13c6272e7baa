import { readIpv6 } from '@sluice/core'

/** Maximum number of cached address strings. A full cache is cleared. */
const MAX_CACHED = 4096

const v4Texts = new Map<number, string>()

/** Formats the binary address from uWS: 4 bytes, or 16 for IPv6 (RFC 5952 form; IPv4-mapped as IPv4). */
export function addressText(binary: ArrayBuffer): string {
  const bytes = new Uint8Array(binary)
  if (bytes.length === 4) return v4Text(bytes, 0)
  if (bytes.length !== 16) return ''
  return isMapped(bytes) ? v4Text(bytes, 12) : v6Text(bytes)
}

/** Returns an address in the form of `addressText`, so that limits and bans apply however a proxy spells it. */
export function canonicalAddress(text: string): string {
  if (!text.includes(':')) return text
  const words = new Uint32Array(4)
  if (!readIpv6(text, words)) return text
  const binary = new DataView(new ArrayBuffer(16))
  for (const [i, word] of words.entries()) binary.setUint32(4 * i, word)
  return addressText(binary.buffer)
}

function v4Text(bytes: Uint8Array, at: number): string {
  const key = ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
  const known = v4Texts.get(key)
  if (known !== undefined) return known
  if (v4Texts.size >= MAX_CACHED) v4Texts.clear()
  const text = `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`
  v4Texts.set(key, text)
  return text
}

function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}

function v6Text(bytes: Uint8Array): string {
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16))
  const [start, length] = longestZeroRun(groups)
  if (length < 2) return groups.join(':')
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`
}

function longestZeroRun(groups: readonly string[]): readonly [number, number] {
  let best: readonly [number, number] = [0, 0]
  let start = 0
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === '0') continue
    if (i - start > best[1]) best = [start, i - start]
    start = i + 1
  }
  return best
}
