import { visibleText } from '@sluice/core/visible-text'

/** A table cell; columns of numbers are right-aligned. */
export type Cell = string | number

const GAP = 2
/** Minimum width of a column when it is cut, in characters. */
const MIN_WIDTH = 8

/**
 * Formats rows as columns with headings. If the table is wider than `maxWidth`, the widest columns are cut
 * and end in "…".
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  maxWidth = Number.POSITIVE_INFINITY,
): string[] {
  const texts = rows.map((row) => row.map((cell) => visibleText(String(cell))))
  const widths = fitted(naturalWidths(headings, texts), maxWidth)
  const isNumeric = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => padded(cell, widths[i]!, isNumeric[i] === true))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [line(headings), ...texts.map(line)]
}

function naturalWidths(headings: readonly string[], texts: readonly (readonly string[])[]): number[] {
  return headings.map((heading, i) =>
    texts.reduce((widest, row) => Math.max(widest, lengthOf(row[i] ?? '')), lengthOf(heading)),
  )
}

function fitted(widths: readonly number[], maxWidth: number): number[] {
  const fit = [...widths]
  const gaps = GAP * (fit.length - 1)
  let surplus = fit.reduce((sum, width) => sum + width, gaps) - maxWidth
  while (surplus > 0) {
    const widest = fit.indexOf(Math.max(...fit))
    if (fit[widest]! <= MIN_WIDTH) return fit
    fit[widest]!--
    surplus--
  }
  return fit
}

function padded(text: string, width: number, isNumeric: boolean): string {
  const space = width - lengthOf(text)
  if (space < 0) return `${[...text].slice(0, width - 1).join('')}…`
  return isNumeric ? ' '.repeat(space) + text : text + ' '.repeat(space)
}

/** Returns the length in characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length
}
