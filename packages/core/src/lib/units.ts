const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const SIZE_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }
const RATE_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Pattern of durations for schemas, such as `250ms`, `5s`, `1m`, `1.5h` or `7d`. */
export const DURATION_PATTERN = '^\\d+(\\.\\d+)?(ms|s|m|h|d)$'
/** Pattern of sizes for schemas, such as `512b`, `16kb`, `10mb` or `1gb`. Units are powers of 1024. */
export const SIZE_PATTERN = '^\\d+(\\.\\d+)?([bB]|[kKmMgG][bB])$'
/** Pattern of rates for schemas, such as `100/s` or `1000/m`. */
export const RATE_PATTERN = '^\\d+(\\.\\d+)?/(s|m|h|d)$'
/** Pattern of percentages for schemas, such as `20%`. */
export const RATIO_PATTERN = '^\\d+(\\.\\d+)?%$'

/** Parses a duration such as `250ms` to milliseconds. @throws RangeError if the text is invalid. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  if (match === null) throw new RangeError(`'${text}' is not a duration; use for example 250ms, 5s or 1m`)
  return Math.round(Number(match[1]) * DURATION_MS[match[2]!]!)
}

/** Parses a size such as `16kb` to bytes. @throws RangeError if the text is invalid. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/.exec(text.toLowerCase())
  if (match === null) throw new RangeError(`'${text}' is not a size; use for example 16kb, 10mb or 1gb`)
  return Math.round(Number(match[1]) * SIZE_BYTES[match[2]!]!)
}

const SHOWN_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/**
 * Formats a number of bytes for users, such as `3.25 MB`, with up to three significant digits. Units are
 * powers of 1024.
 */
export function formatSize(bytes: number): string {
  if (!Number.isFinite(bytes)) return '–'
  let value = bytes
  let unit = 0
  // A value that rounds to 1024 is shown in the next unit.
  while (Math.round(value) >= 1024 && unit < SHOWN_UNITS.length - 1) {
    value /= 1024
    unit++
  }
  const figure =
    value < 100 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en-US')
  return `${figure} ${SHOWN_UNITS[unit]}`
}

/**
 * Parses a rate such as `100/s` to a count and a period in seconds. @throws RangeError if the text is
 * invalid.
 */
export function parseRate(text: string): { readonly count: number; readonly seconds: number } {
  const match = /^(\d+(?:\.\d+)?)\/(s|m|h|d)$/.exec(text)
  if (match === null) throw new RangeError(`'${text}' is not a rate; use for example 100/s or 1000/m`)
  return { count: Number(match[1]), seconds: RATE_SECONDS[match[2]!]! }
}

/**
 * Parses a percentage such as `20%` to a ratio from 0 to 1. @throws RangeError if the text is invalid or
 * above 100%.
 */
export function parseRatio(text: string): number {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(text)
  const ratio = match === null ? Number.NaN : Number(match[1]) / 100
  if (!(ratio <= 1))
    throw new RangeError(`'${text}' is not a percentage from 0% to 100%; use for example 20%`)
  return ratio
}
