const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const SIZE_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }
const RATE_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** The grammar of a duration, for schemas: `250ms`, `5s`, `1m`, `1.5h`, `7d`. */
export const DURATION_PATTERN = '^\\d+(\\.\\d+)?(ms|s|m|h|d)$'
/** The grammar of a size, for schemas: `512b`, `16kb`, `10mb`, `1gb`; units are powers of 1024. */
export const SIZE_PATTERN = '^\\d+(\\.\\d+)?([bB]|[kKmMgG][bB])$'
/** The grammar of a rate, for schemas: `100/s`, `1000/m`. */
export const RATE_PATTERN = '^\\d+(\\.\\d+)?/(s|m|h|d)$'
/** The grammar of a ratio, for schemas: `20%`. */
export const RATIO_PATTERN = '^\\d+(\\.\\d+)?%$'

/** Milliseconds of a duration such as `250ms`. @throws RangeError when the text is not one. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  if (match === null) throw new RangeError(`'${text}' is not a duration; write for example 250ms, 5s or 1m`)
  return Math.round(Number(match[1]) * DURATION_MS[match[2]!]!)
}

/** Bytes of a size such as `16kb`. @throws RangeError when the text is not one. */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/.exec(text.toLowerCase())
  if (match === null) throw new RangeError(`'${text}' is not a size; write for example 16kb, 10mb or 1gb`)
  return Math.round(Number(match[1]) * SIZE_BYTES[match[2]!]!)
}

const SHOWN_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** `3.25 MB` of a number of bytes, for people: at most three digits that say something, units are powers of 1024. */
export function formatSize(bytes: number): string {
  if (!Number.isFinite(bytes)) return '–'
  let value = bytes
  let unit = 0
  // What would be rounded up to 1024 is already one of the next unit.
  while (Math.round(value) >= 1024 && unit < SHOWN_UNITS.length - 1) {
    value /= 1024
    unit++
  }
  const figure =
    value < 100 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en-US')
  return `${figure} ${SHOWN_UNITS[unit]}`
}

/** A rate such as `100/s`: events and the seconds they are counted over. @throws RangeError when the text is not one. */
export function parseRate(text: string): { readonly count: number; readonly seconds: number } {
  const match = /^(\d+(?:\.\d+)?)\/(s|m|h|d)$/.exec(text)
  if (match === null) throw new RangeError(`'${text}' is not a rate; write for example 100/s or 1000/m`)
  return { count: Number(match[1]), seconds: RATE_SECONDS[match[2]!]! }
}

/** A ratio between 0 and 1 from `20%`. @throws RangeError when the text is not one or is above 100%. */
export function parseRatio(text: string): number {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(text)
  const ratio = match === null ? Number.NaN : Number(match[1]) / 100
  if (!(ratio <= 1)) throw new RangeError(`'${text}' is not a ratio; write for example 20%`)
  return ratio
}
