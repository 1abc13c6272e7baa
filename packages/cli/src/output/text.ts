/** Formats an elapsed time in milliseconds with its two largest units, such as `2h 13m`. */
export function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** Formats a duration setting in milliseconds, such as `1.5s`; `none` for 0. */
export function durationText(ms: number): string {
  if (ms === 0) return 'none'
  if (ms % 60_000 === 0) return `${ms / 60_000}m`
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`
}

/** Formats a count, such as `1 route` or `2 routes`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns the first digits of a digest. */
export function shortDigest(digest: string | null): string {
  return digest === null ? '-' : digest.slice(0, 12)
}
