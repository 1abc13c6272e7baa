import { formatSize } from '@sluice/core'
import type { Point } from '../model/summary.js'

/** The limits of memory that contestants had, and how much of them each used at its most; no row where there was none. */
export function memoryRows(points: readonly Point[]): [string, string][] {
  const peaks = new Map<string, Map<string, number>>()
  for (const { tier, contestant, memory } of points) {
    if (memory === undefined) continue
    const size = formatSize(memory.limitBytes)
    const place = tier === null ? size : `${tier} ${size}`
    const known = peaks.get(place) ?? new Map<string, number>()
    known.set(contestant, Math.max(known.get(contestant) ?? 0, memory.peakBytes ?? 0))
    peaks.set(place, known)
  }
  if (peaks.size === 0) return []
  return [
    ['Memory of each contestant', [...peaks].map(([place, known]) => placeText(place, known)).join('; ')],
  ]
}

function placeText(place: string, peaks: ReadonlyMap<string, number>): string {
  const used = [...peaks]
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${formatSize(bytes)}`)
  return used.length === 0 ? place : `${place} (used at most: ${used.join(', ')})`
}
