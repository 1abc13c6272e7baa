import { createHash } from 'node:crypto'

const MEASURED_MS = 1000
/** Rounds between two looks at the clock. */
const BATCH = 20
const TEXT = JSON.stringify(
  Array.from({ length: 20 }, (_, i) => ({ id: i, name: `record ${i}`, price: i * 1.25 })),
)

/**
 * Thousands of rounds a second of a fixed piece of work on one core: parsing, strings and a digest, as a gateway mixes
 * them. The work never changes, since runs of other machines are normalised by it.
 */
export function cpuScore(): number {
  spin(MEASURED_MS / 4)
  return Math.round(spin(MEASURED_MS) * 100) / 100
}

/** Rounds a millisecond, which are thousands a second. */
function spin(forMs: number): number {
  const startMono = performance.now()
  let rounds = 0
  let elapsedMs = 0
  while (elapsedMs < forMs) {
    for (let i = 0; i < BATCH; i++) round()
    rounds += BATCH
    elapsedMs = performance.now() - startMono
  }
  return rounds / elapsedMs
}

function round(): string {
  const records = JSON.parse(TEXT) as { readonly name: string }[]
  const names = records.map(({ name }) => name.toUpperCase()).join('&')
  return createHash('sha256').update(names).digest('hex')
}
