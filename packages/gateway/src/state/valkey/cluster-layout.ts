import { isIP } from 'node:net'

/** Number of slots of a cluster, by its specification. */
export const SLOTS = 16_384
/** Maximum number of primaries. Each costs a worker a connection. */
const MAX_PRIMARIES = 128
/** Matches a host name or an IPv4 address. */
const HOST = /^[A-Za-z0-9_]([A-Za-z0-9._-]{0,252})$/

/** Slots of one primary: first and last slot, and its host and port. */
export interface SlotRange {
  readonly from: number
  readonly to: number
  readonly address: string
}

/** Redirect of a node: another node has the slot (`MOVED`), or is taking it over (`ASK`). */
export interface Redirect {
  readonly kind: 'MOVED' | 'ASK'
  readonly slot: number
  readonly address: string
}

/**
 * Parses the answer to CLUSTER SLOTS.
 * @param asked host and port of the node that answered; a node without a host has the same host.
 * @throws Error if the answer is invalid.
 */
export function readLayout(answer: unknown, asked: string): SlotRange[] {
  if (!Array.isArray(answer)) throw new Error('sent an invalid answer')
  if (answer.length === 0) throw new Error('has no slots')
  if (answer.length > SLOTS) throw new Error('sent an invalid answer')
  const ranges = answer.map((entry: unknown) => readRange(entry, asked))
  const primaries = new Set(ranges.map(({ address }) => address))
  if (primaries.size > MAX_PRIMARIES) throw new Error(`lists more than ${MAX_PRIMARIES} primaries`)
  return ranges
}

/** Parses a redirect; null if the error is not a valid one. */
export function readRedirect(words: string, asked: string): Redirect | null {
  const match = /^(MOVED|ASK) (\d{1,5}) (\S*):(\d{1,5})$/.exec(words)
  if (match === null) return null
  const address = addressOf(match[3]!, Number(match[4]), asked)
  return address === null ? null : { kind: match[1] as Redirect['kind'], slot: Number(match[2]), address }
}

function readRange(entry: unknown, asked: string): SlotRange {
  const [from, to, primary] = Array.isArray(entry) ? (entry as unknown[]) : []
  if (!isSlot(from) || !isSlot(to) || from > to || !Array.isArray(primary))
    throw new Error('sent an invalid answer')
  const [host, port] = primary as unknown[]
  const name = host === null ? '' : Buffer.isBuffer(host) ? host.toString('latin1') : '?'
  const address = addressOf(name, port, asked)
  if (address === null) throw new Error('lists a node without an address')
  return { from, to, address }
}

function isSlot(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SLOTS
}

/** Returns the address as in a URL; null if it is invalid. */
function addressOf(host: string, port: unknown, asked: string): string | null {
  if (typeof port !== 'number' || !(port > 0 && port < 65_536)) return null
  if (host === '') return `${asked.replace(/:\d+$/, '')}:${port}`
  if (isIP(host) === 6) return `[${host}]:${port}`
  return HOST.test(host) ? `${host.toLowerCase()}:${port}` : null
}
