/** Format of a time. */
export type TimeFormat = 'unix' | 'unix-ms' | 'iso'

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** Returns milliseconds since 1970, or null if the text does not have this format. */
export function parseTime(text: string, format: TimeFormat): number | null {
  if (format === 'iso') {
    const ms = ISO.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(ms) ? null : ms
  }
  if (!/^\d{1,15}$/.test(text)) return null
  return format === 'unix' ? Number(text) * 1000 : Number(text)
}

/** Formats a time. @param ms milliseconds since 1970. */
export function writeTime(ms: number, format: TimeFormat): string {
  if (format === 'iso') return new Date(ms).toISOString()
  return String(Math.floor(format === 'unix' ? ms / 1000 : ms))
}
