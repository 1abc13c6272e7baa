/** Lays rows out in columns under their headings; numbers of a column stand to the right. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const texts = rows.map((row) => row.map(String))
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...texts.map((row) => row[i]?.length ?? 0)),
  )
  const isNumeric = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (isNumeric[i] === true ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [line(headings), ...texts.map(line)]
}

/** `3.2 MB` of a number of bytes. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KB', 'MB', 'GB', 'TB']
  let value = bytes / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toFixed(1)} ${units[unit]}`
}

/** `2h 13m` of a duration in milliseconds. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`
}
