import { visibleText } from '@sluice/core/visible-text'

/** A table cell; columns of numbers are right-aligned. */
export type Cell = string | number

/** A column that is more or less important than others. A plain string is a column that may be cut. */
export interface Column {
  readonly name: string
  /** Order in which columns are left out of a narrow table, from 1. Without it, the column is cut last. */
  readonly leaveOut?: number
}

/** A heading, which also says how the column behaves in a narrow table. The first column is always cut last. */
export type Heading = string | Column

/** Formatted lines of a table, and the headings of columns for which it had no space. */
export interface Table {
  readonly lines: readonly string[]
  readonly leftOut: readonly string[]
}

const GAP = 2
/** Minimum width of a column when it is cut, in characters. */
const MIN_WIDTH = 8

/** Returns a column that is cut last, such as one of ids or URLs. */
export function kept(name: string): Column {
  return { name }
}

/** Returns a column that a narrow table leaves out. @param order columns with lower numbers go first */
export function minor(name: string, order: number): Column {
  return { name, leaveOut: order }
}

/** Formats rows as columns with headings, without limit. */
export function tableLines(
  headings: readonly Heading[],
  rows: readonly (readonly Cell[])[],
  maxWidth = Number.POSITIVE_INFINITY,
): string[] {
  return [...fittedTable(headings, rows, maxWidth).lines]
}

/**
 * Formats rows as columns with headings. A table wider than `maxWidth` first gets its texts cut, ending in "…". Then
 * minor columns are left out, and finally ids and URLs are cut.
 */
export function fittedTable(
  headings: readonly Heading[],
  rows: readonly (readonly Cell[])[],
  maxWidth: number,
): Table {
  const names = headings.map((heading) => (typeof heading === 'string' ? heading : heading.name))
  const texts = rows.map((row) => row.map((cell) => visibleText(String(cell))))
  const natural = naturalWidths(names, texts)
  const leastOf = (i: number): number =>
    i === 0 || typeof headings[i] === 'object' ? natural[i]! : Math.max(MIN_WIDTH, lengthOf(names[i]!))
  const minors = headings.map((_, i) => i).filter((i) => orderOf(headings[i]!) !== null)
  minors.sort((a, b) => orderOf(headings[a]!)! - orderOf(headings[b]!)!)
  let shown = headings.map((_, i) => i)
  let widths = shrunk(natural, shown, { maxWidth, leastOf })
  for (const left of minors) {
    if (widthOf(widths, shown) <= maxWidth) break
    shown = shown.filter((i) => i !== left)
    widths = shrunk(natural, shown, { maxWidth, leastOf })
  }
  widths = shrunk(widths, shown, { maxWidth, leastOf: () => MIN_WIDTH })
  const isNumeric = names.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'))
  const line = (cells: readonly string[]): string =>
    shown
      .map((i) => padded(cells[i] ?? '', widths[i]!, isNumeric[i] === true))
      .join(' '.repeat(GAP))
      .trimEnd()
  return {
    lines: [line(names), ...texts.map(line)],
    leftOut: names.filter((_, i) => !shown.includes(i)),
  }
}

function orderOf(heading: Heading): number | null {
  return typeof heading === 'string' ? null : (heading.leaveOut ?? null)
}

function naturalWidths(headings: readonly string[], texts: readonly (readonly string[])[]): number[] {
  return headings.map((heading, i) =>
    texts.reduce((widest, row) => Math.max(widest, lengthOf(row[i] ?? '')), lengthOf(heading)),
  )
}

interface Limits {
  readonly maxWidth: number
  readonly leastOf: (column: number) => number
}

/** Returns widths with the widest columns reduced until the table fits, or until no column can be reduced. */
function shrunk(
  widths: readonly number[],
  shown: readonly number[],
  { maxWidth, leastOf }: Limits,
): number[] {
  const fit = [...widths]
  for (let surplus = widthOf(fit, shown) - maxWidth; surplus > 0; surplus--) {
    const reducible = shown.filter((i) => fit[i]! > leastOf(i))
    if (reducible.length === 0) return fit
    const widest = reducible.reduce((most, i) => (fit[i]! > fit[most]! ? i : most))
    fit[widest]!--
  }
  return fit
}

function widthOf(widths: readonly number[], shown: readonly number[]): number {
  return shown.reduce((sum, i) => sum + widths[i]!, GAP * (shown.length - 1))
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
