import { readFileSync } from 'node:fs'
import { addressText } from '../peer-address.js'

const TABLES = ['tcp', 'tcp6']
/** States in /proc/net/tcp: established, or closed only by the client. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08'])

/**
 * Counts the open connections at a local port by client, for all processes. Returns an empty map if the system has no
 * such table or no free descriptor.
 * @param clientOf returns the client that an address belongs to.
 */
export function connectionsByClient(
  port: number,
  clientOf: (address: string) => string,
): Map<string, number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const counts = new Map<string, number>()
  for (const line of TABLES.flatMap(linesOf)) {
    const [, local = '', remote = '', state = ''] = line.trim().split(/\s+/)
    if (!local.endsWith(suffix) || !OPEN_STATES.has(state)) continue
    const client = clientOf(remoteAddress(remote))
    counts.set(client, (counts.get(client) ?? 0) + 1)
  }
  return counts
}

function linesOf(table: string): string[] {
  try {
    return readFileSync(`/proc/self/net/${table}`, 'latin1').split('\n').slice(1)
  } catch {
    return []
  }
}

/** Decodes an address: 32-bit words in the byte order of this machine, which is little-endian wherever uWS runs. */
function remoteAddress(column: string): string {
  const bytes = Buffer.from(column.slice(0, column.indexOf(':')), 'hex').swap32()
  return addressText(new Uint8Array(bytes).buffer)
}
